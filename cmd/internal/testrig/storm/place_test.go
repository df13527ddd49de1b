package storm

import (
	"context"
	"slices"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/books"
	"relay-pty/protocol"
)

func TestStanding(t *testing.T) {
	s := (&storm{}).place("a", program{line: true})
	result := func(status string) *protocol.InjectResult { return &protocol.InjectResult{ID: "m1", Status: status} }
	ctx := testrig.Within(t, time.Minute)
	s.accepted("m1")
	past, stop := context.WithCancel(ctx)
	stop()
	if s.empty(past) == nil {
		t.Error("empty, though m1 was accepted")
	}
	reached := make(chan error)
	go func() { reached <- s.progress(ctx, 2) }()
	s.skip()
	for _, status := range []string{"queued", "delivered"} {
		if err := s.heard(result(status)); err != nil {
			t.Error(err)
		}
	}
	s.accepted("m1") // told late
	if n, _ := s.count(); <-reached != nil || s.empty(ctx) != nil || n != 2 {
		t.Errorf("it stands so: %s", s.standing())
	}
	if got := s.unended([]string{"m1", "m2"}); !slices.Equal(got, []string{"m2"}) {
		t.Errorf("not at their end: %q", got)
	}
	for status, ok := range map[string]bool{"queued": true, "delivered": true, "expired": false} {
		s.tells(result("delivered"))
		s.tells(result(status))
		if err := s.books(&books.Run{}, true); (err == nil) != ok {
			t.Errorf("the sender was told %s: %v", status, err)
		}
	}
}

// TestStrayCommandsAreTold: of what no agent said.
func TestStrayCommandsAreTold(t *testing.T) {
	strays := 0
	s := (&storm{Config: Config{Stray: func(string, string) { strays++ }}}).place("a", program{})
	if err := s.heard(&protocol.RelayCommand{}); err != nil || strays != 1 {
		t.Errorf("%d strays, %v", strays, err)
	}
}
