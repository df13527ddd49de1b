package queue

import (
	"errors"
	"testing"
	"time"

	"relay-pty/protocol"
)

// TestPause: what waits goes on waiting, for that, and no attempt begins; one that runs goes on.
func TestPause(t *testing.T) {
	m, log := newMailbox(t, Config{})
	enqueue(t, m, message("a"), message("b"))
	m.WaitsFor("draft", t0)
	must(t, errors.Join(m.Take(t0, "a"), m.Pause(time.Time{}, t0)))
	if heads := m.Heads(9); len(heads) > 0 || m.Take(t0, "b") != ErrPaused {
		t.Errorf("%v go next", heads)
	}
	if !m.Entering("a") {
		t.Error("what is being typed cannot be finished")
	}
	if err := m.Finish("a", Outcome{Status: protocol.StatusDelivered}, t0); err != nil {
		t.Error(err)
	}
	m.WaitsFor("dialog", t0) // nobody is told: they wait for the pause
	enqueue(t, m, message("c"))
	if g, p := m.Glance(), m.Pending(); !g.Paused || g.WaitingFor != "paused" || len(p) != 2 || p[1].WaitingFor != "paused" {
		t.Errorf("got %+v, %+v", g, p)
	}
	must(t, errors.Join(m.Resume(t0), m.Resume(t0)))
	if heads := m.Heads(9); len(heads) != 2 || m.Glance().Paused {
		t.Errorf("%v go next", heads)
	}
	wantHistory(t, log, `"a"`, `"b"`, `"a" "draft"`, `"a" "injecting"`, `"b" "paused"`, `"a" "delivered"`,
		`"c" "queued" "paused"`, `"b" "dialog"`)
}

// TestAPauseEndsByItself: the injector is told when to look again.
func TestAPauseEndsByItself(t *testing.T) {
	m, _ := newMailbox(t, Config{})
	late := message("late")
	late.Timeout = 30 * time.Second
	enqueue(t, m, message("a"), late)
	end := t0.Add(time.Minute)
	must(t, m.Pause(end, t0))
	for _, c := range []struct {
		at   time.Time
		next time.Time
		wait int // messages
		may  int // of them may go
	}{
		{t0, t0.Add(30 * time.Second), 2, 0},
		{t0.Add(30 * time.Second), end, 1, 0}, // a pause keeps no message alive
		{end.Add(-1), end, 1, 0},
		{end, time.Time{}, 1, 1},
	} {
		next, err := m.Expire(c.at)
		if err != nil || !next.Equal(c.next) || m.Len() != c.wait || len(m.Heads(9)) != c.may {
			t.Errorf("after %v: next %v, %d wait, %d may go, %v", c.at.Sub(t0), next, m.Len(), len(m.Heads(9)), err)
		}
	}
}

// TestAPauseWakesTheInjector, which has to ask for its end, and so does a resume.
func TestAPauseWakesTheInjector(t *testing.T) {
	m, _ := newMailbox(t, Config{})
	for name, do := range map[string]func() error{
		"pause":  func() error { return m.Pause(t0.Add(time.Hour), t0) },
		"resume": func() error { return m.Resume(t0) },
	} {
		select {
		case <-m.Changed():
		default:
		}
		if name == "resume" {
			m.Pause(time.Time{}, t0)
			<-m.Changed()
		}
		if err := do(); err != nil || len(m.Changed()) != 1 {
			t.Errorf("%s: %v, it was not woken", name, err)
		}
	}
}
