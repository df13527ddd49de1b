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

func TestStanding(t *testing.T) {
	s := New(Options{})
	result := func(status string) *protocol.InjectResult { return &protocol.InjectResult{ID: "m1", Status: status} }
	ctx := testrig.Within(t, time.Minute)
	s.Accepted("m1")
	past, stop := context.WithCancel(ctx)
	stop()
	if s.Empty(past) {
		t.Error("empty, though m1 was accepted")
	}
	reached := make(chan bool)
	go func() { reached <- s.Progress(ctx, 2) }()
	s.Skip()
	for _, status := range []string{"queued", "delivered"} {
		if err := s.heard(result(status)); err != nil {
			t.Error(err)
		}
	}
	s.Accepted("m1") // told late
	if n, _ := s.Count(); !<-reached || !s.Empty(ctx) || n != 2 {
		t.Errorf("it stands so: %s", s.Standing())
	}
	if got := s.Unended([]string{"m1", "m2"}); !slices.Equal(got, []string{"m2"}) {
		t.Errorf("not at their end: %q", got)
	}
	for status, ok := range map[string]bool{"queued": true, "delivered": true, "expired": false} {
		s.Told(result("delivered"))
		s.Told(result(status))
		if err := s.Books(&books.Run{}, true); (err == nil) != ok {
			t.Errorf("the sender was told %s: %v", status, err)
		}
	}
}

// TestStrayCommandsAreTold: of what no agent said.
func TestStrayCommandsAreTold(t *testing.T) {
	strays := 0
	s := New(Options{Name: "a", Stray: func(string, string) { strays++ }})
	if err := s.heard(&protocol.RelayCommand{}); err != nil || strays != 1 {
		t.Errorf("%d strays, %v", strays, err)
	}
}
