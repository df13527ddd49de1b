package e2e

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/agents"
	"relay-pty/cmd/internal/testrig/term"
)

// times runs a failure again and again, each time on an agent of its own, and
// reports how often it ended as stated.
func times(t *testing.T, what string, once func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	n := runs(1, 20)
	t.Run("runs", func(t *testing.T) {
		for i := range n {
			t.Run(fmt.Sprint(i), func(t *testing.T) { t.Parallel(); once(t) })
		}
	})
	shown(t, "failure: "+what, "%d of %d", n, n)
}

// fails waits for a message's end and checks its status and code.
func (w *wrapped) fails(id, status, code string) testrig.Frame {
	w.t.Helper()
	end := w.ends(id)
	if got := end.Str("status"); got != status || !strings.Contains(end.Raw, `"code":"`+code+`"`) {
		w.t.Fatalf("%s: %s want %s (%s)", id, end.Raw, status, code)
	}
	return end
}

// never checks that the agent has read nothing that begins as a message.
func (f *fake) never(id string) {
	f.t.Helper()
	if got := f.read(); strings.Contains(got, "[relay "+id) {
		f.t.Fatalf("the agent read %q", got)
	}
}

// wantSubmits checks what was submitted, all in all.
func (f *fake) wantSubmits(want ...string) {
	f.t.Helper()
	if got := f.submits(); strings.Join(got, "\x00") != strings.Join(want, "\x00") {
		f.t.Fatalf("submitted %q, want %q", got, want)
	}
}

// bodyOnce checks that the body went to the agent exactly once.
func (f *fake) bodyOnce(body string) {
	f.t.Helper()
	if n := strings.Count(f.read(), body); n != 1 {
		f.t.Fatalf("the body was typed %d times: %q", n, f.read())
	}
}

func TestSwallowedEnter(t *testing.T) {
	times(t, "Enter swallowed once => delivered, body typed once", func(t *testing.T) {
		f := startComposer(t, agents.Config{Swallow: 1})
		f.inject("m1", "hello")
		f.delivers("m1", "submitted")
		f.wantSubmits(text("m1", "hello"))
		f.bodyOnce("hello")
	})
}

func TestWedgedComposer(t *testing.T) {
	times(t, "composer takes text, never Enter => failed (stranded), the text removed, the next message arrives", func(t *testing.T) {
		f := startComposer(t, agents.Config{Swallow: -1})
		f.inject("m1", "hello")
		f.fails("m1", "failed", "stranded")
		f.bodyOnce("hello")
		st, err := f.agent.State(patience(t, "the fake agent's state"))
		must(t, err)
		if st.Draft != "" {
			t.Errorf("the composer holds %q", st.Draft)
		}
		must(t, f.agent.Set(patience(t, "a change of the fake agent"), map[string]any{"Swallow": 0}))
		f.inject("m2", "again")
		f.delivers("m2", "submitted")
		f.wantSubmits(text("m2", "again"))
	})
}

func TestDialogBetweenTextAndEnter(t *testing.T) {
	times(t, "dialog between text and Enter => not answered; delivered once the human has", func(t *testing.T) {
		f := startComposer(t, agents.Config{DialogOn: "*"})
		f.inject("m1", "hello")
		f.state("blocked")
		typed := f.read()
		must(t, f.Type("\x1b"))
		f.delivers("m1", "submitted")
		f.wantSubmits(text("m1", "hello"))
		f.bodyOnce("hello")
		if rest := f.read()[len(typed):]; !strings.HasPrefix(rest, "\x1b") {
			t.Errorf("typed %q into the dialog", rest)
		}
	})
}

func TestAgentThatBecomesAShell(t *testing.T) {
	times(t, "agent becomes a shell => nothing typed there, the message waits", func(t *testing.T) {
		f := startComposer(t, agents.Config{ExitTo: "/bin/bash"})
		f.do(agents.Command{Cmd: "quit"})
		f.state("unknown")
		f.inject("m1", "touch canary")
		f.waitsFor("m1", "ready")
		f.held("m1", "ready", 300*time.Millisecond)
	})
}

// A generic program has no composer that would be missed.
func TestProgramThatBecomesAShell(t *testing.T) {
	times(t, "line program becomes a shell => nothing typed there, the message waits", func(t *testing.T) {
		w := start(t, term.Options{Argv: []string{"sh", "-c", "cat; exec bash --norc"}})
		w.inject("m1", "hello")
		w.delivers("m1", "echo")
		must(t, w.Type("\x04"))
		w.state("unknown")
		w.inject("m2", "touch canary")
		w.waitsFor("m2", "ready")
		w.held("m2", "ready", 300*time.Millisecond)
	})
}

