package hub

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"

	"relay-pty/cmd/relay/internal/bus"
	"relay-pty/cmd/relay/internal/router"
)

// counted is a store that notes how many events are written at once.
type counted struct {
	memory
	groups []int
	takes  int // it has room for so many events more
}

func (c *counted) Append(ctx context.Context, list ...bus.Event) (int64, int, error) {
	c.groups = append(c.groups, len(list))
	if len(list) <= c.takes {
		return c.memory.Append(ctx, list...)
	}
	first, n, _ := c.memory.Append(ctx, list[:c.takes]...) // it does not fail
	c.takes = 0
	return first, n, bus.ErrFull
}

// groups are what is written of all that others want while somebody writes, and how each of them
// ended.
func groups(t *testing.T, takes int, others ...func(h *Hub) error) (sizes []int, errs []error) {
	t.Helper()
	store := &counted{takes: 1 << 30}
	h := aHub(t, store)
	h.mustUp(t, "bob")
	errs = make([]error, len(others))
	var all sync.WaitGroup
	h.writing.Lock()
	for i, other := range others {
		all.Go(func() { errs[i] = other(h) })
		for queued := 0; queued <= i; runtime.Gosched() {
			h.queue.mu.Lock()
			queued = len(h.queue.list)
			h.queue.mu.Unlock()
		}
	}
	store.groups, store.takes = nil, takes
	h.writing.Unlock()
	all.Wait()
	return store.groups, errs
}

func sends(m router.Message) func(h *Hub) error {
	return func(h *Hub) error {
		_, err := h.Send(context.Background(), m)
		return err
	}
}

// TestWhatComesMeanwhileIsWrittenTogether, unless one decision has to know of another.
func TestWhatComesMeanwhileIsWrittenTogether(t *testing.T) {
	from := func(name string) router.Message {
		return router.Message{From: name, To: "bob", Body: "hi"}
	}
	named := func(name, id string) router.Message {
		m := from(name)
		m.ID = id
		return m
	}
	answer := router.Message{From: "bob", To: "a", Body: "hi", ReplyTo: "m"}
	all := from("a")
	all.To = router.All
	state := func(agent string) func(h *Hub) error {
		return func(h *Hub) error {
			return h.Record(context.Background(), router.Event{Type: "state", Agent: agent})
		}
	}
	a, b, c := sends(from("a")), sends(from("b")), sends(from("c"))
	stray := router.Message{From: "b", To: "nobody", Body: "hi"}
	type wants = []func(h *Hub) error
	for name, is := range map[string]struct {
		others wants
		want   []int
	}{
		"several senders":         {wants{a, b, c}, []int{3}},
		"others, too":             {wants{a, state("bob"), state("carol")}, []int{3}},
		"one sender":              {wants{a, a, b}, []int{1, 2}},
		"one message, sent twice": {wants{sends(named("a", "m")), sends(named("a", "m"))}, []int{1}},
		"an answer":               {wants{sends(named("a", "m")), sends(answer)}, []int{1, 1}},
		"a message to all":        {wants{b, sends(all), c}, []int{1, 1, 1}},
		"an agent's two states":   {wants{state("bob"), state("bob"), state("carol")}, []int{1, 2}},
		"a refusal in between":    {wants{a, sends(stray), c}, []int{1, 1}},
	} {
		got, errs := groups(t, 1<<30, is.others...)
		refused := slices.ContainsFunc(errs, func(err error) bool { return err != nil })
		if !slices.Equal(got, is.want) || refused != (name == "a refusal in between") {
			t.Errorf("%s: groups of %v, want %v, with %v", name, got, is.want, errs)
		}
	}
}

// TestAGroupIsWrittenInPart: whose event was the last that the disk had room for, was accepted, and
// who came behind is refused.
func TestAGroupIsWrittenInPart(t *testing.T) {
	var others []func(h *Hub) error
	for i := range 5 {
		others = append(others, sends(router.Message{From: fmt.Sprint("s", i), To: "bob", Body: "hi"}))
	}
	_, errs := groups(t, 2, others...)
	for i, err := range errs {
		if i < 2 && err != nil || i >= 2 && !errors.Is(err, bus.ErrFull) {
			t.Errorf("sender %d: %v", i, err)
		}
	}
}
