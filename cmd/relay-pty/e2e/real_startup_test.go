package e2e

import (
	"context"
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
	ctx := patience(w.t, "blocked by the dialog "+text)
	for {
		f, err := w.client.Request(ctx, map[string]any{"type": "status"})
		if err != nil {
			w.t.Fatal(err)
		}
		by, screen := f.Str("blocked_by"), w.Screen()
		if f.Str("state") == "blocked" && f.Fields["can_accept"] == false && strings.TrimSpace(by) != "" &&
			strings.Contains(squeeze(screen), squeeze(by)) && strings.Contains(screen, text) {
			return by
		}
		if ctx.Err() != nil {
			w.t.Fatalf("%v: status %s", context.Cause(ctx), f.Raw)
		}
		pause(w.t, 20*time.Millisecond)
	}
}
