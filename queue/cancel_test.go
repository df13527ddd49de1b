package queue

import (
	"errors"
	"testing"
	"time"

	"relay-pty/protocol"
)

// TestCancel tells for each moment what the canceller hears and what becomes of it.
func TestCancel(t *testing.T) {
	do := func(err error) { t.Helper(); must(t, err) }
	take := func(m *Mailbox) { err := m.Take(t0, "a"); do(err) }
	commit := func(m *Mailbox) {
		if !m.Entering("a") {
			t.Error("Enter is refused on a message that nobody cancels")
		}
	}
	put := func(m *Mailbox) { do(m.Return("a", t0)) }
	wish := func(m *Mailbox) { m.Cancel("a", t0) }
	end := func(status string) func(*Mailbox) {
		return func(m *Mailbox) { do(m.Finish("a", Outcome{Status: status}, t0)) }
	}
	type steps []func(*Mailbox)
	tests := []struct {
		name   string
		given  steps
		told   string // the status in the answer
		err    error
		then   steps
		end    string
		events int64 // of the cancel and what follows it
	}{
		{"waiting", steps{}, "cancelled", nil, nil, "cancelled", 1},
		{"cancelled before", steps{wish}, "cancelled", nil, nil, "cancelled", 0},
		{"withdrawn before", steps{take, put}, "cancelled", nil, nil, "cancelled", 1},
		{"being typed, then taken back", steps{take}, "injecting", nil, steps{put}, "cancelled", 1},
		{"being typed, asked for twice", steps{take, wish}, "injecting", nil, steps{put}, "cancelled", 1},
		{"being typed, and delivered all the same", steps{take}, "injecting", nil, steps{end("delivered")}, "delivered", 1},
		{"being typed, and left in doubt", steps{take}, "injecting", nil, steps{end("unknown")}, "unknown", 1},
		{"being typed, and failed", steps{take}, "injecting", nil, steps{end("failed")}, "failed", 1},
		{"Enter was pressed", steps{take, commit}, "injecting", ErrState, nil, "injecting", 0},
		{"Enter was pressed, taken back, waiting", steps{take, commit, put}, "cancelled", nil, nil, "cancelled", 1},
		{"a second attempt is typed", steps{take, commit, put, take}, "injecting", nil, steps{put}, "cancelled", 1},
		{"delivered", steps{take, end("delivered")}, "delivered", ErrState, nil, "delivered", 0},
		{"failed", steps{end("failed")}, "failed", ErrState, nil, "failed", 0},
		{"unknown", steps{take, end("unknown")}, "unknown", ErrState, nil, "unknown", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, log := newMailbox(t, Config{})
			enqueue(t, m, message("a"), message("b"))
			for _, step := range tt.given {
				step(m)
			}
			before := log.Last()
			res, err := m.Cancel("a", t0)
			if res.Status != tt.told || err != tt.err || res.ID != "a" {
				t.Errorf("got %+v, %v; want %s, %v", res, err, tt.told, tt.err)
			}
			for _, step := range tt.then {
				step(m)
			}
			if r, err := m.Query("a"); err != nil || r.Status != tt.end {
				t.Errorf("it is %s (%v), want %s", r.Status, err, tt.end)
			}
			if n := log.Last() - before; n != tt.events {
				t.Errorf("%d events, want %d: %s", n, tt.events, history(t, log))
			}
			if got := ids(m); got != "b" {
				t.Errorf("%q wait, want b", got)
			}
		})
	}
}

func TestCancelOfWhatNeverWas(t *testing.T) {
	m, _ := newMailbox(t, Config{})
	if _, err := m.Cancel("a", t0); err != ErrUnknown {
		t.Errorf("got %v, want %v", err, ErrUnknown)
	}
	if m.Wanted("a") || m.Entering("a") || m.GiveUp("a") {
		t.Error("a message that never was is being injected")
	}
}

func TestEnterAndCancelExcludeEachOther(t *testing.T) {
	m, _ := newMailbox(t, Config{})
	enqueue(t, m, message("a"))
	if m.Entering("a") {
		t.Error("Enter is allowed on a message that waits")
	}
	m.Take(t0, "a")
	m.Cancel("a", t0)
	if !m.Wanted("a") || m.Entering("a") {
		t.Error("Enter is allowed on a message that is to be cancelled")
	}
	if !m.GiveUp("a") || m.GiveUp("a") {
		t.Error("one wish is taken back once")
	}
	if m.Wanted("a") || !m.Entering("a") || !m.Entering("a") {
		t.Error("Enter is refused on a message that nobody cancels any more")
	}
	if _, err := m.Cancel("a", t0); err != ErrState {
		t.Errorf("got %v, want %v", err, ErrState)
	}
	m.Finish("a", Outcome{Status: protocol.StatusDelivered}, t0)
	if m.Entering("a") || m.Wanted("a") {
		t.Error("an ended message is being injected")
	}
}

// TestCancelWakesTheInjector, which may be waiting for the composer.
func TestCancelWakesTheInjector(t *testing.T) {
	m, _ := newMailbox(t, Config{})
	enqueue(t, m, message("a"))
	m.Take(t0, "a")
	select {
	case <-m.Changed():
	default:
	}
	m.Cancel("a", t0)
	if len(m.Changed()) != 1 {
		t.Error("it was not woken")
	}
}

func TestCancelRelievesTheQueue(t *testing.T) {
	m, log := newMailbox(t, Config{Max: 10, High: 2, Low: 1})
	enqueue(t, m, message("a"), message("b"))
	m.Cancel("a", t0)
	wantHistory(t, log, `"a"`, `"b"`, `"backpressure" "accept":false`, `"a" "cancelled"`, `"backpressure" "queue_length":1 "accept":true`)
}

func TestCancelledIsSaidAlsoIfItCannotBeRecorded(t *testing.T) {
	disk := &fullDisk{}
	m, err := New(Config{}, disk)
	must(t, err)
	enqueue(t, m, message("a"))
	disk.on = true
	if r, err := m.Cancel("a", t0); !errors.Is(err, errDisk) || r.Status != protocol.StatusCancelled || m.Len() != 0 {
		t.Errorf("got %+v, %v, %d waiting", r, err, m.Len())
	}
}

func TestPending(t *testing.T) {
	m, _ := newMailbox(t, Config{})
	if p := m.Pending(); p == nil || len(p) != 0 {
		t.Errorf("got %v", p)
	}
	later, now := message("later"), message("now")
	later.Priority, later.Timeout = 7, 1500*time.Millisecond
	now.Mode = protocol.ModeUrgent
	enqueue(t, m, later, now, message("taken"))
	m.Take(t0, "taken")
	m.WaitsFor("draft", t0)
	p := m.Pending()
	if len(p) != 2 {
		t.Fatalf("got %+v", p)
	}
	at := t0.UnixMilli()
	if p[0] != (protocol.Pending{ID: "now", From: "bob", QueuedAt: at, Mode: "urgent", WaitingFor: "draft"}) {
		t.Errorf("got %+v", p[0])
	}
	if p[1].ID != "later" || p[1].ExpiresAt == nil || *p[1].ExpiresAt != at+1500 || p[1].Priority != 7 {
		t.Errorf("got %+v", p[1])
	}
}
