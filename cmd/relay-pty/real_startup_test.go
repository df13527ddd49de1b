package main

import (
	"strings"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig/agentrig"
)

func TestRealAgentsBeginBlockedByTheirDialogs(t *testing.T) {
	eachAgent(t, func(t *testing.T, a agentrig.Agent) {
		var names []string
		for _, st := range a.Startups() {
			t.Run(st.Name, func(t *testing.T) {
				r := begin(t, a, []agentrig.Change{st.Change})
				must(t, r.WaitText(patience(t), st.Text))
				r.state("blocked")
				r.inject("m1", "y\n1\nhello")
				r.held("m1", "dialog", 1200*time.Millisecond)
				f, err := r.client.Request(patience(t), map[string]any{"type": "status"})
				must(t, err)
				if f.Str("state") != "blocked" || f.Fields["can_accept"] != false || strings.TrimSpace(f.Str("blocked_by")) == "" {
					t.Errorf("status %s, want blocked, and by what", f.Raw)
				}
				if !strings.Contains(squeeze(r.Screen()), squeeze(f.Str("blocked_by"))) {
					t.Errorf("blocked by %q, which is not on the screen", f.Str("blocked_by"))
				}
				if !strings.Contains(r.Screen(), st.Text) || len(r.api.Turns()) != 0 {
					t.Errorf("the dialog is gone, and no human answered it; %d turns", len(r.api.Turns()))
				}
				t.Logf("%s: blocked by %q", st.Name, f.Str("blocked_by"))
			})
			names = append(names, st.Name)
		}
		if len(names) > 0 {
			shown(t, a.Name()+": dialogs of the start, blocked with their text, message held", "%s", strings.Join(names, ", "))
		}
	})
}
