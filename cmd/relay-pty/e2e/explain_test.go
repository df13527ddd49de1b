package e2e

import (
	"strings"
	"testing"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/testrig/agents"
	"relay-pty/inject/agents/rig"
)

// explained asks why the state is what it is, and returns the sign that won.
func (w *wrapped) explained() (by, says string) {
	w.t.Helper()
	f := w.request(fields("explain"))
	wins := 0
	for _, s := range f.Fields["signs"].([]any) {
		s := s.(map[string]any)
		if s["wins"] == true {
			wins++
			by, says = s["name"].(string), s["says"].(string)
		}
	}
	if wins != 1 {
		w.t.Fatalf("%d signs win: %s", wins, f.Raw)
	}
	return by, says
}

// deaf checks that an agent whose composer nobody finds is told as such, and gets nothing.
func (w *wrapped) deaf(words ...string) {
	w.t.Helper()
	w.state("unknown")
	blocked := w.status().Str("blocked_by")
	if by, says := w.explained(); by != "composer" || says != blocked {
		w.t.Errorf("%s decided: %q; blocked by %q", by, says, blocked)
	}
	for _, word := range append(words, "relay screen alice", "relay explain alice", "--agent FILE.json") {
		if !strings.Contains(blocked, word) {
			w.t.Errorf("blocked by %q, which does not say %q", blocked, word)
		}
	}
	w.inject("m1", "hello")
	w.waitsFor("m1", "ready")
}

// TestProgramThatNeverPaintsAComposerIsTold: under a profile that knows one, messages would wait
// for ever, and nobody would know why.
func TestProgramThatNeverPaintsAComposerIsTold(t *testing.T) {
	t.Parallel()
	w, _ := startScript(t, `cat`, "--agent", "claude")
	if by, _ := w.explained(); by != "composer" && by != "process" && by != "terminal" { // the shell may yet start cat
		t.Errorf("at the start %s decides", by)
	}
	w.deaf(`profile claude looks for a row that begins with "[❯>] ", between two rules`)
}

// TestRealClaudeInScreenReaderModeIsTold: it paints no composer then.
func TestRealClaudeInScreenReaderModeIsTold(t *testing.T) {
	t.Parallel()
	reader := func(_ rig.Home, env []string) ([]string, error) { return append(env, "CLAUDE_AX_SCREEN_READER=1"), nil }
	r := begin(t, agentrig.Claude(agentrig.ClaudeNow), []agentrig.Change{reader})
	r.deaf("screen reader mode", "CLAUDE_AX_SCREEN_READER")
	if n := len(r.api.Turns()); n != 0 {
		t.Errorf("%d turns: something was typed", n)
	}
}

// TestExplainNamesWhatDecides: in step with the state.
func TestExplainNamesWhatDecides(t *testing.T) {
	t.Parallel()
	f := startComposer(t, agents.Config{})
	if by, says := f.explained(); by != "composer" || !strings.Contains(says, "on the screen") {
		t.Errorf("a composer that rests: %s decided: %s", by, says)
	}
}
