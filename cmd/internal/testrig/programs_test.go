package testrig

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"relay-pty/cmd/internal/testrig/agents"
	"relay-pty/cmd/internal/testrig/term"
	"relay-pty/pty/screen"
)

// kinds lists the events of the given kinds, as "kind text".
func kinds(t *testing.T, a FakeAgent, want ...string) []string {
	t.Helper()
	all, err := a.EventLog()
	must(t, err)
	var out []string
	for _, ev := range all {
		if slices.Contains(want, ev.Kind) {
			out = append(out, strings.TrimRight(ev.Kind+" "+ev.Text, " "))
		}
	}
	return out
}

func wantRead(t *testing.T, a FakeAgent, want string) {
	t.Helper()
	got, err := a.Read()
	must(t, err)
	if string(got) != want {
		t.Errorf("read %q, want %q", got, want)
	}
}

func TestDeafPrintsAndNeverReads(t *testing.T) {
	for _, canonical := range []bool{false, true} {
		ctx := deadline(t)
		a, tm := launch(t, ctx, "deaf", agents.Config{EveryMS: 1, Lines: 3, Canonical: canonical})
		must(t, tm.WaitText(ctx, "deaf 3"))
		must(t, tm.Type("hello\r"))
		must(t, a.WaitUnread(ctx, len("hello\r")))
		wantRead(t, a, "")
		if canonical { // the kernel echoes
			must(t, tm.WaitText(ctx, "hello"))
		} else if strings.Contains(tm.Screen(), "hello") {
			t.Errorf("it echoed:\n%s", tm.Screen())
		}
		st, err := a.Do(ctx, agents.Command{Cmd: "read"})
		must(t, err)
		if st.Canonical != canonical || st.Stalled {
			t.Errorf("got %+v, want canonical %v and reading", st, canonical)
		}
		must(t, a.WaitRead(ctx, len("hello\r")))
		wantRead(t, a, map[bool]string{false: "hello\r", true: "hello\n"}[canonical])
		if n := strings.Count(string(tm.Output()), "deaf "); n != 3 {
			t.Errorf("printed %d lines, want 3", n)
		}
	}
}

func TestDeafFillsItsTerminal(t *testing.T) {
	ctx := deadline(t)
	a, tm := launch(t, ctx, "deaf", agents.Config{Lines: -1})
	text := strings.Repeat("x", 3000)
	must(t, tm.Type(text))
	must(t, a.WaitUnread(ctx, len(text)))
	_, err := a.Do(ctx, agents.Command{Cmd: "read"})
	must(t, err)
	must(t, a.WaitRead(ctx, len(text)))
	wantRead(t, a, text)
}

func TestLiarShowsWhatItNeverRead(t *testing.T) {
	text := "[relay m1 from bob] hi\n[end m1]"
	ctx := deadline(t)
	a, tm := launch(t, ctx, "liar", agents.Config{})
	must(t, tm.WaitText(ctx, "❯\u00a0"))
	must(t, tm.Type("typed"))
	must(t, a.WaitUnread(ctx, len("typed")))
	_, err := a.Do(ctx, agents.Command{Cmd: "lie", Text: text})
	must(t, err)
	must(t, tm.WaitText(ctx, "❯\u00a0[relay m1 from bob] hi\n  [end m1]"))
	_, err = a.Do(ctx, agents.Command{Cmd: "busy"})
	must(t, err)
	st, err := a.Do(ctx, agents.Command{Cmd: "lie"})
	must(t, err)
	must(t, tm.WaitScreen(ctx, func(s *screen.Screen) bool {
		return strings.HasPrefix(s.Title(), "◐") && !strings.Contains(term.Dump(s), "[end m1]")
	}))
	if st.Draft != "" || st.Read != 0 || st.Unread != len("typed") || st.Mode != "busy" {
		t.Errorf("got %+v, want an empty box over unread input", st)
	}
	wantRead(t, a, "")

	a, tm = launch(t, ctx, "liar", agents.Config{Canonical: true, Prompt: "$ "})
	must(t, tm.WaitText(ctx, "$"))
	_, err = a.Do(ctx, agents.Command{Cmd: "lie", Text: "[end m1]"})
	must(t, err)
	must(t, tm.WaitText(ctx, "$ [end m1]\n$"))
	wantRead(t, a, "")
}

