package hub

import (
	"context"
	"time"

	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

// leaseEnd is how long a reader has messages before they are given to others again.
const leaseEnd = 30 * time.Second

// Lease takes messages to a name that no wrapper has, most at most: they are for the caller alone
// until it acknowledges them, or does not within half a minute.
func (h *Hub) Lease(ctx context.Context, name string, most int) (list []router.Known) {
	lost := h.step(ctx, func() error {
		for _, m := range h.state.Inbox(name) {
			if len(list) < most && m.Status == router.StatusAccepted && m.Held == 0 && !h.claimed[m.ID] && !h.leased[m.ID] {
				h.leased[m.ID] = true
				list = append(list, m)
			}
		}
		return nil
	})
	if lost != nil {
		h.giveBack(list)
		return nil
	}
	if len(list) > 0 {
		time.AfterFunc(leaseEnd, func() { h.giveBack(list) })
	}
	return list
}

func (h *Hub) giveBack(list []router.Known) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, m := range list {
		if h.leased[m.ID] {
			h.leased[m.ID] = false
			h.wakeFor(m.To)
		}
	}
	h.wake()
}

// Acknowledge says that the reader of a name has these messages now. It may take its time: what it
// was given counts as read after the lease, too, or an agent that thinks for longer would be given
// the same again and again. Passed over is what it was not given by this router, what has ended,
// and what is on its way to a wrapper by now.
func (h *Hub) Acknowledge(ctx context.Context, name string, ids []string) error {
	return h.step(ctx, func() error {
		for _, id := range ids {
			m, ok := h.state.Find(id)
			_, given := h.leased[m.ID]
			if !ok || !given || m.To != name || h.claimed[m.ID] || router.Ended(m.Status) {
				continue
			}
			if err := h.append(m.Outcome(router.Result{Status: protocol.StatusDelivered, Evidence: protocol.EvidencePulled})); err != nil {
				return err
			}
		}
		return nil
	})
}
