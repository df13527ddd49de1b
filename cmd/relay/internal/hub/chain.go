package hub

import (
	"context"

	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

// Chain lets the chain of a message go on, as far again as it may, or ends it: nothing more of it
// goes on then, and rest are the messages that are to be cancelled. as is the agent that asks, ""
// a person. first is the message that began the chain, news whether anything has changed. Refusals
// are *router.ErrorValue.
func (h *Hub) Chain(ctx context.Context, id, as string, on bool) (first router.Known, rest []string, news bool, err error) {
	err = h.step(ctx, func() error {
		if first, rest, err = h.state.Chain(id, as); err != nil {
			return err
		}
		var e router.Event
		if e, news, err = h.state.Steers(first, on); news && err == nil {
			err = h.append(e)
		}
		return err
	})
	return first, rest, news, err
}

// pauseChains pauses those that may go no further, and cancels what comes of those that were ended.
func (h *Hub) pauseChains() (int64, error) {
	for _, e := range h.state.Overrun() {
		if e.Status == protocol.StatusCancelled && (h.claimed[e.ID] || h.leased[e.ID]) {
			continue
		}
		if err := h.append(e); err != nil {
			return 0, err
		}
	}
	return 0, nil
}
