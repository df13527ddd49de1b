package e2e

import (
	"testing"
	"time"

	"relay-pty/cmd/internal/agentrig"
)

// TestProveMessagesWaitForAgentsThatTryAgain: an agent whose model fails is at work, whatever it
// shows in the place of its usual words. How much of that it covers goes by the terminal's width.
func TestProveMessagesWaitForAgentsThatTryAgain(t *testing.T) {
	eachAgent(t, func(t *testing.T, a agentrig.Agent) {
		for _, cols := range []int{80, 200} {
			r := beginSized(t, a, 40, cols, nil)
			r.state("ready")
			r.api.Fail(true)
			r.inject("m1", "hello")
			r.state("busy")
			r.inject("m2", "there")
			must(t, r.api.WaitRefused(patience(t, "an agent that tries again"), 2))
			r.held("m2", "turn", 3*time.Second)
			r.api.Fail(false)
			first := r.turn("m1", "hello")
			r.delivers("m1", "submitted", "turn")
			first = r.ended(first.N)
			r.delivers("m2", "submitted", "turn")
			if second := r.turn("m2", "there"); second.At.Before(first.Ended) {
				t.Errorf("%d columns: the message was typed into a turn", cols)
			}
			r.once([]string{"m1", "m2"})
		}
		shown(t, a.Name()+", its model fails, and it tries again: messages wait for the turn, each once and whole", "%d of %d", 2, 2)
	})
}