// typedAhead starts an agent behind a shell that lets it go only when text
// stands in the terminal already.
func typedAhead(t *testing.T, name string, conf agents.Config, text string) (FakeAgent, *Term) {
	t.Helper()
	ctx := deadline(t)
	dir := t.TempDir()
	a, err := Agent(dir, name, conf)
	must(t, err)
	gate := filepath.Join(dir, "gate")
	must(t, syscall.Mkfifo(gate, 0o600))
	tm := StartTerm(t, term.Options{
		Argv: []string{"sh", "-c", `echo armed; read _ <"$0"; exec "$@"`, gate, a.Argv[0]},
		Env:  append(os.Environ(), a.Env...),
	})
	must(t, tm.WaitText(ctx, "armed"))
	must(t, tm.Type(text))
	must(t, tm.WaitText(ctx, strings.TrimSpace(text))) // the line discipline has it
	must(t, os.WriteFile(gate, []byte("\n"), 0))
	must(t, tm.WaitOutput(ctx, func(b []byte) bool {
		return bytes.Contains(b, []byte("> ")) || bytes.Contains(b, []byte("❯"))
	}))
	_, err = a.WaitEvent(ctx, agents.KindStart, 1)
	must(t, err)
	return a, tm
}

func TestTypeAheadIsKeptOrFlushedAtStart(t *testing.T) {
	for _, c := range []struct {
		name string
		conf agents.Config
		lost bool
	}{
		{"line", agents.Config{}, false},
		{"flusher", agents.Config{}, true},
		{"composer", agents.Config{}, false},
		{"composer", agents.Config{FlushStart: true}, true},
	} {
		ctx := deadline(t)
		text := "ahead"
		if c.name != "composer" {
			text = "ahead\n"
		}
		a, tm := typedAhead(t, c.name, c.conf, text)
		if !c.lost {
			must(t, a.WaitRead(ctx, len(text)))
			wantRead(t, a, text)
			continue
		}
		must(t, tm.Type("after\n"))
		must(t, a.WaitRead(ctx, len("after\n")))
		wantRead(t, a, "after\n")
		if st, err := a.State(ctx); err != nil || st.Flushed != 1 {
			t.Errorf("%s: flushed %d times, %v; want once", c.name, st.Flushed, err)
		}
	}
}

func TestFlusherDropsWhatWaits(t *testing.T) {
	for _, c := range []struct {
		name, agent string
		conf        agents.Config
		typed, read string
		unread      int
	}{
		{"after each line", "flusher", agents.Config{FlushLines: 1}, "one\ntwo\nthree\n", "one\n", 14},
		{"after two lines", "flusher", agents.Config{FlushLines: 2}, "one\ntwo\nthree\n", "one\ntwo\n", 14},
		{"after some bytes", "flusher", agents.Config{FlushBytes: 2}, "one\ntwo\n", "on", 8},
		{"in a composer", "composer", agents.Config{FlushBytes: 5}, "hello world", "hello", 11},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx := deadline(t)
			a, tm := launch(t, ctx, c.agent, c.conf)
			before, err := a.Do(ctx, agents.Command{Cmd: "stall"})
			must(t, err)
			must(t, tm.Type(c.typed))
			must(t, a.WaitUnread(ctx, c.unread))
			_, err = a.Do(ctx, agents.Command{Cmd: "resume"})
			must(t, err)
			_, err = a.WaitEvent(ctx, agents.KindFlush, before.Flushed+1)
			must(t, err)
			if st, err := a.State(ctx); err != nil || st.Unread != 0 {
				t.Errorf("%d bytes unread, %v; want none", st.Unread, err)
			}
			wantRead(t, a, c.read)
		})
	}
}

