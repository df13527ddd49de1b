package e2e

import (
	"strings"
	"testing"
	"time"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/testrig/realagent"
)

// eachClaude runs test for every release of Claude Code in the table, side by side.
func eachClaude(t *testing.T, test func(t *testing.T, a agentrig.Agent)) {
	t.Parallel()
	for _, a := range realagent.Tried(agentrig.All()...) {
		if a.Profile != "claude" {
			continue
		}
		t.Run(a.Name(), func(t *testing.T) {
			t.Parallel()
			test(t, a)
		})
	}
}

// TestProveQueuedMessageThatTheHumanTakesBack stands in their composer when the turn is over, and
// stays there until they send, edit or remove it.
func TestProveQueuedMessageThatTheHumanTakesBack(t *testing.T) {
	for _, does := range []struct{ name, keys, status string }{
		{"sends it", "\r", "delivered"},
		{"edits it", "\x7f", "unknown"},
		{"removes it", "\x1b\x1b", "unknown"},
	} {
		t.Run(does.name, func(t *testing.T) {
			eachClaude(t, func(t *testing.T, a agentrig.Agent) {
				r := startAgent(t, a)
				open := gate(t, r.api, "[relay slow ")
				r.inject("slow", "think of it")
				r.turnWith("[relay slow from bob]")
				r.state("busy")
				r.press("important", "m1", "of note")
				must(t, r.WaitText(patience(t, "what Claude has queued"), "to edit queued"))
				must(t, r.Type("\x1b[A"))
				r.shows("[relay m1 from bob]")
				pause(t, humanPause)
				open()
				r.inject("m2", "after it")
				r.held("m2", "draft", 3*time.Second)
				if got := r.outcome("m1", time.Millisecond); got != "" || len(r.api.Turns()) != 1 {
					t.Fatalf("the message is %q, %d turns; want it in the composer still", got, len(r.api.Turns()))
				}
				must(t, r.Type(does.keys))
				end := r.ends("m1")
				if end.Str("status") != does.status || does.status == "unknown" && !strings.Contains(end.Raw, `"returned"`) {
					t.Fatalf("the human %s: m1 ended as %s, want %s", does.name, end.Raw, does.status)
				}
			})
		})
	}
}
