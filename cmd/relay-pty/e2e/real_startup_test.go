package e2e

import (
	"strings"
	"testing"
	"time"

	"relay-pty/cmd/internal/agentrig"
)

func TestProveAgentsBeginBlockedByTheirDialogs(t *testing.T) {
	eachAgent(t, func(t *testing.T, a agentrig.Agent) {
		var names []string
		for _, st := range a.Startups {
			t.Run(st.Name, func(t *testing.T) {
				r := begin(t, a, []agentrig.Change{st.Change})
				must(t, r.WaitText(patience(t), st.Text))
				r.state("blocked")
				r.inject("m1", "y\n1\nhello")
				r.held("m1", "dialog", 1200*time.Millisecond)
				by := r.blockedBy(st.Text)
				if n := len(r.api.Turns()); n != 0 {
					t.Errorf("%d turns: the dialog was answered", n)
				}
				t.Logf("%s: blocked by %q", st.Name, by)
			})
			names = append(names, st.Name)
		}
		if len(names) > 0 {
			shown(t, a.Name()+": dialogs of the start, blocked with their text, message held", "%s", strings.Join(names, ", "))
		}
	})
}

// blockedBy waits until a dialog with a text stands on the screen and status is blocked by a row
// of it. An agent that paints anew has an empty screen for a moment.
func (w *wrapped) blockedBy(text string) string {
	w.t.Helper()
	by := ""
	becomes(w.t, "blocked by the dialog "+text, func() bool {
		f, screen := w.status(), w.Screen()
		by = f.Str("blocked_by")
		return f.Str("state") == "blocked" && f.Fields["can_accept"] == false && strings.TrimSpace(by) != "" &&
			strings.Contains(squeeze(screen), squeeze(by)) && strings.Contains(screen, text)
	})
	return by
}
