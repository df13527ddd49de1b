package refusal

import (
	"strings"
	"testing"
	"time"
)

var start = time.Date(2026, 11, 29, 12, 0, 0, 0, time.Local)

// wants fails unless the gate is in that state after so long, and changes by itself after so long.
func (g *Gate) wants(t *testing.T, after time.Duration, is State, until time.Duration) {
	t.Helper()
	got, at := g.State(start.Add(after))
	if got != is || at.IsZero() != (until == 0) || until != 0 && at.Sub(start) != until {
		t.Errorf("after %v: got state %d until %v, want %d until %v", after, got, at.Sub(start), is, until)
	}
}

// TestTriesAreEverFurtherApart where the agent doesn't say when its API takes requests again.
func TestTriesAreEverFurtherApart(t *testing.T) {
	var g Gate
	g.wants(t, 0, Open, 0)
	g.Refused("overloaded", "Overloaded", time.Time{}, start)
	at := time.Duration(0)
	for n, gap := range []time.Duration{1, 2, 4, 8, 16, 30, 30} {
		gap *= time.Minute
		g.wants(t, at, Shut, at+gap)
		if g.Try(start.Add(at+gap-1), 1) {
			t.Errorf("try %d comes too early", n)
		}
		at += gap
		g.wants(t, at, Trial, 0)
		if !g.Try(start.Add(at), 1) {
			t.Errorf("try %d was not allowed", n)
		}
		if g.Try(start.Add(at), 1) {
			t.Errorf("a second message goes with try %d", n)
		}
		at += 10 * time.Second // of the agent's own tries
		g.Refused("overloaded", "Overloaded", time.Time{}, start.Add(at))
	}
	g.Ended(false)
	g.wants(t, at, Open, 0)
	g.Refused("error", "", time.Time{}, start)
	g.wants(t, 0, Shut, time.Minute)
}

// TestTheAgentSaysWhen: nothing goes before, whatever else is refused, and one message then: agents
// tell whole minutes. A time that has passed tells nothing.
func TestTheAgentSaysWhen(t *testing.T) {
	var g Gate
	g.Refused("limit", "You've hit your limit", start.Add(3*time.Hour), start)
	g.wants(t, 2*time.Hour, Shut, 3*time.Hour)
	g.Refused("limit", "no", time.Time{}, start.Add(time.Hour))
	g.wants(t, 2*time.Hour, Shut, 3*time.Hour)
	g.wants(t, 3*time.Hour, Trial, 0)
	if got := g.Why(start.Add(3 * time.Hour)); got != "" {
		t.Errorf("got %q of a limit that is over", got)
	}
	if at := start.Add(3 * time.Hour); g.Try(at, 2) || !g.Try(at, 1) || g.Try(at, 1) {
		t.Error("not one message goes when the limit is over")
	}
	g.Refused("limit", "You've hit your limit", start.Add(3*time.Hour), start.Add(3*time.Hour))
	g.wants(t, 3*time.Hour, Shut, 3*time.Hour+2*time.Minute)
	g = Gate{}
	g.Refused("limit", "You've hit your limit", start.Add(-time.Second), start)
	g.wants(t, 0, Shut, time.Minute)
}

// TestWhatOpensTheGate: a turn that was answered, whoever's; a resume; not one that was
// interrupted. What is refused beside that doesn't move the next try.
func TestWhatOpensTheGate(t *testing.T) {
	var g Gate
	g.Refused("auth", "Please run /login", time.Time{}, start)
	g.Ended(true)
	g.wants(t, 0, Shut, time.Minute)
	g.Refused("auth", "Please run /login", time.Time{}, start.Add(30*time.Second))
	g.wants(t, 30*time.Second, Shut, time.Minute)
	g.Resume(start.Add(31 * time.Second))
	g.wants(t, 31*time.Second, Trial, 0)
	g.Try(start.Add(31*time.Second), 1)
	g.wants(t, 31*time.Second, Shut, 151*time.Second)
	g.Ended(true)
	g.wants(t, 32*time.Second, Shut, 151*time.Second)
	g.Ended(false)
	g.wants(t, 32*time.Second, Open, 0)
	g.Resume(start)
	g.wants(t, 32*time.Second, Open, 0)
	g.Refused("limit", "", start.Add(time.Hour), start)
	g.Resume(start.Add(time.Minute))
	g.wants(t, time.Minute, Trial, 0)
}

// TestATryThatDidNotReachTheAgent is none.
func TestATryThatDidNotReachTheAgent(t *testing.T) {
	var g Gate
	g.Refused("overloaded", "", time.Time{}, start)
	g.Try(start.Add(time.Minute), 1)
	g.Failed(start.Add(61 * time.Second))
	g.wants(t, 61*time.Second, Trial, 0)
	g.Try(start.Add(61*time.Second), 1)
	g.wants(t, 61*time.Second, Shut, 181*time.Second)
	g.Ended(false)
	g.Failed(start)
	g.wants(t, 61*time.Second, Open, 0)
}

func TestWhy(t *testing.T) {
	var g Gate
	if got := g.Why(start); got != "" {
		t.Errorf("got %q of an open gate", got)
	}
	g.Refused("limit", "You've hit your limit", start.Add(time.Hour), start)
	const limit = "the API of its model refused a turn (limit): You've hit your limit; " +
		"messages wait until Nov 29 13:00:00, a turn that is answered, or relay resume"
	if got := g.Why(start); got != limit {
		t.Errorf("got  %q\nwant %q", got, limit)
	}
	g = Gate{}
	g.Refused("error", strings.Repeat("日", 1000), time.Time{}, start)
	long := "the API of its model refused a turn (error): " + strings.Repeat("日", 199) + "…; "
	const tried = "the next message is tried"
	if got, want := g.Why(start), long+tried+" at Nov 29 12:01:00, after a turn that is answered, or on relay resume"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got, want := g.Why(start.Add(time.Minute)), long+tried; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
