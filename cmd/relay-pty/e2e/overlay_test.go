package e2e

import (
	"testing"

	"relay-pty/cmd/internal/testrig/agents"
)

// A composer that no profile knows, made known by an overlay: messages arrive,
// dialogs and drafts hold them, and its name is what status tells.
func TestOverlayMakesAnUnknownComposerKnown(t *testing.T) {
	t.Parallel()
	file := overlay(t, `{"name":"stranger","prompt":"❯\u00a0","busy":["esc to interrupt"],"dialog":["Do you want to "],"clear":["C-u"],"newline":"C-j"}`)
	f := startFake(t, "composer", agents.Config{Ghost: "Ask anything"}, "--agent", file)
	f.state("ready")
	f.inject("m1", "one line")
	f.delivers("m1", "submitted")
	f.inject("m2", "two\nlines")
	f.delivers("m2", "submitted")
	f.state("ready")

	f.do(agents.Command{Cmd: "dialog", Text: "rm -rf"})
	f.state("blocked")
	if s := f.status(); s.Str("agent") != "stranger" {
		t.Errorf("status tells %q, want the overlay's name: %s", s.Str("agent"), s.Raw)
	}
	got := f.submits()
	if len(got) != 2 || got[0] != text("m1", "one line") || got[1] != text("m2", "two\nlines") {
		t.Errorf("submitted %q", got)
	}
}
