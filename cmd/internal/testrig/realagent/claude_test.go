package realagent_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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
	cwd string
}

func open(t *testing.T, rows, cols int) *session {
	t.Helper()
	real := realagent.SetUp(t, agentrig.Claude(agentrig.ClaudeNow), testrig.Dir(t))
	tm := testrig.StartTerm(t, term.Options{Argv: real.Argv, Env: real.Env, Dir: real.Dir, Rows: rows, Cols: cols})
	s := &session{Term: tm, t: t, ctx: testrig.Within(t, 2*time.Minute), api: real.API, cwd: real.Dir}
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

func (s *session) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatalf("%v\n%s", err, s.Screen())
	}
}

// submit presses Enter once the composer shows shown, and returns the turn.
func (s *session) submit(shown string) fakemodel.Turn {
	s.t.Helper()
	want := strings.Join(strings.Fields(shown), "")
	s.screen("the composer to show "+want, func(scr *screen.Screen) bool { return boxText(scr) == want })
	n := len(s.api.Turns())
	s.must(s.Type("\r"))
	turn, err := s.api.WaitTurn(s.ctx, func(t fakemodel.Turn) bool { return t.N >= n })
	s.must(err)
	return turn
}

// ended waits until the turn's reply was sent and the composer is idle again.
func (s *session) ended(turn fakemodel.Turn) {
	s.t.Helper()
	_, err := s.api.WaitTurn(s.ctx, func(t fakemodel.Turn) bool { return t.N == turn.N && !t.Open() })
	s.must(err)
	s.screen("idle", func(scr *screen.Screen) bool {
		return strings.HasPrefix(scr.Title(), "✳") && boxText(scr) == "" && strings.Contains(term.Dump(scr), "done")
	})
}

func TestRealPastesArrive(t *testing.T) {
	s := open(t, 24, 80)
	long := strings.TrimSuffix(strings.Repeat("row of text, ünï日本\n", 60), "\n")
	for _, c := range []struct{ typed, pasted, after, shown, want string }{
		{"", "hello world", "", "hello world", "hello world"},
		{"", long, "", "[Pasted text #1 +59 lines]", long},
		{"[head] ", long, "\n[foot]", "[head] [Pasted text #2 +59 lines] [foot]", "[head] " + long + "\n[foot]"},
		{"[head] ", "a\nb", "\n[foot · …]", "[head] a b [foot · …]", "[head] a\nb\n[foot · …]"},
	} {
		s.must(s.Type(c.typed + "\x1b[200~" + c.pasted + "\x1b[201~" + c.after))
		turn := s.submit(c.shown)
		if got := strings.TrimSpace(fakemodel.Received(turn)); got != c.want {
			t.Errorf("%.30q: received %q, want %q\nraw %q", c.pasted, got, c.want, turn.Text)
		}
		s.ended(turn)
	}
	if n := len(s.api.Turns()); n != 4 {
		t.Errorf("got %d turns, want 4", n)
	}
}

func TestRealPermissionDialog(t *testing.T) {
	s := open(t, 24, 80)
	s.must(s.Type("TOUCH made"))
	s.submit("TOUCH made")
	s.must(s.WaitText(s.ctx, "Do you want to proceed?"))
	s.must(s.WaitText(s.ctx, "❯ 1. Yes"))
	if _, err := os.Stat(filepath.Join(s.cwd, "made")); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("the command ran unasked: %v", err)
	}
	s.must(s.PressUntil(s.ctx, "\r", time.Second, func(scr *screen.Screen) bool { return boxText(scr) != "none" }))
	turn, err := s.api.WaitTurn(s.ctx, func(t fakemodel.Turn) bool { return len(t.Results) > 0 })
	s.must(err)
	if len(turn.Text) != 0 {
		t.Errorf("got text %q beside the result", turn.Text)
	}
	if _, err := os.Stat(filepath.Join(s.cwd, "made")); err != nil {
		t.Errorf("the command did not run: %v", err)
	}
	s.ended(turn)
}

func TestRealLongReplyAndMarkers(t *testing.T) {
	s := open(t, 24, 80)
	s.api.SetMark("one", "before\n\n->relay:bob <<<Hello Bob,\nsecond line>>>\n\nafter")
	s.must(s.Type("LONG 300"))
	turn := s.submit("LONG 300")
	s.must(s.WaitText(s.ctx, "Line 300 of 300"))
	s.ended(turn)
	s.must(s.Type("MARK one"))
	turn = s.submit("MARK one")
	s.must(s.WaitText(s.ctx, "->relay:bob <<<Hello Bob,"))
	s.ended(turn)
	s.must(s.Type("TOOL 0"))
	s.submit("TOOL 0")
	turn, err := s.api.WaitTurn(s.ctx, func(t fakemodel.Turn) bool { return len(t.Results) > 0 })
	s.must(err)
	s.ended(turn)
}

func TestRealInterruptAbortsAndQueueWaits(t *testing.T) {
	s := open(t, 40, 100)
	s.must(s.Type("SLOW 600"))
	turn := s.submit("SLOW 600")
	s.must(s.WaitText(s.ctx, "Line 1 of"))
	s.must(s.Type("second"))
	s.screen("the draft", func(scr *screen.Screen) bool { return boxText(scr) == "second" })
	s.must(s.Type("\r"))
	s.must(s.WaitText(s.ctx, "Press up to edit queued messages"))
	if n := len(s.api.Turns()); n != 1 {
		t.Errorf("got %d turns while the first runs, want 1", n)
	}
	s.must(s.Type("\x1b"))
	ended, err := s.api.WaitTurn(s.ctx, func(t fakemodel.Turn) bool { return t.N == turn.N && !t.Open() })
	s.must(err)
	if !ended.Aborted {
		t.Error("the interrupted turn is not logged as aborted")
	}
	next, err := s.api.WaitTurn(s.ctx, func(t fakemodel.Turn) bool { return t.N > turn.N })
	s.must(err)
	if !strings.Contains(fakemodel.Received(next), "second") {
		t.Errorf("got %q, want the queued message", next.Text)
	}
}

func TestRealComposerScrollsAsTheFakeDoes(t *testing.T) {
	s := open(t, 24, 80)
	var lines []string
	for range 12 {
		lines = append(lines, "typed")
	}
	s.must(s.Type(strings.Join(lines, "\n")))
	s.must(s.WaitText(s.ctx, "─── ↑ 5 more ─"))
	s.screen("no first row", func(scr *screen.Screen) bool { return boxText(scr) == "none" })
}