func TestFlushOnCommand(t *testing.T) {
	ctx := deadline(t)
	a, tm := launch(t, ctx, "composer", agents.Config{})
	_, err := a.Do(ctx, agents.Command{Cmd: "stall"})
	must(t, err)
	must(t, tm.Type("lost"))
	must(t, a.WaitUnread(ctx, 4))
	st, err := a.Do(ctx, agents.Command{Cmd: "flush"})
	must(t, err)
	if st.Unread != 0 || st.Flushed != 1 {
		t.Errorf("got %+v, want all dropped", st)
	}
	_, err = a.Do(ctx, agents.Command{Cmd: "resume"})
	must(t, err)
	must(t, tm.Type("kept"))
	must(t, a.WaitRead(ctx, 4))
	wantRead(t, a, "kept")
}

func TestEditorHandsItsTerminalToAJob(t *testing.T) {
	ctx := deadline(t)
	a, tm := launch(t, ctx, "editor", agents.Config{})
	must(t, tm.WaitText(ctx, "$"))
	must(t, tm.Type("edit\n"))
	ev, err := a.WaitEvent(ctx, agents.KindEdit, 1)
	must(t, err)
	st, err := a.State(ctx)
	must(t, err)
	if strconv.Itoa(st.Child) != ev.Text || st.Foreground != st.Child || st.Group == st.Child || st.Mode != "edit" || st.Canonical {
		t.Errorf("got %+v, want the child %s in front and the terminal raw", st, ev.Text)
	}
	must(t, tm.Type("to the child\x03"))
	must(t, a.Child().WaitRead(ctx, len("to the child\x03")))
	must(t, tm.WaitScreen(ctx, func(s *screen.Screen) bool {
		return s.Modes().AltScreen && strings.HasPrefix(term.Dump(s), "fake editor\nto the child\n")
	}))
	st, err = a.Do(ctx, agents.Command{Cmd: "done"})
	must(t, err)
	if st.Foreground != st.Group || st.Child != 0 || st.Flushed != 1 || !st.Canonical || !st.Echo {
		t.Errorf("got %+v, want the terminal taken back", st)
	}
	must(t, tm.Type("mine\n"))
	_, err = a.WaitEvent(ctx, agents.KindLine, 2)
	must(t, err)
	wantRead(t, a, "edit\nmine\n")
	wantRead(t, a.Child(), "to the child\x03")
	if got := kinds(t, a, "line", "edit", "back"); !slices.Equal(got, []string{"line edit", "edit " + ev.Text, "back", "line mine"}) {
		t.Errorf("got events %q", got)
	}
}

func TestEditorThatEndsByItselfGivesTheTerminalBack(t *testing.T) {
	for _, group := range []string{agents.OwnGroup, agents.SameGroup} {
		ctx := deadline(t)
		a, tm := launch(t, ctx, "editor", agents.Config{EditorGroup: group})
		st, err := a.Do(ctx, agents.Command{Cmd: "edit"})
		must(t, err)
		if own := st.Foreground != st.Group; own != (group == agents.OwnGroup) {
			t.Errorf("%s group: got %+v", group, st)
		}
		must(t, tm.Type("\x18"))
		_, err = a.WaitEvent(ctx, agents.KindBack, 1)
		must(t, err)
		must(t, tm.Type("mine\n"))
		_, err = a.WaitEvent(ctx, agents.KindLine, 1)
		must(t, err)
		if _, err := a.Do(ctx, agents.Command{Cmd: "done"}); err == nil {
			t.Error("done without a child: no error")
		}
	}
}

