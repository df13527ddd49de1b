package hub

import (
	"context"
	"time"
)

// tellPresence puts into the log who has come and gone for good. Before it is known who runs,
// nobody has gone.
func (h *Hub) tellPresence() (next int64, err error) {
	if !h.looked {
		return 0, nil
	}
	due, next := h.state.Presence(time.Now().UnixMilli())
	for _, e := range due {
		if err := h.append(e); err != nil {
			return 0, err
		}
	}
	return next, nil
}

// Looked waits until it is known who runs, or ctx ends. A log that is full keeps nobody waiting:
// those who were found by then are told, and only that is not written down yet.
func (h *Hub) Looked(ctx context.Context) {
	for {
		h.mu.Lock()
		looked, changed := h.looked, h.changed
		h.mu.Unlock()
		if looked || h.full.Load() {
			return
		}
		select {
		case <-changed:
		case <-time.After(roomAgain): // nobody is woken by what was not written
		case <-ctx.Done():
			return
		}
	}
}
