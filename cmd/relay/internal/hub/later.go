package hub

import (
	"context"
	"time"

	"relay-pty/cmd/relay/internal/router"
)

// What a wrapper has to tell of the time without a router comes at once, event after event: when
// none has come for that long which is older than fresh, all of it is known.
const (
	backlog = 3 * time.Second
	fresh   = time.Second
)

// Remind sets a reminder, which is in the log then. Where it was set before, it returns what became
// of it. Refusals are *router.ErrorValue.
func (h *Hub) Remind(ctx context.Context, r router.Reminder) (router.Known, error) {
	h.writing.Lock()
	defer h.writing.Unlock()
	if r.ID == "" {
		r.ID = h.freshID()
	}
	h.mu.Lock()
	e, known, err := h.state.Remind(r, time.Now().UnixMilli())
	h.mu.Unlock()
	switch {
	case err != nil:
		return router.Known{}, err
	case known != nil:
		return *known, nil
	}
	if err := h.append(ctx, e); err != nil {
		return router.Known{}, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	set, _ := h.state.Find(r.ID) // it was applied
	return set, nil
}

// sendDue accepts the messages whose time has come. One event does it, so that no crash comes in
// between.
func (h *Hub) sendDue(ctx context.Context) (next int64, err error) {
	h.writing.Lock()
	defer h.writing.Unlock()
	now := time.Now().UnixMilli()
	h.mu.Lock()
	due, next := h.state.Due(now, h.hearsLocked)
	h.mu.Unlock()
	for _, m := range due {
		if err := h.append(ctx, router.Event{Type: router.TypeMessage, Timestamp: now, Message: m}); err != nil {
			return 0, err
		}
	}
	return next, nil
}

// noteLate notes that a wrapper tells of the past. It is for the owner of mu.
func (h *Hub) noteLate(e router.Event) {
	if now := time.Now(); e.Origin != nil && now.Sub(time.UnixMilli(e.Timestamp)) > fresh {
		h.late[e.Agent] = now
	}
}

// hearsLocked reports whether an agent's wrapper may still be telling of the past.
func (h *Hub) hearsLocked(agent string) bool {
	last := h.began
	if at := h.late[agent]; at.After(last) {
		last = at
	}
	return time.Since(last) < backlog
}
