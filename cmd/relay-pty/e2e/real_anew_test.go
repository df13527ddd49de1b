package e2e

import (
	"slices"
	"strings"
	"testing"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/testrig/term"
	"relay-pty/pty/screen"
)

// TestProveAnotherConversation: what an agent says is heard also in a conversation that its human
// has begun in the same process.
func TestProveAnotherConversation(t *testing.T) {
	eachAgent(t, func(t *testing.T, a agentrig.Agent) {
		r := startAgent(t, a)
		said := []string{"one", "two", "three"}
		var want []string
		for i, word := range said {
			r.api.SetMark(word, "->relay:bob "+word)
			must(t, r.Type("MARK "+word))
			r.shows("MARK " + word)
			r.enter()
			want = append(want, "bob||"+word)
			if got := r.waitCommands(i + 1); !slices.Equal(got, want) {
				t.Fatalf("heard %q, want %q", got, want)
			}
			r.state("ready")
			command := map[string]string{"codex": "/new", "opencode": "/new"}[a.Profile]
			if command == "" {
				command = "/clear"
			}
			must(t, r.Type(command))
			r.shows(command)
			r.enter()
			if a.Profile == "codex" { // asks in which checkout
				must(t, r.WaitText(patience(t, "Codex's question"), "Where should the new conversation run?"))
				r.enter()
			}
			must(t, r.WaitScreen(patience(t, "an empty screen behind "+command), func(s *screen.Screen) bool {
				return !strings.Contains(term.Dump(s), "MARK "+word)
			}))
			r.state("ready")
			pause(t, 3*humanPause) // keys are lost while an agent draws its screen anew
		}
	})
}
