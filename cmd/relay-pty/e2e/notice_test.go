package e2e

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig/agents"
	"relay-pty/pty/screen"
)

// A message behind a draft shows in the human's title until it was delivered; the agent's own
// screen knows nothing of it.
func TestNoticeInTheTitle(t *testing.T) {
	t.Parallel()
	f := startFake(t, "composer", agents.Config{BusyMS: 1}, "--agent", "claude", "--draft-timeout", "0", "--notice", "title")
	f.state("ready")
	must(t, f.Type("half a draft"))
	must(t, f.WaitText(patience(t), "half a draft"))
	f.inject("m1", "hello")
	f.inject("m2", "there")
	titled := func(what string, is func(title string) bool) {
		t.Helper()
		last := ""
		if err := f.WaitScreen(patience(t), func(s *screen.Screen) bool { last = s.Title(); return is(last) }); err != nil {
			t.Fatalf("%s: the title is %q: %v", what, last, err)
		}
	}
	titled("two wait", func(title string) bool { return strings.HasPrefix(title, "✉ 2 · ") })
	must(t, f.Type(strings.Repeat("\x7f", len("half a draft"))))
	f.delivers("m1", "submitted", "turn")
	f.delivers("m2", "submitted", "turn")
	titled("none waits", func(title string) bool { return !strings.Contains(title, "✉") })
}

// Messages that begin to wait together are told of once.
func TestNoticeIsGivenOnce(t *testing.T) {
	t.Parallel()
	f := startFake(t, "composer", agents.Config{BusyMS: 1}, "--agent", "claude", "--notice", "osc9")
	f.state("ready")
	f.do(agents.Command{Cmd: "dialog", Text: "make"})
	f.state("blocked")
	f.inject("m1", "hello")
	f.inject("m2", "there")
	f.waitsFor("m2", "dialog")
	must(t, f.Type("\x1b"))
	f.delivers("m1", "submitted", "turn")
	f.delivers("m2", "submitted", "turn")
	if n := bytes.Count(f.Output(), []byte("\x1b]9;alice: a message waits behind a dialog\a")); n != 1 {
		t.Errorf("%d notifications, want one", n)
	}
}

// noticeBeforeTitles is for an agent with --notice title: agents set titles of their own, some
// while they work.
func noticeBeforeTitles(t *testing.T, r *realAgent) {
	must(t, r.Type("half a draft"))
	r.shows("half a draft")
	r.inject("noted", "hello")
	r.held("noted", "draft", 600*time.Millisecond, "human")
	must(t, r.WaitScreen(patience(t), func(s *screen.Screen) bool { return strings.HasPrefix(s.Title(), "✉ 1 · ") }))
	r.enter() // the draft goes, and a turn begins, with titles of its own
	r.turnWith("half a draft")
	r.delivers("noted", "submitted", "turn")
	r.turn("noted", "hello")
	must(t, r.WaitScreen(patience(t), func(s *screen.Screen) bool { return !strings.Contains(s.Title(), "✉") }))
}
