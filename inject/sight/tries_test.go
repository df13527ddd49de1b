package sight

import (
	"strings"
	"testing"

	"relay-pty/inject/profile"
)

// TestTriesAreSeen: what an agent shows while its API refuses and it tries again by itself, as
// Claude Code 2.1.197 and 2.1.329, Codex 0.169.0 and OpenCode 1.18.33 do, is told from what a
// message or an answer says.
func TestTriesAreSeen(t *testing.T) {
	rule := strings.Repeat("─", 60)
	claude, opencode := named("claude"), named("opencode")
	box := "\n" + rule + "\n❯ @\n" + rule + "\n  ⏸ manual mode on · esc to interrupt"
	codexBox := "\n\n› @\n\n  model · ~/work"
	tui := func(foot string) string {
		return "  ┃\n  ┃  @\n  ┃\n  ┃  Build · Fake fake\n  ╹" + strings.Repeat("▀", 50) + "\n" + foot
	}
	for _, c := range []struct {
		name, painted string
		p             *profile.Profile
		want          bool
	}{
		{"claude", "✻ API error · retrying in 1s · attempt 2/10\n                   ◐ medium · /effort" + box, claude, true},
		{"claude, with its words", "✢ 529 the model can… · Retrying in 12s · attempt 5/10\n  ⎿  If it persists, check your gateway." + box, claude, true},
		{"claude at work", "✻ Cogitating… (3s · ↓ 10 tokens)" + box, claude, false},
		{"a message to claude that says so", "❯ [relay m1 from bob] x\n  ✻ API error · retrying in 1s · attempt 2/10" + box, claude, false},
		{"codex", "• Reconnecting... 2/5 (7s • esc to interrupt)\n  └ Unexpected status 529 <unknown status code>: the model\n    cannot take the request" + codexBox, named("codex"), true},
		{"codex at work", "• Working (7s • esc to interrupt)" + codexBox, named("codex"), false},
		{"a message to codex that says so", "› [relay m1 from bob] x\n  • Reconnecting... 2/5 (7s" + codexBox, named("codex"), false},
		{"opencode", tui("   ⬝the⬝model cannot take the request [\n    retrying in 59m 48s attempt #1]"), opencode, true},
		{"opencode, at once", tui("   ■the⬝model cannot take the request [\n    retrying attempt #1]"), opencode, true},
		{"opencode, in one row", tui("   ⬝⬝⬝⬝⬝■■■ no more today [retrying in 4s attempt #5] e"), opencode, true},
		{"opencode, in a wide terminal", tui("   ■■⬝⬝⬝⬝⬝⬝ Overloaded [retrying attempt #1]      esc interrupt"), opencode, true},
		{"opencode, with many words", tui("   ■Cannot⬝connect to API: The socket connection was closed une… (click to expand) [retrying in 9s\n    #5]"), opencode, true},
		{"opencode, with many words, at once", tui("   ■Cannot⬝connect to API: The socket connection was closed une… (click to expand) [retrying\n    #1]"), opencode, true},
		{"a message to opencode that says so", tui("") + "\n     [retrying in 4s attempt #5] and so on", opencode, false},
		{"opencode at work", tui("   ■■■⬝⬝⬝⬝⬝  esc interrupt"), opencode, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if v := Look(c.p, painted(c.painted)); v.Tries != c.want || !v.Box.Visible {
				t.Errorf("tries: %t, want %t; the composer is %+v", v.Tries, c.want, v.Box)
			}
		})
	}
}
