package realagent_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/fakemodel"
	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/realagent"
	"relay-pty/cmd/internal/testrig/term"
	"relay-pty/pty/screen"
)

func TestMain(m *testing.M) {
	testrig.KnownStart()
	os.Exit(m.Run())
}

// session is the real Claude Code on a terminal, at its composer.
type session struct {
	*term.Term
	t   *testing.T
	ctx context.Context
	api *fakemodel.Server
}

func open(t *testing.T) *session {
	t.Helper()
	real := realagent.SetUp(t, agentrig.Claude(agentrig.ClaudeNow), testrig.Dir(t))
	tm := testrig.StartTerm(t, term.Options{Argv: real.Argv, Env: real.Env, Dir: real.Dir})
	s := &session{Term: tm, t: t, ctx: testrig.Within(t, 2*time.Minute), api: real.API}
	s.screen("an empty composer", func(scr *screen.Screen) bool { return boxText(scr) == "" })
	return s
}

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
	if err := s.WaitScreen(s.ctx, want); err != nil {
		s.t.Fatalf("wait for %s: %v\n%s", what, err, s.Screen())
	}
}

// box waits until the composer shows a text.
func (s *session) box(shown string) {
	s.t.Helper()
	want := strings.Join(strings.Fields(shown), "")
	s.screen("the composer to show "+want, func(scr *screen.Screen) bool { return boxText(scr) == want })
}

func (s *session) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatalf("%v\n%s", err, s.Screen())
	}
}

// A fake composer that had other habits than Claude's would prove nothing. Its pastes show as these
// chips, its long drafts scroll under the rule, and Enter while it works queues.
func TestRealClaudeHasTheFakesHabits(t *testing.T) {
	t.Parallel()
	s := open(t)
	long := strings.TrimSuffix(strings.Repeat("row of text, ünï日本\n", 60), "\n")
	for n, c := range []struct{ typed, shown, want string }{
		{paste("hello world"), "hello world", "hello world"},
		{paste(strings.Repeat("x", 801)), "[Pasted text #1]", strings.Repeat("x", 801)},
		{"[head] " + paste(long) + "\n[foot]", "[head] [Pasted text #2 +59 lines] [foot]", "[head] " + long + "\n[foot]"},
		{"[head] " + paste("a\nb\nc") + "\n[foot · …]", "[head] a b c [foot · …]", "[head] a\nb\nc\n[foot · …]"},
	} {
		s.must(s.Type(c.typed))
		s.box(c.shown)
		s.must(s.Type("\r"))
		turn, err := s.api.WaitTurn(s.ctx, func(t fakemodel.Turn) bool { return t.N == n && !t.Open() })
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
	s.must(s.WaitText(s.ctx, "Line 1 of"))
	s.must(s.Type("second"))
	s.box("second")
	s.must(s.Type("\r"))
	s.must(s.WaitText(s.ctx, "Press up to edit queued messages"))
	s.must(s.Type(strings.TrimSuffix(strings.Repeat("typed\n", 12), "\n")))
	s.must(s.WaitText(s.ctx, "─── ↑ 5 more ─"))
	s.screen("no first row", func(scr *screen.Screen) bool { return boxText(scr) == "none" })
}

func paste(s string) string { return "\x1b[200~" + s + "\x1b[201~" }