func TestInputThatTheChildDidNotReadIsLost(t *testing.T) {
	ctx := deadline(t)
	a, tm := launch(t, ctx, "editor", agents.Config{})
	st, err := a.Do(ctx, agents.Command{Cmd: "edit"})
	must(t, err)
	must(t, syscall.Kill(st.Child, syscall.SIGSTOP))
	for processState(t, st.Child) != "T" {
		must(t, late(ctx, "the child to stop"))
	}
	must(t, tm.Type("lost"))
	must(t, a.WaitUnread(ctx, len("lost")))
	must(t, syscall.Kill(st.Child, syscall.SIGKILL))
	_, err = a.WaitEvent(ctx, agents.KindBack, 1)
	must(t, err)
	must(t, tm.Type("mine\n"))
	_, err = a.WaitEvent(ctx, agents.KindLine, 1)
	must(t, err)
	wantRead(t, a, "mine\n")
	wantRead(t, a.Child(), "")
}

func TestComposerHandsItsTerminalToAnEditor(t *testing.T) {
	for alt, group := range map[bool]string{false: "", true: agents.OwnGroup} {
		ctx := deadline(t)
		a, tm := launch(t, ctx, "composer", agents.Config{AltScreen: alt, EditorGroup: group})
		must(t, tm.Type("a draft"))
		must(t, tm.WaitText(ctx, "❯\u00a0a draft"))
		must(t, tm.Type("\x07"))
		_, err := a.WaitEvent(ctx, agents.KindEdit, 1)
		must(t, err)
		st, err := a.State(ctx)
		must(t, err)
		if (st.Foreground == st.Group) != (group == "") || st.Mode != "edit" || st.Draft != "a draft" {
			t.Errorf("group %q: got %+v, want the agent's own unless said otherwise", group, st)
		}
		must(t, tm.Type("typed"))
		must(t, tm.WaitScreen(ctx, func(s *screen.Screen) bool {
			return !s.Modes().BracketedPaste && strings.HasPrefix(term.Dump(s), "fake editor\ntyped\n")
		}))
		must(t, tm.Resize(30, 60)) // unheard by a composer whose group is in the background
		st, err = a.Do(ctx, agents.Command{Cmd: "done"})
		must(t, err)
		if st.Size.Rows != 30 || st.Size.Cols != 60 {
			t.Errorf("group %q: back with size %+v, want 30 rows of 60", group, st.Size)
		}
		must(t, tm.WaitScreen(ctx, func(s *screen.Screen) bool {
			return s.Modes().BracketedPaste && s.Modes().AltScreen == alt && strings.Contains(term.Dump(s), "❯\u00a0a draft")
		}))
		must(t, tm.WaitText(ctx, strings.Repeat("─", 60)))
		must(t, tm.Type("!"))
		_, err = a.WaitEvent(ctx, agents.KindDraft, 2)
		must(t, err)
		wantRead(t, a, "a draft\x07!")
		wantRead(t, a.Child(), "typed")
	}
}

func TestAskLogsWhatAnswersIt(t *testing.T) {
	for _, c := range []struct {
		ask, shown, typed, answer, echo string
	}{
		{"yn", "Continue? [y/N]", "y\n", "y", "Continue? [y/N] y"},
		{"yn", "Continue? [y/N]", "[relay m1 from bob] hi\n", "[relay m1 from bob] hi", "Continue? [y/N] [relay m1"},
		{"password", "Password:", "secret\n", "secret", "Password:\n>"},
		{"key", "Press any key to continue . . .", "k", "k", "continue . . .\n>"},
		{"Your name? ", "Your name?", "bob\n", "bob", "Your name? bob"},
	} {
		ctx := deadline(t)
		a, tm := launch(t, ctx, "ask", agents.Config{})
		st, err := a.Do(ctx, agents.Command{Cmd: "ask", Text: c.ask})
		must(t, err)
		if st.Mode != "ask" || st.Echo != (c.ask != "password" && c.ask != "key") || st.Canonical != (c.ask != "key") {
			t.Errorf("%s: got %+v", c.ask, st)
		}
		must(t, tm.WaitText(ctx, c.shown))
		must(t, tm.Type(c.typed))
		ev, err := a.WaitEvent(ctx, agents.KindAnswer, 1)
		must(t, err)
		if ev.Text != c.answer {
			t.Errorf("%s: answered %q, want %q", c.ask, ev.Text, c.answer)
		}
		must(t, tm.WaitText(ctx, c.echo))
		if strings.Contains(tm.Screen(), "secret") {
			t.Errorf("the password shows:\n%s", tm.Screen())
		}
		must(t, tm.Type("next\n"))
		ev, err = a.WaitEvent(ctx, agents.KindLine, 1)
		must(t, err)
		if st, err := a.State(ctx); err != nil || ev.Text != "next" || !st.Echo || !st.Canonical || st.Mode != "idle" {
			t.Errorf("%s: then read %q in %+v, %v", c.ask, ev.Text, st, err)
		}
	}
}

