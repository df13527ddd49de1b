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
func (h *Hub) Remind(ctx context.Context, m router.Message, delayMS int64) (set router.Known, err error) {
	err = h.step(ctx, func() error {
		if m.ID == "" {
			m.ID = h.state.Fresh(h.newID)
		}
		e, known, err := h.state.Remind(m, delayMS, time.Now().UnixMilli())
		if known != nil {
			set = *known
		}
		if err != nil || known != nil {
			return err
		}
		err = h.append(e)
		set, _ = h.state.Find(m.ID) // where it was applied
		return err
	})
	return set, err
}

// sendDue accepts the messages whose time has come. One event does it, so that no crash comes in
// between.
func (h *Hub) sendDue() (next int64, err error) {
	now := time.Now().UnixMilli()
	due, next := h.state.Due(now, h.hearsLocked)
	for _, m := range due {
		if err := h.append(router.Event{Type: router.TypeMessage, Timestamp: now, Message: m}); err != nil {
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
