package inject

import (
	"testing"
	"time"
)

// An agent that is killed in the middle of a write: the write fails before its end shows.
func TestAgentThatIsKilledInTheMiddleOfAWrite(t *testing.T) {
	for name, late := range map[string]bool{"of the text": false, "of the Enter": true} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, r *rig) {
				r.dies, r.diesLate = 20*time.Millisecond, late
				r.mail.add("m1", "hello")
				want := Failed
				if late {
					want = Doubtful // an Enter was being typed
				}
				wantResult(t, r.ends(t, "m1"), want, "agent_exited")
			})
		})
	}
}

// One that merely takes its time is not said to have ended.
func TestAgentThatDoesNotReadHasNotEnded(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.deaf = true
		r.mail.add("m1", "hello")
		wantResult(t, r.ends(t, "m1"), Doubtful, "stranded")
	})
}
