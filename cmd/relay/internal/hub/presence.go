package hub

import (
	"context"
	"errors"
	"time"

	"relay-pty/cmd/relay/internal/router"
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

// meetWait is how long a wrapper that has announced itself may take to be known to us, which needs
// milliseconds.
const meetWait = 5 * time.Second

// Meets waits for an agent that is not known yet and has announced itself, and reports whether the
// agent is known then. Whoever asks for one that was just started may be faster than the news.
func (h *Hub) Meets(ctx context.Context, name string) bool {
	ctx, cancel := context.WithTimeout(ctx, meetWait)
	defer cancel()
	for asked := false; ; asked = true {
		h.mu.Lock()
		agent, known := h.state.Agent(name)
		met, changed := known && agent.Wrapped, h.changed
		h.mu.Unlock()
		if met || h.Announced == nil || !asked && !h.Announced(name) {
			return met
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// isUnknown reports whether err says that nobody has a name.
func isUnknown(err error) bool {
	var refused *router.ErrorValue
	return errors.As(err, &refused) && refused.Code == router.UnknownAgent
}
