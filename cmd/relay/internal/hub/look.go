package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"relay-pty/cmd/relay/internal/router"
)

func (h *Hub) decode(seq int64, data []byte) (e router.Event, err error) {
	if err := json.Unmarshal(data, &e); err != nil {
		return e, fmt.Errorf("event %d of the log: %w", seq, err)
	}
	e.Seq, e.Epoch = seq, h.store.Epoch()
	return e, nil
}

// Epoch tells the log from others: a new one has another, and numbers above those of the old one.
func (h *Hub) Epoch() string { return h.store.Epoch() }

// View calls f with the state, which f must not keep, and with who runs. f must be short.
func (h *Hub) View(f func(s *router.State, running func(name string) bool)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f(h.state, h.runsLocked)
}

// Changed is closed after the next event. Whoever waits takes it before looking.
func (h *Hub) Changed() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.changed
}

// ChangedFor is closed after the next event about a message to that name, or about its pause: with
// many agents, most of what happens is about others. Whoever waits takes it before looking.
func (h *Hub) ChangedFor(name string) <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.inboxes[name]
	if c == nil {
		c = make(chan struct{})
		h.inboxes[name] = c
	}
	return c
}

// Idle reports whether nobody runs, nothing waits, and all who went away are told to have left.
func (h *Hub) Idle() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.running) == 0 && !h.state.Waiting() && !h.state.Settling()
}

// Oldest is the number of the oldest event that is still kept.
func (h *Hub) Oldest(ctx context.Context) (int64, error) {
	oldest, _, err := h.store.Span(ctx)
	return oldest, err
}

// Events returns up to most events after a number for which want is true, and the number up to
// which it looked. oldest is that of the oldest event still kept.
func (h *Hub) Events(ctx context.Context, after int64, most int, want func(*router.Event) bool) (list []router.Event, upTo, oldest int64, err error) {
	if oldest, _, err = h.store.Span(ctx); err != nil {
		return nil, after, 0, err
	}
	h.mu.Lock()
	tail := h.tail
	last := h.state.Last
	h.mu.Unlock()
	if upTo = after; after >= last {
		return nil, after, oldest, nil
	}
	after = max(after, oldest-1)
	take := func(e router.Event) error {
		if upTo = e.Seq; want(&e) {
			list = append(list, e)
		}
		if len(list) >= most {
			return errEnough
		}
		return nil
	}
	if len(tail) > 0 && after >= tail[0].Seq-1 {
		for _, e := range tail[after-tail[0].Seq+1:] {
			if take(e) != nil {
				break
			}
		}
		return list, upTo, oldest, nil
	}
	err = h.store.Read(ctx, after, func(seq int64, data []byte) error {
		e, err := h.decode(seq, data)
		if err != nil {
			return err
		}
		return take(e)
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return list, upTo, oldest, err
}

var errEnough = errors.New("enough")

// Life returns the events about a message that are still kept, as they came.
func (h *Hub) Life(ctx context.Context, m router.Known) (list []router.Event, err error) {
	for _, seq := range m.Events {
		data, ok, err := h.store.Get(ctx, seq)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		e, err := h.decode(seq, data)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}