func TestAskAtStart(t *testing.T) {
	ctx := deadline(t)
	a, tm := launch(t, ctx, "ask", agents.Config{Ask: "password"})
	must(t, tm.WaitText(ctx, "Password:"))
	must(t, tm.Type("pw\n"))
	ev, err := a.WaitEvent(ctx, agents.KindAnswer, 1)
	must(t, err)
	if ev.Text != "pw" {
		t.Errorf("answered %q", ev.Text)
	}
	if _, err := a.Do(ctx, agents.Command{Cmd: "ask", Text: "yn"}); err != nil {
		t.Error(err)
	}
	if _, err := a.Do(ctx, agents.Command{Cmd: "ask", Text: "yn"}); err == nil {
		t.Error("a second question before the answer: no error")
	}
}

func TestSlowReadsAByteAtATime(t *testing.T) {
	ctx := deadline(t)
	a, tm := launch(t, ctx, "slow", agents.Config{})
	must(t, tm.Paste("hello"))
	must(t, tm.WaitText(ctx, "❯\u00a0hello"))
	must(t, tm.Type("abc\r"))
	ev, err := a.WaitEvent(ctx, agents.KindSubmit, 1)
	must(t, err)
	if ev.Text != "helloabc" {
		t.Errorf("submitted %q", ev.Text)
	}
	_, err = a.WaitEvent(ctx, agents.KindDraft, 5)
	must(t, err)
	if got := kinds(t, a, "draft"); !slices.Equal(got, []string{"draft hello", "draft helloa", "draft helloab", "draft helloabc", "draft"}) {
		t.Errorf("got %q, want the text to grow by a byte", got)
	}
	must(t, a.Set(ctx, map[string]any{"read_bytes": 0, "read_ms": 0, "paint_ms": 0}))
	must(t, tm.Type("fast"))
	_, err = a.WaitEvent(ctx, agents.KindDraft, 6)
	must(t, err)
	if got := kinds(t, a, "draft"); got[5] != "draft fast" {
		t.Errorf("got %q, want it in one read", got[5])
	}
}

