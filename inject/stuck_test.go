package inject

import (
	"strings"
	"testing"
	"time"

	"relay-pty/inject/agents"
	"relay-pty/inject/ready"
	"relay-pty/inject/turn"
	"relay-pty/protocol"
)

// TestRingIsNamed: of two messages that an agent gave back the first would wait for its queue.
func TestRingIsNamed(t *testing.T) {
	claude, _ := agents.Named("claude")
	in := &Injector{Profile: claude}
	at := func(stage stage, id, body string) *attempt {
		return &attempt{in: in, stage: stage, cameBack: true, Turn: turn.Turn{framed(id, body)}}
	}
	in.attempts = []*attempt{at(behind, "m1", "hello"), at(queued, "m2", "there")}
	s := step{next: &turn.Batch{Turn: turn.Turn{framed("m3", "now")}}, hold: protocol.WaitsForTurn}
	s.verdict.State, s.Box.Visible, s.Box.Text, s.Facts.Now = ready.Ready, true, m1+m2, time.Now()
	if got, again := in.stuck(s); got != "" || again != stuckAfter {
		t.Errorf("found %q at once, and asks again in %v", got, again)
	}
	s.Facts.Now = s.Facts.Now.Add(stuckAfter)
	want := "m1 (behind) waits for m2 (queued), m2 (queued) waits for m1 (behind), m3 waits for m1 (behind)"
	if got, _ := in.stuck(s); got != want {
		t.Errorf("found %q, want %q", got, want)
	}
	s.verdict.State = ready.Busy
	s.Facts.Now = s.Facts.Now.Add(stuckAfter)
	if got, _ := in.stuck(s); got != "" {
		t.Errorf("found %q right after a change", got)
	}
	s.Facts.Now = s.Facts.Now.Add(stuckAfter)
	if got, _ := in.stuck(s); got != "" {
		t.Errorf("found %q of an agent that works", got)
	}
}

// TestWaitThatNothingCanEndIsToldInStatus, and is not any more once it has ended.
func TestWaitThatNothingCanEndIsToldInStatus(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.do(func(f *fakeTerm) { f.shut = true })
		r.mail.add("m1", "hello")
		if pass(stuckAfter - time.Second); r.last.Load().Verdict.BlockedBy != "" {
			t.Errorf("blocked by %q too early", r.last.Load().Verdict.BlockedBy)
		}
		if pass(2 * time.Second); !strings.HasPrefix(r.last.Load().Verdict.BlockedBy, "m1 waits for nothing") {
			t.Errorf("blocked by %q, want that m1 waits for nothing", r.last.Load().Verdict.BlockedBy)
		}
		r.do(func(f *fakeTerm) { f.shut = false })
		r.allEnd(t, 1, time.Second)
		if pass(time.Minute); r.last.Load().Verdict.BlockedBy != "" {
			t.Errorf("blocked by %q, and nothing waits", r.last.Load().Verdict.BlockedBy)
		}
	})
}

// TestWaitForTheHumanIsNoRing, however long it takes.
func TestWaitForTheHumanIsNoRing(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.takenBack(t)
		r.mail.add("m2", "there")
		if pass(time.Hour); r.last.Load().Verdict.BlockedBy != "" {
			t.Errorf("blocked by %q", r.last.Load().Verdict.BlockedBy)
		}
	})
}
