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
func (h *Hub) Lease(name string, most int) (list []router.Known) {
	h.writing.Lock() // not while they are being ended
	defer h.writing.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, m := range h.state.Inbox(name) {
		if len(list) < most && m.Status == router.StatusAccepted && !h.claimed[m.ID] && !h.leased[m.ID] {
			h.leased[m.ID] = true
			list = append(list, m)
		}
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
		delete(h.leased, m.ID)
	}
	h.wake()
}

// Acknowledge says that the reader of a name has these messages now. Those that it has not leased
// are passed over: they ended, or its lease did.
func (h *Hub) Acknowledge(ctx context.Context, name string, ids []string) error {
	h.writing.Lock()
	defer h.writing.Unlock()
	for _, id := range ids {
		h.mu.Lock()
		m, ok := h.state.Find(id)
		ok = ok && m.To == name && h.leased[id] && !router.Ended(m.Status)
		h.mu.Unlock()
		if !ok {
			continue
		}
		if err := h.append(ctx, ending(m, protocol.StatusDelivered, protocol.EvidencePulled)); err != nil {
			return err
		}
	}
	return nil
}
