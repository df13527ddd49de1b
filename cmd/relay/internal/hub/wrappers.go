package hub

import (
	"context"

	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol/registry"
)

// Up says that wrappers run, and puts those that are news into the log, one by one. All are known
// to run before the first is written: a full log may keep that waiting.
func (h *Hub) Up(ctx context.Context, list ...registry.Record) error {
	h.mu.Lock()
	for _, r := range list {
		h.running[r.Name]++
	}
	h.mu.Unlock()
	for _, r := range list {
		if err := h.patiently(ctx, func() error { return h.noteUp(ctx, r) }); err != nil {
			return err
		}
	}
	return nil
}

func (h *Hub) noteUp(ctx context.Context, r registry.Record) error {
	return h.step(ctx, func() error {
		if was, _ := h.state.Agent(r.Name); was.Running && was.PID == r.PID && was.Profile == r.Agent {
			return nil
		}
		return h.append(up(r))
	})
}

// Known says what wrappers are that run, and puts into the log which of them have turned out to
// run an agent of another kind.
func (h *Hub) Known(ctx context.Context, list ...registry.Record) error {
	for _, r := range list {
		if err := h.patiently(ctx, func() error { return h.noteKind(ctx, r) }); err != nil {
			return err
		}
	}
	return nil
}

func (h *Hub) noteKind(ctx context.Context, r registry.Record) error {
	return h.step(ctx, func() error {
		if was, _ := h.state.Agent(r.Name); !was.Running || was.PID != r.PID || was.Profile == r.Agent {
			return nil
		}
		return h.append(up(r))
	})
}

func up(r registry.Record) router.Event {
	e := router.Event{Type: router.TypeUp, Agent: r.Name}
	e.Profile, e.PID, e.StartedAt = r.Agent, r.PID, r.StartedAt
	return e
}

// Down says that a wrapper no longer runs, and whether it took its listing back.
func (h *Hub) Down(ctx context.Context, name string, retired bool) error {
	h.mu.Lock()
	if h.running[name]--; h.running[name] <= 0 {
		delete(h.running, name)
	}
	h.mu.Unlock()
	return h.patiently(ctx, func() error { return h.noteDown(ctx, name, retired) })
}

func (h *Hub) noteDown(ctx context.Context, name string, retired bool) error {
	return h.step(ctx, func() error {
		if h.running[name] > 0 {
			return nil
		}
		return h.append(h.down(name, retired))
	})
}

// down is the event of a wrapper that no longer runs. It is for a step.
func (h *Hub) down(name string, retired bool) router.Event {
	e := router.Event{Type: router.TypeDown, Agent: name}
	e.Reason = h.state.Ending(name, retired)
	return e
}

// Missed puts the end of wrappers into the log that ended while there was no router: all that run
// have been told to Up. retired reports whether one took its listing back.
func (h *Hub) Missed(ctx context.Context, retired func(router.Agent) bool) error {
	return h.patiently(ctx, func() error { return h.noteMissed(ctx, retired) })
}

func (h *Hub) noteMissed(ctx context.Context, retired func(router.Agent) bool) error {
	err := h.step(ctx, func() error {
		for _, a := range h.state.Agents() {
			if !a.Running || h.running[a.Name] > 0 {
				continue
			}
			if err := h.append(h.down(a.Name, retired(a))); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.looked = true
	h.wake()
	return nil
}

// Claim says that a message is about to be handed to a wrapper, which from then on ends it. It is
// false when there is nothing to hand over any more.
func (h *Hub) Claim(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	m, ok := h.state.Find(id)
	if !ok || router.Ended(m.Status) || h.leased[id] || m.Status == router.StatusAccepted && m.Held != 0 {
		return false
	}
	h.claimed[id] = true
	return true
}

// Unclaim says that the wrapper did not take the message, for certain.
func (h *Hub) Unclaim(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.claimed, id)
	if m, ok := h.state.Find(id); ok {
		h.wakeFor(m.To) // its reader, if it has one by now
	}
}

// Unwanted reports whether a message that a wrapper has is to be cancelled there: somebody asked
// for that while the wrapper did not run, or it is stale. The log then has a stale one as expired.
func (h *Hub) Unwanted(m router.Known) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if m.CancelAsked {
		return true
	}
	stale := h.state.Stale(&m)
	if stale {
		h.stale[m.ID] = true
	}
	return stale
}