func TestEditorInFront(t *testing.T) {
	t.Parallel()
	for group, own := range map[string]bool{"own": true, "same": false} {
		t.Run(group, func(t *testing.T) {
			times(t, "$EDITOR in front ("+group+" process group) => the message waits, the editor reads nothing; then delivered", func(t *testing.T) {
				f := startComposer(t, agents.Config{EditorGroup: own})
				f.do(agents.Command{Cmd: "edit"})
				f.state("unknown")
				f.inject("m1", "hello")
				f.held("m1", "ready", 300*time.Millisecond)
				read, err := f.agent.Child().Read()
				must(t, err)
				if len(read) > 0 {
					t.Fatalf("the editor read %q", read)
				}
				f.do(agents.Command{Cmd: "done"})
				f.delivers("m1", "submitted")
				f.wantSubmits(text("m1", "hello"))
			})
		})
	}
}

func TestStoppedAgent(t *testing.T) {
	times(t, "agent stopped before and while a message is typed => waits; delivered after it continues", func(t *testing.T) {
		f := startComposer(t, agents.Config{})
		pid := f.pid()
		f.do(agents.Command{Cmd: "stop"})
		f.state("stopped")
		f.inject("m1", "hello")
		f.waitsFor("m1", "stopped")
		must(t, syscall.Kill(pid, syscall.SIGCONT))
		f.rests(f.delivers("m1", "submitted"))

		f.do(agents.Command{Cmd: "stall"})
		f.inject("m2", "hello again")
		must(t, f.agent.WaitUnread(patience(t, "m2 in the terminal"), len(text("m2", "hello again"))))
		f.do(agents.Command{Cmd: "stop"})
		must(t, f.Type("typed while it is stopped"))
		f.held("m2", "", 1500*time.Millisecond, "injecting")
		must(t, syscall.Kill(pid, syscall.SIGCONT))
		f.do(agents.Command{Cmd: "resume"})
		f.delivers("m2", "submitted")
		f.wantSubmits(text("m1", "hello"), text("m2", "hello again"))
		must(t, f.WaitText(patience(t), "❯\u00a0typed while it is stopped"))
	})
}

// stopsAmid injects m1, of which the agent leaves some unread, and stops the agent. The loop goes
// on: the state is told, and another message expires on time. Then the agent runs and reads on.
func (f *fake) stopsAmid(body string, unread int) {
	f.t.Helper()
	f.inject("m1", body)
	must(f.t, f.agent.WaitUnread(patience(f.t, "m1 in the terminal"), unread))
	pid := f.pid()
	f.do(agents.Command{Cmd: "stop"})
	f.state("stopped")
	must(f.t, f.client.Send(map[string]any{"type": "inject", "id": "m2", "from": "bob", "body": "too late", "timeout_ms": 200}))
	if end := f.ends("m2"); end.Str("status") != "expired" {
		f.t.Errorf("got %s", end.Raw)
	}
	f.wantStatus(map[string]any{"state": "stopped", "queue_length": 0.0, "injecting": "m1"})
	must(f.t, syscall.Kill(pid, syscall.SIGCONT))
	f.do(agents.Command{Cmd: "resume"})
}

func TestAgentStoppedWithAMessageTyped(t *testing.T) {
	times(t, "agent stopped in the middle of a message => told; another one expires on time", func(t *testing.T) {
		f := startComposer(t, agents.Config{})
		f.do(agents.Command{Cmd: "stall"})
		f.stopsAmid("hello", len("hello"))
		f.delivers("m1", "submitted")
		f.wantSubmits(text("m1", "hello"))
	})
}

func TestAgentStoppedWithAFullTerminal(t *testing.T) {
	times(t, "agent stopped with a part of a message in its full terminal => the same", func(t *testing.T) {
		f := startFake(t, "deaf", agents.Config{Silent: true}, "--agent", "generic")
		f.state("ready")
		body := strings.Repeat("0123456789 ", 5000)
		f.stopsAmid(body, 4000)
		f.fails("m1", "unknown", "no_consume") // it has read all, and shows nothing
		if got := f.read(); !strings.Contains(got, body) {
			t.Errorf("it read %d bytes", len(got))
		}
	})
}

// pid is the agent's process id.
func (f *fake) pid() int {
	f.t.Helper()
	st, err := f.agent.State(patience(f.t, "the fake agent's state"))
	must(f.t, err)
	return st.Pid
}

func TestAgentThatNeverReads(t *testing.T) {
	t.Parallel()
	for name, conf := range map[string]agents.Config{"raw": {Silent: true}, "line mode": {Silent: true, Canonical: true}} {
		t.Run(name, func(t *testing.T) {
			times(t, "agent never reads ("+name+") => failed (no_consume), taken back whole", func(t *testing.T) {
				f := startFake(t, "deaf", conf, "--agent", "generic")
				f.state("ready")
				f.inject("m1", "hello")
				f.fails("m1", "failed", "no_consume")
				f.do(agents.Command{Cmd: "resume"})
				must(t, f.Type("x\r"))
				must(t, f.agent.WaitRead(patience(t, "two bytes that the agent reads"), 2))
				if got := f.read(); !strings.HasPrefix(got, "x") {
					t.Errorf("it read %q", got)
				}
			})
		})
	}
}

