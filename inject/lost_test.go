package inject

import (
	"testing"
	"time"

	"relay-pty/inject/agents"
	"relay-pty/inject/ready"
	"relay-pty/protocol"
)

// TestAgentWhoseComposerGoesAwayForGoodIsTold: a message waits for it, nothing is typed, and people
// learn why once the agent has rested for 20 seconds; with its composer it is as before.
func TestAgentWhoseComposerGoesAwayForGoodIsTold(t *testing.T) {
	p, _ := agents.Named("claude")
	lost := *p
	lost.Rules.Unfound = p.Unfound("alice")
	runAs(t, &lost, func(t *testing.T, r *rig) {
		pass(5 * time.Second)
		r.do(func(f *fakeTerm) { f.away = true })
		r.mail.add("m1", "hello")
		pass(20*time.Second - time.Millisecond)
		if v := r.last.Load().Verdict; v.State != ready.Unknown || v.BlockedBy != "" {
			t.Errorf("before 20 s: got %+v, want unknown without a reason", v)
		}
		pass(2 * time.Millisecond)
		if v := r.last.Load().Verdict; v.State != ready.Unknown || v.BlockedBy != lost.Rules.Unfound || v.By != protocol.SignComposer {
			t.Errorf("after 20 s: got %+v, want unknown for want of a composer", v)
		}
		if r.hold() != protocol.WaitsForReady || r.typed.Len() > 0 {
			t.Errorf("the message waits for %q, and %q was typed", r.hold(), r.typed.String())
		}
		r.do(func(f *fakeTerm) { f.away = false })
		wantResult(t, r.ends(t, "m1"), Delivered, protocol.EvidenceSubmitted)
	})
}
