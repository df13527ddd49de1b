package hub

import (
	"context"
	"time"

	"relay-pty/cmd/relay/internal/router"
)

// deadline is when a pause ends, on a clock that no jump of the time of day moves.
type deadline struct {
	pause router.Pause
	at    time.Time
}

// Pause puts into the log that nothing is typed into an agent for so long, or until Resume where
// that is 0. by is the agent that wants so, "" a person.
func (h *Hub) Pause(ctx context.Context, name, by string, d time.Duration) error {
	return h.step(ctx, func() error {
		now := time.Now()
		e := router.Event{Type: router.TypePaused, Agent: name, Timestamp: now.UnixMilli()}
		e.From = by
		if d > 0 {
			e.Until = max(now.Add(d).UnixMilli(), e.Timestamp+1)
		}
		return h.append(e)
	})
}

// Resume puts into the log that a pause is over; without one it does nothing.
func (h *Hub) Resume(ctx context.Context, name string) error {
	return h.step(ctx, func() error {
		if a, _ := h.state.Agent(name); !a.Pause.On {
			return nil
		}
		return h.append(router.Event{Type: router.TypeResumed, Agent: name})
	})
}

// Paused returns an agent's pause, and how long it still lasts; 0: without end, or there is none.
func (h *Hub) Paused(name string) (p router.Pause, rest time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	a, _ := h.state.Agent(name)
	return a.Pause, h.restLocked(name, a.Pause)
}

// restLocked is how long a pause that has an end lasts; a moment, when it is over. Where a router
// takes over a pause, a clock that has gone back makes it no longer than it was to be.
func (h *Hub) restLocked(name string, p router.Pause) time.Duration {
	if !p.On || p.Until == 0 {
		delete(h.pauses, name)
		return 0
	}
	d, known := h.pauses[name]
	if !known || d.pause != p {
		now := time.Now()
		left := min(p.Until-now.UnixMilli(), p.Until-p.At)
		d = deadline{p, now.Add(time.Duration(left) * time.Millisecond)}
		h.pauses[name] = d
	}
	return max(time.Until(d.at), 1)
}

// endPauses ends those whose time is over.
func (h *Hub) endPauses() (next int64, err error) {
	var over []string
	for _, a := range h.state.Agents() {
		switch rest := h.restLocked(a.Name, a.Pause); {
		case rest == 1:
			over = append(over, a.Name)
		case rest > 0:
			next = router.Sooner(next, time.Now().Add(rest+time.Millisecond-1).UnixMilli())
		}
	}
	for _, name := range over {
		e := router.Event{Type: router.TypeResumed, Agent: name}
		e.Reason = router.ReasonOver
		if err := h.append(e); err != nil {
			return 0, err
		}
	}
	return next, nil
}