func TestAgentThatNeverReadsAndPrints(t *testing.T) {
	times(t, "agent prints without pause and never reads => not ready; the message waits and expires", func(t *testing.T) {
		f := startFake(t, "deaf", agents.Config{}, "--agent", "generic")
		must(t, f.client.Send(map[string]any{"type": "inject", "id": "m1", "from": "bob", "body": "hello", "timeout_ms": 3000}))
		if end := f.ends("m1"); end.Str("status") != "expired" {
			t.Errorf("got %s", end.Raw)
		}
		f.never("m1")
	})
}

func TestAgentThatLies(t *testing.T) {
	t.Parallel()
	for name, conf := range map[string]agents.Config{"raw": {}, "line mode": {Canonical: true}} {
		t.Run(name, func(t *testing.T) {
			times(t, "agent prints our text as if it had read it ("+name+") => failed (no_consume)", func(t *testing.T) {
				f := startFake(t, "liar", conf, "--agent", "generic")
				f.state("ready")
				f.inject("m1", "hello")
				_, err := f.client.WaitStatus(patience(t), "m1", "injecting")
				must(t, err)
				f.do(agents.Command{Cmd: "lie", Text: text("m1", "hello")})
				f.do(agents.Command{Cmd: "lie"})
				f.fails("m1", "failed", "no_consume")
			})
		})
	}
	t.Run("composer", func(t *testing.T) {
		times(t, "composer shows our text without reading it => never delivered", func(t *testing.T) {
			f := startFake(t, "liar", agents.Config{}, "--agent", "claude")
			f.state("ready")
			f.inject("m1", "hello")
			must(t, f.agent.WaitUnread(patience(t, "m1 in the terminal"), len(text("m1", "hello"))))
			f.do(agents.Command{Cmd: "lie", Text: text("m1", "hello")})
			must(t, f.agent.WaitUnread(patience(t, "m1 and Enter in the terminal"), len("\x1b[200~"+text("m1", "hello")+"\x1b[201~\r")))
			f.do(agents.Command{Cmd: "lie"})
			if end := f.ends("m1"); end.Str("status") != "failed" {
				t.Errorf("got %s", end.Raw)
			}
		})
	})
}

func TestAgentThatDropsItsInput(t *testing.T) {
	// A line arrives whole, so what follows its first eight bytes is lost, however fast its writer
	// is.
	times(t, "agent drops unread input after each 8 bytes => unknown (no_consume)", func(t *testing.T) {
		f := startFake(t, "line", agents.Config{FlushBytes: 8})
		f.state("ready")
		f.inject("m1", "hello\nthere\nyou")
		f.fails("m1", "unknown", "no_consume")
		if n := strings.Count(f.read(), "[relay m1"); n > 1 {
			t.Errorf("typed %d times", n)
		}
	})
}

func TestSlowAgent(t *testing.T) {
	times(t, "agent reads a byte at a time and paints late => delivered once, whole", func(t *testing.T) {
		f := startFake(t, "slow", agents.Config{}, "--agent", "claude")
		f.state("ready")
		body := strings.Repeat("a slow one. ", 20)
		f.inject("m1", body)
		f.delivers("m1", "submitted")
		f.wantSubmits(text("m1", body))
		f.bodyOnce(body)
	})
}

func TestAwkwardComposers(t *testing.T) {
	t.Parallel()
	for name, conf := range map[string]agents.Config{
		"paints twice": {Redraw: "twice"}, "repaints all": {Redraw: "clear"}, "wraps anywhere": {HardWrap: true}, "shows pastes whole": {Chips: "never"},
		"history twice": {HistoryTwice: true}, "mouse": {Mouse: true}, "pickers": {Picker: []string{"/clear", "/compact", "@file"}},
		"rewind": {Rewind: true}, "ghost": {Ghost: "Try it"}, "one quit key": {QuitKeys: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := startComposer(t, conf)
			bodies := []string{"hello", "/clear", "see @file", "a\nb @file\n/clear", strings.Repeat("long words here ", 40)}
			if conf.Picker == nil { // then what would be picked is plain text
				bodies = bodies[runs(3, 0):]
			}
			var want []string
			for i, body := range bodies {
				id := fmt.Sprintf("m%d", i)
				f.inject(id, body)
				f.rests(f.delivers(id, "submitted"))
				want = append(want, text(id, body))
			}
			f.wantSubmits(want...)
		})
	}
}
