package agentrig_test

import (
	"strings"
	"testing"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/fakemodel"
	"relay-pty/cmd/internal/testrig/term"
	"relay-pty/pty/screen"
)

// boxText is the composer's text without white space, or "none".
func boxText(scr *screen.Screen) string {
	rows, _ := scr.Size()
	text, in := "", false
	for r := range rows {
		row := scr.Row(r)
		switch {
		case strings.HasPrefix(row, "❯\u00a0"):
			in, text = true, strings.TrimPrefix(row, "❯\u00a0")
		case in && strings.HasPrefix(row, "───"):
			return strings.Join(strings.Fields(text), "")
		case in:
			text += row
		}
	}
	return "none"
}

func (s *session) screen(what string, want func(*screen.Screen) bool) {
	s.t.Helper()
	if err := s.WaitScreen(s.step(), want); err != nil {
		s.t.Fatalf("wait for %s: %v\n%s", what, err, s.Screen())
	}
}

// box waits until the composer shows a text.
func (s *session) box(shown string) {
	s.t.Helper()
	want := strings.Join(strings.Fields(shown), "")
	s.screen("the composer to show "+want, func(scr *screen.Screen) bool { return boxText(scr) == want })
}

// A fake composer that had other habits than Claude's would prove nothing. Its pastes show as these
// chips, its long drafts scroll under the rule, and Enter while it works queues.
func TestRealClaudeHasTheFakesHabits(t *testing.T) {
	t.Parallel()
	s := open(t, agentrig.Claude(agentrig.ClaudeNow))
	s.box("")
	const begin, end = "\x1b[200~", "\x1b[201~" // of a paste
	long := strings.TrimSuffix(strings.Repeat("row of text, ünï日本\n", 60), "\n")
	for n, c := range []struct{ typed, shown, want string }{
		{begin + "hello world" + end, "hello world", "hello world"},
		{begin + strings.Repeat("x", 801) + end, "[Pasted text #1]", strings.Repeat("x", 801)},
		{"[head] " + begin + long + end + "\n[foot]", "[head] [Pasted text #2 +59 lines] [foot]", "[head] " + long + "\n[foot]"},
		{"[head] " + begin + "a\nb\nc" + end + "\n[foot · …]", "[head] a b c [foot · …]", "[head] a\nb\nc\n[foot · …]"},
	} {
		s.must(s.Type(c.typed))
		s.box(c.shown)
		s.must(s.Type("\r"))
		turn, err := s.api.WaitTurn(s.step(), func(t fakemodel.Turn) bool { return t.N == n && !t.Open() })
		s.must(err)
		if got := strings.TrimSpace(fakemodel.Received(turn)); got != c.want {
			t.Errorf("%.30q: received %q, want %q\nraw %q", c.typed, got, c.want, turn.Text)
		}
		s.screen("idle", func(scr *screen.Screen) bool {
			return strings.HasPrefix(scr.Title(), "✳") && boxText(scr) == "" && strings.Contains(term.Dump(scr), "done")
		})
	}
	s.must(s.Type("SLOW 600"))
	s.box("SLOW 600")
	s.must(s.Type("\r"))
	s.must(s.WaitText(s.step(), "Line 1 of"))
	s.must(s.Type("second"))
	s.box("second")
	s.must(s.Type("\r"))
	s.must(s.WaitText(s.step(), "Press up to edit queued messages"))
	s.must(s.Type(strings.TrimSuffix(strings.Repeat("typed\n", 12), "\n")))
	s.must(s.WaitText(s.step(), "─── ↑ 5 more ─"))
	s.screen("no first row", func(scr *screen.Screen) bool { return boxText(scr) == "none" })
}
