package profile

import "testing"

func TestEveryPatternCompiles(t *testing.T) {
	for _, p := range all {
		for _, list := range [][]pattern{p.Busy, p.Dialogs, p.Overlays, p.Asks} {
			for _, rx := range list {
				rx.get() // panics on a bad one
			}
		}
		for _, w := range p.Says {
			w.Pattern.get()
		}
		if c := p.Composer; c != nil {
			for _, rx := range append([]pattern{c.Prompt, c.Floor, c.Shell, c.Edge, c.More, c.Placeholder, p.AskTitle, p.Typing.StashShown}, c.Modes...) {
				if rx != nil {
					rx.get()
				}
			}
		}
	}
}

func TestForCommand(t *testing.T) {
	for command, want := range map[string]string{
		"codex": "codex", "/usr/bin/gemini": "gemini", "opencode": "opencode",
		"claude": "claude", "/usr/local/bin/claude": "claude", "cat": "generic", "claude-code-wrapper": "generic", "./claude": "claude",
	} {
		if got := For(command).Name; got != want {
			t.Errorf("For(%q) = %s, want %s", command, got, want)
		}
	}
	if _, ok := Named("nosuch"); ok {
		t.Error("there is a profile nosuch")
	}
}