func TestAgentsStopThemselves(t *testing.T) {
	for _, name := range []string{"composer", "line", "deaf"} {
		ctx := deadline(t)
		a, tm := launch(t, ctx, name, agents.Config{})
		st, err := a.Do(ctx, agents.Command{Cmd: "stop"})
		must(t, err)
		if st.Pid != tm.Pid() {
			t.Errorf("%s: pid %d, want %d", name, st.Pid, tm.Pid())
		}
		for processState(t, st.Pid) != "T" {
			must(t, late(ctx, name+" to stop"))
		}
		must(t, tm.Type("x"))
		must(t, tm.Signal(syscall.SIGCONT))
		_, err = a.WaitEvent(ctx, agents.KindCont, 1)
		must(t, err)
		if got := kinds(t, a, "stop", "cont"); !slices.Equal(got, []string{"stop", "cont"}) {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

// late is an error once ctx has ended.
func late(ctx context.Context, what string) error {
	if ctx.Err() == nil {
		return nil
	}
	return fmt.Errorf("wait for %s: %w", what, context.Cause(ctx))
}

// processState is the third field of /proc/PID/stat.
func processState(t *testing.T, pid int) string {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	must(t, err)
	_, after, _ := strings.Cut(string(b), ") ")
	return after[:1]
}

func TestAgentsExitToAShell(t *testing.T) {
	t.Setenv("PS1", "another> ")
	for _, name := range []string{"composer", "line", "deaf"} {
		ctx := deadline(t)
		a, tm := launch(t, ctx, name, agents.Config{AltScreen: true})
		_, err := a.Do(ctx, agents.Command{Cmd: "shell"})
		must(t, err)
		must(t, tm.WaitOutput(ctx, func(b []byte) bool { return bytes.HasSuffix(b, []byte("$ ")) }))
		must(t, tm.Type("echo pid $$ ${RELAY_FAKE_AGENT-none}; test -t 0 && stty -a | tr ';' '\\n' | grep -o ' icanon'\n"))
		if err := tm.WaitText(ctx, fmt.Sprintf("pid %d none", tm.Pid())); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, tm.Screen())
		}
		must(t, tm.WaitText(ctx, " icanon"))
		must(t, tm.Type("exit 5\n"))
		if code, err := tm.Wait(ctx); code != 5 || err != nil {
			t.Errorf("%s: exit %d, %v; want the shell's own", name, code, err)
		}
		if got := kinds(t, a, "exit", "exec"); !slices.Equal(got, []string{"exit", "exec /bin/sh"}) {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

func TestExitToAnotherProgram(t *testing.T) {
	ctx := deadline(t)
	_, tm := launch(t, ctx, "composer", agents.Config{ExitTo: "/bin/cat"})
	must(t, tm.Type("\x03\x03"))
	for raw := true; raw; {
		var err error
		raw, err = tm.Raw()
		must(t, cmp.Or(err, late(ctx, "line mode")))
	}
	must(t, tm.Type("for cat\n\x04"))
	must(t, tm.WaitText(ctx, "for cat\nfor cat")) // its echo, and cat's own word
	if code, err := tm.Wait(ctx); code != 0 || err != nil {
		t.Errorf("exit %d, %v", code, err)
	}
}

func TestAgentsTellTheirStateAndRefuseWhatTheyDoNotKnow(t *testing.T) {
	for _, name := range []string{"composer", "slow", "liar", "deaf", "line", "flusher", "editor", "ask"} {
		ctx := deadline(t)
		t.Setenv("RELAY_TOKEN", "t0ken")
		t.Setenv("RIG_OTHER", "o")
		a, tm := launch(t, ctx, name, agents.Config{Env: []string{"RIG_OTHER", "RIG_ABSENT"}})
		must(t, tm.Resize(30, 100))
		st, err := a.State(ctx)
		must(t, err)
		for name != "deaf" && st.Size.Cols != 100 { // a composer learns it by a signal
			must(t, late(ctx, name+" to learn its size"))
			st, err = a.State(ctx)
			must(t, err)
		}
		if !st.OK || st.Mode != "idle" || st.Size.Rows != 30 || st.Group != st.Foreground || st.Env["RIG_OTHER"] != "o" {
			t.Errorf("%s: got %+v", name, st)
		}
		if _, ok := st.Env["RIG_ABSENT"]; ok {
			t.Errorf("%s: tells a variable that is not set", name)
		}
		if token, err := a.Token(ctx); token != "t0ken" || err != nil {
			t.Errorf("%s: token %q, %v", name, token, err)
		}
		if _, err := a.Do(ctx, agents.Command{Cmd: "nonsense"}); err == nil || !strings.Contains(err.Error(), "nonsense") {
			t.Errorf("%s: no such command: got %v", name, err)
		}
		if err := a.Set(ctx, map[string]any{"no_such_knob": 1}); err == nil || !strings.Contains(err.Error(), "no_such_knob") {
			t.Errorf("%s: no such knob: got %v", name, err)
		}
	}
}
