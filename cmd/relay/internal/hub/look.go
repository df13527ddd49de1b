package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
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

// View calls f with the state, which f must not keep, and with who runs, and returns when all that
// f saw is on disk. f must be short, and may be called again, where it saw what could not be
// written.
func (h *Hub) View(f func(s *router.State, running func(name string) bool)) {
	for {
		h.mu.Lock()
		f(h.state, h.runsLocked)
		b := h.newest()
		h.mu.Unlock()
		if h.settle(b) == nil {
			return
		}
	}
}

// Messages returns the ids of messages as they came, how many older ones there are, and the number
// of the event up to which all are among them.
func (h *Hub) Messages(ctx context.Context, q router.Query) (ids []string, older int, upTo int64, err error) {
	return h.store.Messages(ctx, q)
}

// Which is the id of the message that somebody means by a word: an id, the beginning of one alone,
// or last, which is the last to or from me. A refusal is an *ErrorValue.
func (h *Hub) Which(ctx context.Context, word, me string) (id string, err error) {
	h.View(func(s *router.State, _ func(string) bool) {
		m, _ := s.Find(word)
		id = m.ID
	})
	switch {
	case id != "":
		return id, nil
	case word == router.LastID:
		ids, _, _, err := h.store.Messages(ctx, router.Query{Target: me, Last: 1})
		if err == nil && len(ids) == 0 {
			err = router.Refusal(protocol.UnknownID, "there is no message to or from %s", me)
		}
		return strings.Join(ids, ""), err
	case len(word) < beginLeast:
		return begunBy(word, nil, false)
	}
	ids, more, err := h.store.Begun(ctx, word)
	if err != nil {
		return "", err
	}
	return begunBy(word, ids, more)
}

// Count counts the messages and agents that there are.
func (h *Hub) Count(ctx context.Context) (c router.Counts, err error) {
	h.View(func(s *router.State, running func(string) bool) { c = s.Count(running) })
	ended, err := h.store.Ended(ctx)
	for status, n := range ended {
		c.Messages[status] += n
	}
	return c, err
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
	h.mu.Unlock()
	if n := len(tail); n > 0 && after >= tail[n-1].Seq {
		return nil, after, oldest, nil
	}
	upTo, after = after, max(after, oldest-1)
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
