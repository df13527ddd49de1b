package hub

import (
	"context"
	"time"

	"relay-pty/cmd/relay/internal/router"
)

// Redeliver sends a message again that did not arrive, or may not have, and returns the new one.
// Refusals are *router.ErrorValue.
func (h *Hub) Redeliver(ctx context.Context, id string) (sent router.Known, err error) {
	err = h.step(ctx, func() error {
		now := time.Now().UnixMilli()
		m, err := h.state.Redelivery(id, now)
		if err == nil {
			err = h.append(router.Event{Type: router.TypeMessage, Timestamp: now, Message: m})
		}
		sent, _ = h.state.Find(m.ID) // where it was applied
		return err
	})
	return sent, err
}
