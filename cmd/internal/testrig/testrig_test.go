package testrig

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig/agents"
	"relay-pty/cmd/internal/testrig/term"
	"relay-pty/pty/screen"
)

func TestMain(m *testing.M) { Main(m) }

// deadline bounds a test that fails; no test that passes comes near it.
func deadline(t *testing.T) context.Context {
	t.Helper()
	return Within(t, time.Minute)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// launch starts a fake agent on a terminal and waits until it can be typed at.
func launch(t *testing.T, ctx context.Context, name string, conf agents.Config) (FakeAgent, *Term) {
	t.Helper()
	a, err := Agent(t.TempDir(), name, conf)
	must(t, err)
	tm := StartTerm(t, term.Options{Argv: a.Argv, Env: append(os.Environ(), a.Env...)})
	// The socket is there before the first output.
	err = tm.WaitOutput(ctx, func(b []byte) bool { return len(b) > 0 })
	if err != nil {
		t.Fatalf("%v\n%s", err, tm.Output())
	}
	_, err = a.WaitEvent(ctx, agents.KindStart, 1)
	must(t, err)
	return a, tm
}

func TestComposerTakesAMessage(t *testing.T) {
	for _, alt := range []bool{false, true} {
		ctx := deadline(t)
		a, tm := launch(t, ctx, "composer", agents.Config{AltScreen: alt, Reply: "->relay:{from} [re={id}] <<<{n}>>>"})
		text := "[relay m1 from bob] row 1\nrow 2\nrow 3\nrow 4\n[end m1]"
		must(t, tm.Paste(text))
		must(t, tm.WaitText(ctx, "❯\u00a0[Pasted text #1 +4 lines]"))
		must(t, tm.Type("\r"))
		ev, err := a.WaitEvent(ctx, agents.KindSubmit, 1)
		must(t, err)
		if ev.Text != text {
			t.Errorf("alt %v: submitted %q, want %q", alt, ev.Text, text)
		}
		must(t, tm.WaitText(ctx, fmt.Sprintf("● ->relay:bob [re=m1] <<<%d>>>", len(text))))
		_, err = a.WaitEvent(ctx, agents.KindIdle, 1)
		must(t, err)
		raw, err := a.Read()
		must(t, err)
		if want := "\x1b[200~" + text + "\x1b[201~\r"; string(raw) != want {
			t.Errorf("alt %v: read %q, want %q", alt, raw, want)
		}
		must(t, tm.Type("\x03\x03"))
		if code, err := tm.Wait(ctx); code != 0 || err != nil {
			t.Errorf("alt %v: exit %d, %v; want 0", alt, code, err)
		}
	}
}

func TestComposerRestoresTheTerminal(t *testing.T) {
	ctx := deadline(t)
	a, err := Agent(t.TempDir(), "composer", agents.Config{})
	must(t, err)
	tm := StartTerm(t, term.Options{Argv: []string{"sh", "-c", `read _; "$@"; echo back; exec cat`, "sh", a.Argv[0]}, Env: append(os.Environ(), a.Env...)})
	before, err := tm.Modes()
	must(t, err)
	must(t, tm.Type("\n"))
	if err := tm.WaitText(ctx, "❯\u00a0"); err != nil {
		t.Fatalf("%v\n%s", err, tm.Output())
	}
	during, err := tm.Modes()
	must(t, err)
	_, err = a.Do(ctx, agents.Command{Cmd: "quit"})
	must(t, err)
	must(t, tm.WaitText(ctx, "back"))
	must(t, tm.Type("still here\n"))
	must(t, tm.WaitText(ctx, "still here"))
	must(t, tm.Type("\x04"))
	_, err = tm.Wait(ctx)
	must(t, err)
	after, err := tm.Modes()
	must(t, err)
	if before != after || before == during {
		t.Errorf("before %+v, during %+v, after %+v; want the first and last alike", before, during, after)
	}
}

func TestComposerBusyQueuesAndDialogHolds(t *testing.T) {
	ctx := deadline(t)
	a, tm := launch(t, ctx, "composer", agents.Config{})
	_, err := a.Do(ctx, agents.Command{Cmd: "busy"})
	must(t, err)
	must(t, tm.WaitScreen(ctx, func(s *screen.Screen) bool { return strings.HasPrefix(s.Title(), "◐") }))
	must(t, tm.Type("later"))
	must(t, tm.WaitText(ctx, "❯\u00a0later"))
	must(t, tm.Type("\r"))
	_, err = a.WaitEvent(ctx, agents.KindQueued, 1)
	must(t, err)
	must(t, tm.WaitText(ctx, queuedGhost))
	_, err = a.Do(ctx, agents.Command{Cmd: "dialog", Text: "touch it"})
	must(t, err)
	must(t, tm.WaitText(ctx, "Do you want to proceed?"))
	must(t, tm.Type("x"))
	must(t, tm.Paste("1"))
	_, err = a.WaitEvent(ctx, agents.KindIgnored, 2)
	must(t, err)
	st, err := a.Do(ctx, agents.Command{Cmd: "state"})
	must(t, err)
	if st.Mode != "dialog" {
		t.Errorf("got mode %q, want the dialog still open", st.Mode)
	}
	must(t, tm.Type("\r"))
	ev, err := a.WaitEvent(ctx, agents.KindAnswer, 1)
	must(t, err)
	if ev.Text != "Enter" {
		t.Errorf("answered by %q, want Enter", ev.Text)
	}
	_, err = a.Do(ctx, agents.Command{Cmd: "idle"})
	must(t, err)
	sub, err := a.WaitEvent(ctx, agents.KindSubmit, 1)
	must(t, err)
	if sub.Text != "later" {
		t.Errorf("submitted %q, want what was queued", sub.Text)
	}
}

const queuedGhost = "Press up to edit queued messages"

func TestStalledComposerJoinsEnterToThePaste(t *testing.T) {
	ctx := deadline(t)
	a, tm := launch(t, ctx, "composer", agents.Config{})
	_, err := a.Do(ctx, agents.Command{Cmd: "stall"})
	must(t, err)
	must(t, tm.Paste("hello"))
	awaitUnread := func(n int) {
		for {
			must(t, late(ctx, fmt.Sprintf("%d unread bytes", n)))
			st, err := a.Do(ctx, agents.Command{Cmd: "state"})
			must(t, err)
			if st.Draft != "" {
				t.Fatalf("stalled, yet it read %q", st.Draft)
			}
			if st.Unread >= n {
				return
			}
		}
	}
	pasted := len("\x1b[200~hello\x1b[201~")
	awaitUnread(pasted)
	must(t, tm.Type("\r"))
	awaitUnread(pasted + len("\r"))
	_, err = a.Do(ctx, agents.Command{Cmd: "resume"})
	must(t, err)
	ev, err := a.WaitEvent(ctx, agents.KindDraft, 1)
	must(t, err)
	if ev.Text != "hello\n" {
		t.Errorf("got draft %q, want the Enter inside it", ev.Text)
	}
	must(t, tm.Type("\r"))
	sub, err := a.WaitEvent(ctx, agents.KindSubmit, 1)
	must(t, err)
	if sub.Text != "hello" {
		t.Errorf("submitted %q, want hello", sub.Text)
	}
}

func TestComposerRunsCommandsAndSaysSo(t *testing.T) {
	ctx := deadline(t)
	a, tm := launch(t, ctx, "composer", agents.Config{})
	must(t, tm.Type("/clear"))
	_, err := a.WaitEvent(ctx, agents.KindDraft, 1)
	must(t, err)
	must(t, tm.Type("\r"))
	ev, err := a.WaitEvent(ctx, agents.KindCommand, 1)
	must(t, err)
	if ev.Text != "/clear" {
		t.Errorf("ran %q, want /clear", ev.Text)
	}
}

func TestComposerClearsInClaudesWays(t *testing.T) {
	for _, keys := range []string{"\x1b\x1b", "\x03", "\x15\x15\x15"} {
		ctx := deadline(t)
		a, tm := launch(t, ctx, "composer", agents.Config{})
		must(t, tm.Type("one\ntwo"))
		must(t, tm.WaitText(ctx, "  two"))
		must(t, tm.Type(keys))
		_, err := a.WaitEvent(ctx, agents.KindDraft, 2)
		must(t, err)
		if st, err := a.Do(ctx, agents.Command{Cmd: "state"}); err != nil || st.Draft != "" || st.Mode != "idle" {
			t.Errorf("%q: got %+v, %v; want an empty box", keys, st, err)
		}
	}
}

func TestComposerNeverSilent(t *testing.T) {
	ctx := deadline(t)
	_, tm := launch(t, ctx, "composer", agents.Config{Spin: true, Ghost: "Try this"})
	must(t, tm.WaitText(ctx, "❯\u00a0Try this"))
	n := len(tm.Output())
	must(t, tm.WaitOutput(ctx, func(b []byte) bool { return len(b) > n+100 }))
	must(t, tm.WaitText(ctx, "❯\u00a0Try this"))
}

func TestComposerFollowsResize(t *testing.T) {
	for _, alt := range []bool{false, true} {
		ctx := deadline(t)
		_, tm := launch(t, ctx, "composer", agents.Config{AltScreen: alt})
		must(t, tm.Resize(30, 50))
		must(t, tm.WaitText(ctx, strings.Repeat("─", 50)))
	}
}

func TestLineAgent(t *testing.T) {
	ctx := deadline(t)
	a, tm := launch(t, ctx, "line", agents.Config{Prompt: "$ ", Marks: map[string]string{"m": "->relay:bob hi"}})
	must(t, tm.Type("MARK m\n"))
	must(t, tm.WaitText(ctx, "->relay:bob hi"))
	must(t, tm.Type("four\n"))
	must(t, tm.WaitText(ctx, "ACK 4 bytes"))
	must(t, tm.Type("\x04"))
	if code, err := tm.Wait(ctx); code != 0 || err != nil {
		t.Errorf("exit %d, %v; want 0", code, err)
	}
	evs, err := a.EventLog()
	must(t, err)
	var kinds []string
	for _, ev := range evs {
		kinds = append(kinds, ev.Kind)
	}
	if want := []string{"start", "line", "reply", "line", "reply", "exit"}; !slices.Equal(kinds, want) {
		t.Errorf("got events %v, want %v", kinds, want)
	}
}

func TestEchoAgentReturnsEveryByte(t *testing.T) {
	ctx := deadline(t)
	a, tm := launch(t, ctx, "echo", agents.Config{Greeting: "ready"})
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	all[4], all[255] = 255, 4 // C-d last: it ends the agent
	must(t, tm.Type(string(all)))
	_, err := tm.Wait(ctx)
	must(t, err)
	if got := tm.Output(); !bytes.HasSuffix(got, all) {
		t.Errorf("got %q, want to end in all bytes", got)
	}
	if got, err := a.Read(); err != nil || !bytes.Equal(got, all) {
		t.Errorf("log holds %q, %v; want all bytes", got, err)
	}
}

func TestAgentThroughEnv(t *testing.T) {
	ctx := deadline(t)
	a, err := Agent(t.TempDir(), "line", agents.Config{})
	must(t, err)
	tm := StartTerm(t, term.Options{Argv: a.EnvArgv()})
	must(t, tm.WaitText(ctx, ">"))
}

func TestUnknownAgentFails(t *testing.T) {
	ctx := deadline(t)
	a, err := Agent(t.TempDir(), "nobody", agents.Config{})
	must(t, err)
	tm := StartTerm(t, term.Options{Argv: a.EnvArgv()})
	if code, err := tm.Wait(ctx); code != 1 || err != nil || !strings.Contains(tm.Screen(), "no such agent") {
		t.Errorf("exit %d, %v, %q; want 1 and a word why", code, err, tm.Screen())
	}
}

func TestClient(t *testing.T) {
	ctx := deadline(t)
	path := filepath.Join(t.TempDir(), "s")
	ln, err := net.Listen("unix", path)
	must(t, err)
	defer ln.Close()
	heard := make(chan string, 1)
	go func() {
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		io.WriteString(conn, `{"type":"a","n":1}`+"\n"+`{"type":"inject_result","id":"m1","status":"que`)
		io.WriteString(conn, `ued"}`+"\n")
		b, err := io.ReadAll(conn)
		if err != nil {
			b = []byte(err.Error())
		}
		heard <- string(b)
		conn.Close()
	}()
	c, err := Dial(ctx, path)
	must(t, err)
	defer c.Close()
	f, err := c.WaitStatus(ctx, "m1", "queued")
	must(t, err)
	if f.Num("n") != -1 || f.Str("nothing") != "" || c.Frames()[0].Num("n") != 1 {
		t.Errorf("got %+v, want fields as sent and defaults for absent ones", c.Frames())
	}
	must(t, c.Send(map[string]any{"type": "hello"}))
	must(t, c.CloseWrite())
	select {
	case got := <-heard:
		if got != `{"type":"hello"}`+"\n" {
			t.Errorf("sent %q", got)
		}
	case <-ctx.Done():
		t.Fatalf("wait for what was sent: %v", context.Cause(ctx))
	}
	must(t, c.WaitEOF(ctx))
	if _, err := c.WaitStatus(ctx, "m1", "delivered"); !errors.Is(err, io.EOF) {
		t.Errorf("got %v, want io.EOF", err)
	}
}

func TestClientRefusesALineThatIsNoJSON(t *testing.T) {
	ctx := deadline(t)
	path := filepath.Join(t.TempDir(), "s")
	ln, err := net.Listen("unix", path)
	must(t, err)
	defer ln.Close()
	go func() {
		if conn, err := ln.Accept(); err == nil {
			io.WriteString(conn, "{]\n")
		}
	}()
	c, err := Dial(ctx, path)
	must(t, err)
	defer c.Close()
	if err := c.WaitEOF(ctx); err == nil || !strings.Contains(err.Error(), `{]`) {
		t.Errorf("got %v, want the bad line", err)
	}
}

func TestRequire(t *testing.T) {
	why := errors.New("not there")
	t.Setenv("RELAY_E2E", "")
	list := filepath.Join(t.TempDir(), "list")
	t.Setenv("RELAY_NOT_RUN", list)
	if s := fakeT(t, why); s != "skipped: NOT RUN: claude: not there" {
		t.Errorf("got %q, want it skipped", s)
	}
	if b, err := os.ReadFile(list); err != nil || string(b) != "NOT RUN: claude: not there\n" {
		t.Errorf("list holds %q, %v", b, err)
	}
	t.Run("there", func(t *testing.T) { Require(t, "claude", nil) })
	t.Setenv("RELAY_E2E", "require")
	if s := fakeT(t, why); s != "claude: not there" {
		t.Errorf("required: got %q, want a failure", s)
	}
}

// fakeT runs Require on a T of its own and returns how that ended it.
func fakeT(t *testing.T, why error) string {
	f := &failing{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { f.stopped = recover() != nil }()
		Require(f, "claude", why)
	}()
	<-done
	return f.text
}

type failing struct {
	testing.TB
	text    string
	stopped bool
}

func (f *failing) Helper() {}

func (f *failing) Fatalf(format string, args ...any) {
	f.text = fmt.Sprintf(format, args...)
	panic(f.text)
}

func (f *failing) Skip(args ...any) {
	f.text = "skipped: " + fmt.Sprint(args...)
	panic(f.text)
}

func TestSignalAndHangup(t *testing.T) {
	ctx := deadline(t)
	tm := StartTerm(t, term.Options{Argv: []string{"sh", "-c", "echo up; exec cat"}})
	must(t, tm.WaitText(ctx, "up"))
	must(t, tm.Signal(syscall.SIGTERM))
	if code, err := tm.Wait(ctx); code != 128+15 || err != nil {
		t.Errorf("exit %d, %v; want 143", code, err)
	}
}
