package hub

import (
	"context"
	"time"

	"relay-pty/cmd/relay/internal/router"
)

// Redeliver sends a message again that did not arrive, or may not have, and returns the new one.
// Refusals are *router.ErrorValue.
func (h *Hub) Redeliver(ctx context.Context, id string) (router.Known, error) {
	h.writing.Lock()
	defer h.writing.Unlock()
	now := time.Now().UnixMilli()
	h.mu.Lock()
	m, err := h.state.Redelivery(id, now)
	h.mu.Unlock()
	if err != nil {
		return router.Known{}, err
	}
	if err := h.append(ctx, router.Event{Type: router.TypeMessage, Timestamp: now, Message: m}); err != nil {
		return router.Known{}, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	sent, _ := h.state.Find(m.ID) // it was applied
	return sent, nil
}
