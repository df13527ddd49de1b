package handover

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"relay-pty/inject"
	"relay-pty/inject/refusal"
	"relay-pty/inject/turn"
	"relay-pty/protocol"
	"relay-pty/queue"
)

// TestNothingGoesWhileTheAPIRefuses: the injector gets nothing and is told when to ask again, then
// one message alone, and what waits goes together once a turn was answered.
func TestNothingGoesWhileTheAPIRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		box, err := queue.New(queue.Config{}, queue.NewOutbox())
		must(t, err)
		for n := range 4 {
			m := queue.Message{ID: fmt.Sprint("m", n), From: "bob", Body: fmt.Sprint(n), Mode: protocol.ModeSequential, Kind: protocol.KindMessage}
			_, _, err = box.Enqueue(m, time.Now())
			must(t, err)
		}
		refused, look := new(refusal.Gate), func() {}
		m := &Turns{
			Queue: box, Batch: func() int { return 10 }, Halted: func() bool { return false }, Unread: func() bool { return false },
			Begun: func(turn.Turn) {}, Ended: func(turn.Turn, inject.Status) {}, Refused: refused, Look: func() { look() },
			Leases: &Leases{Queue: box, Turn: func() bool { return false }, Note: func(err error, _ string) { must(t, err) }},
		}
		next, _ := m.Next(time.Now())
		if len(next.Turn) != 4 {
			t.Fatalf("%d messages go as one turn, want 4", len(next.Turn))
		}
		look = func() { refused.Refused("overloaded", "no", time.Time{}, time.Now()) }
		if m.Take(next.Turn) {
			t.Error("a turn was begun though the log tells that the API refused the one before")
		}
		look = func() {}
		if next, again := m.Next(time.Now()); next != nil || !again.Equal(time.Now().Add(time.Minute)) {
			t.Errorf("got %v, to be asked again at %v; want nothing, and a minute", next, again)
		}
		time.Sleep(time.Minute)
		if m.Take(next.Turn) {
			t.Error("four messages are tried at once")
		}
		next, _ = m.Next(time.Now())
		if len(next.Turn) != 1 || !m.Take(next.Turn) {
			t.Fatalf("%d messages are tried, want 1", len(next.Turn))
		}
		m.End(next.Turn, inject.Result{Status: inject.Withdrawn})
		next, _ = m.Next(time.Now())
		if next == nil || !m.Take(next.Turn) {
			t.Fatal("what was withdrawn is not tried again")
		}
		m.End(next.Turn, inject.Result{Status: inject.Delivered, Evidence: protocol.EvidenceSubmitted})
		if next, _ := m.Next(time.Now()); next != nil {
			t.Error("another message goes before the turn of the one that was tried is known to end")
		}
		refused.Ended(false)
		if next, _ := m.Next(time.Now()); len(next.Turn) != 3 {
			t.Errorf("%d messages go once a turn was answered, want 3", len(next.Turn))
		}
	})
}
