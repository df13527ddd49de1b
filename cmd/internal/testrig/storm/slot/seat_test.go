package slot

import (
	"context"
	"slices"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/agents"
	"relay-pty/cmd/internal/testrig/books"
	"relay-pty/protocol"
)

func TestTakenOnceEach(t *testing.T) {
	got := taken([]agents.Event{
		{Kind: agents.KindDraft, Text: "a"}, {Kind: agents.KindSubmit, Text: "a"}, {Kind: agents.KindQueued, Text: "b"},
		{Kind: agents.KindQueued, Text: "c"}, {Kind: agents.KindSubmit, Text: "b\nc"}, {Kind: agents.KindSubmit, Text: "d"},
		{Kind: agents.KindCommand, Text: "/quit"},
	})
	if want := []string{"a", "b", "c", "d", "command: /quit"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestHub(t *testing.T) {
	h := newHub()
	ctx := testrig.Within(t, time.Minute)
	h.Accepted("m1")
	past, stop := context.WithCancel(ctx)
	stop()
	if h.Empty(past) {
		t.Error("empty, though m1 was accepted")
	}
	reached := make(chan bool, 1)
	go func() { reached <- h.Progress(ctx, 2) }()
	h.Skip()
	h.add(books.Event{InjectResult: protocol.InjectResult{ID: "m1", Status: "queued"}})
	h.add(books.Event{InjectResult: protocol.InjectResult{ID: "m1", Status: "delivered"}})
	if !soon(t, "two messages done with", reached) || !h.Empty(ctx) || h.Count() != 2 {
		t.Errorf("it stands so: %s", h)
	}
	if got := h.Unended([]string{"m1", "m2"}); !slices.Equal(got, []string{"m2"}) {
		t.Errorf("not at their end: %q", got)
	}
	h.Accepted("m1") // told late
	if !h.Empty(ctx) {
		t.Error("an end is no end any more")
	}
	h.Heard(&protocol.InjectResult{ID: "m1", Status: "delivered"})
	if err := h.differs(); err != nil {
		t.Error(err)
	}
	h.Heard(&protocol.InjectResult{ID: "m1", Status: "expired"})
	if h.differs() == nil {
		t.Error("the sender was told something else, and nobody noticed")
	}
}

// TestEventsAreTakenOnceInOrder: a number that does not grow is an error, a command
// that nobody said is told.
func TestEventsAreTakenOnceInOrder(t *testing.T) {
	strays := 0
	s := New(Options{Name: "a", Stray: func(string, string) { strays++ }})
	var seq int64
	for _, c := range []struct {
		f  protocol.Frame
		ok bool
	}{
		{&protocol.Subscribed{}, true},
		{&protocol.InjectResult{Stamp: protocol.Stamp{Seq: 3}, ID: "m", Status: "queued"}, true},
		{&protocol.RelayCommand{Stamp: protocol.Stamp{Seq: 4}}, true},
		{&protocol.InjectResult{Stamp: protocol.Stamp{Seq: 4}, ID: "m", Status: "delivered"}, false},
		{&protocol.Error{Code: "cursor_gone"}, false},
		{&protocol.InjectResult{Stamp: protocol.Stamp{Seq: 9}, ID: "m", Status: "delivered"}, true},
	} {
		if err := s.heard(c.f, &seq); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c.f, err)
		}
	}
	if seq != 9 || strays != 1 || s.Hub.Count() != 1 {
		t.Errorf("event %d, %d strays, %s", seq, strays, s.Hub)
	}
}

// soon is what comes from c, which must not take long.
func soon[T any](t *testing.T, what string, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(time.Minute):
		t.Fatalf("%s: not within %v", what, time.Minute)
	}
	return v
}

func TestGateHoldsBack(t *testing.T) {
	var g Gate
	g.pass(nil)
	open, passed := g.Close(), make(chan struct{})
	go func() { g.pass(nil); close(passed) }()
	select {
	case <-passed:
		t.Error("output passed a closed gate")
	case <-time.After(20 * time.Millisecond):
	}
	open()
	soon(t, "output through an open gate", passed)
	g.pass(nil)
}
