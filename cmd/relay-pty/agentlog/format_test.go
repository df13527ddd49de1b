package agentlog

import (
	"testing"

	"relay-pty/inject/agents"
)

// TestEachLogHasAFormat: of a log whose format is misspelt nobody would read anything, in silence.
func TestEachLogHasAFormat(t *testing.T) {
	seen := 0
	for _, name := range agents.Names() {
		p, _ := agents.Named(name)
		if p.Log == nil {
			continue
		}
		seen++
		if New(Agent{Profile: *p.Log}) == nil {
			t.Errorf("%s: no format is named %q", name, p.Log.Format)
		}
	}
	if seen == 0 {
		t.Error("no profile has a log")
	}
}
