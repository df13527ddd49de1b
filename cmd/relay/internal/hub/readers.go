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
	var ids []string // all that is kept of them while the lease lasts
	lost := h.step(ctx, func() error {
		for m := range h.state.Inbox(name) {
			if len(list) == most {
				break
			}
			if m.Status == router.StatusAccepted && m.Held == 0 && !h.claimed[m.ID] && !h.leased[m.ID] {
				h.leased[m.ID] = true
				list, ids = append(list, m.Copy()), append(ids, m.ID)
			}
		}
		return nil
	})
	if lost != nil {
		h.giveBack(name, ids)
		return nil
	}
	if len(list) > 0 {
		time.AfterFunc(leaseEnd, func() { h.giveBack(name, ids) })
	}
	return list
}

func (h *Hub) giveBack(name string, ids []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, id := range ids {
		if h.leased[id] {
			h.leased[id] = false
			h.wakeFor(name)
			h.wake() // its own time may be over by now
		}
	}
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
