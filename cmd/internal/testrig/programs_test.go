package testrig

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"relay-pty/cmd/internal/testrig/agents"
	"relay-pty/cmd/internal/testrig/term"
)

func TestLineAgent(t *testing.T) {
	f := launch(t, "line", agents.Config{Prompt: "$ ", Marks: map[string]string{"m": "->relay:bob hi"}})
	f.types("MARK m\n")
	f.shows("$ MARK m\n->relay:bob hi\n$")
	f.types("four\n")
	f.shows("ACK 4 bytes")
	f.wasRead("MARK m\nfour\n")
	f.types("\x04")
	f.exits(0)
	if got := f.kinds(); !slices.Equal(got, []string{"start", "reply", "reply"}) {
		t.Errorf("got events %v", got)
	}
}

func TestEchoAgentReturnsEveryByte(t *testing.T) {
	f := launch(t, "echo", agents.Config{Greeting: "ready"})
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	all[4], all[255] = 255, 4 // C-d last: it ends the agent
	f.types(string(all))
	f.exits(0)
	if got := f.Output(); !bytes.HasSuffix(got, append([]byte("ready"), all...)) {
		t.Errorf("got %q, want to end in all bytes", got)
	}
	f.wasRead(string(all))
}

func TestDeafNeverReads(t *testing.T) {
	for canonical, read := range map[bool]string{false: "hello\r", true: "hello\n"} {
		f := launch(t, "deaf", agents.Config{Canonical: canonical})
		f.types("hello\r")
		must(t, f.WaitUnread(f.ctx, len(read)))
		f.shows("deaf 2\n")
		f.wasRead("")
		if echoed := strings.Contains(f.Screen(), "hello"); echoed != canonical {
			t.Errorf("canonical %v: echoed %v", canonical, echoed)
		}
		f.do("resume", "")
		f.wasRead(read)
	}
	f := launch(t, "deaf", agents.Config{Silent: true})
	text := strings.Repeat("x", 3000)
	f.types(text)
	must(t, f.WaitUnread(f.ctx, len(text)))
	if got := f.Screen(); strings.TrimSpace(got) != "fake deaf" {
		t.Errorf("silent, it shows %q", got)
	}
}

func TestLiarShowsWhatItNeverRead(t *testing.T) {
	for text, conf := range map[string]agents.Config{"❯\u00a0[relay m1]\n  [end m1]": {}, "> [relay m1]\n[end m1]\n>": {Canonical: true}} {
		f := launch(t, "liar", conf)
		f.types("x\r")
		must(t, f.WaitUnread(f.ctx, 2))
		f.do("lie", "[relay m1]\n[end m1]")
		if conf.Canonical {
			text = strings.Replace(text, "> ", "> x\n", 1) // the kernel's echo
		}
		f.shows(text)
		f.wasRead("")
	}
}

func TestFlushDropsWhatWaits(t *testing.T) {
	for name, typed := range map[string]string{"line": "one\ntwo\n", "composer": "one two"} {
		f := launch(t, name, agents.Config{FlushBytes: 2})
		f.do("stall", "")
		f.types(typed)
		must(t, f.WaitUnread(f.ctx, len(typed)))
		f.do("resume", "")
		f.wasRead("on")
		f.types("ab\n")
		f.wasRead("onab")
	}
}

func TestSlowReadsAByteAtATime(t *testing.T) {
	f := launch(t, "slow", agents.Config{})
	must(t, f.Paste("hello"))
	f.shows("❯\u00a0hello")
	f.drafts("abc", "helloabc")
	events, err := f.EventLog()
	must(t, err)
	var drafts []string
	for _, ev := range events[1:] {
		drafts = append(drafts, ev.Text)
	}
	if !slices.Equal(drafts, []string{"hello", "helloa", "helloab", "helloabc"}) {
		t.Errorf("got drafts %q, want the text to grow by a byte", drafts)
	}
}

func TestAgentsStopThemselves(t *testing.T) {
	f := launch(t, "composer", agents.Config{})
	if st := f.do("stop", ""); st.Pid != processOf(t, f.ctx, f.Pid(), "T") {
		t.Errorf("pid %d, want %d", st.Pid, f.Pid())
	}
	f.types("x")
	f.wasRead("")
	must(t, f.Signal(syscall.SIGCONT))
	f.drafts("", "x")
}

// processOf waits until a process is in a state, the third field of /proc/PID/stat.
func processOf(t *testing.T, ctx context.Context, pid int, state string) int {
	t.Helper()
	must(t, poll(ctx, "the process to be "+state, func() (bool, error) {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		_, after, _ := strings.Cut(string(b), ") ")
		return strings.HasPrefix(after, state), err
	}))
	return pid
}

func TestAgentBecomesAnotherProgram(t *testing.T) {
	f := launch(t, "composer", agents.Config{ExitTo: "/bin/sh", AltScreen: true})
	f.types("\x03\x03")
	must(t, f.WaitOutput(f.ctx, func(b []byte) bool { return bytes.HasSuffix(b, []byte("$ ")) }))
	f.types("echo pid $$ ${RELAY_FAKE_AGENT-none}; case $(stty -a) in *' icanon'*) echo; echo ' icanon' ;; esac\n")
	f.shows("\n icanon")
	if !strings.Contains(f.Screen(), fmt.Sprintf("pid %d none", f.Pid())) {
		t.Errorf("want the same process:\n%s", f.Screen())
	}
	f.types("exit 5\n")
	f.exits(5)
}

func TestAgentsTellTheirStateAndRefuseWhatTheyDoNotKnow(t *testing.T) {
	t.Setenv("RELAY_TOKEN", "t0ken")
	for _, name := range []string{"composer", "line", "deaf"} {
		f := launch(t, name, agents.Config{})
		if token, err := f.Token(f.ctx); token != "t0ken" || err != nil {
			t.Errorf("%s: token %q, %v", name, token, err)
		}
		if _, err := f.Do(f.ctx, agents.Command{Cmd: "nonsense"}); err == nil || !strings.Contains(err.Error(), "nonsense") {
			t.Errorf("%s: no such command: got %v", name, err)
		}
		if err := f.Set(f.ctx, map[string]any{"NoSuchField": 1}); err == nil || !strings.Contains(err.Error(), "NoSuchField") {
			t.Errorf("%s: no such field: got %v", name, err)
		}
	}
	a, err := Agent(t.TempDir(), "nobody", agents.Config{})
	must(t, err)
	tm := StartTerm(t, term.Options{Argv: a.EnvArgv()})
	if code, err := tm.Wait(deadline(t)); code != 1 || err != nil || !strings.Contains(tm.Screen(), "no such agent") {
		t.Errorf("exit %d, %v, %q; want 1 and a word why", code, err, tm.Screen())
	}
}
