package e2e

import (
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/agents"
	"relay-pty/cmd/internal/testrig/term"
)

func TestCatReceivesAMessageOnce(t *testing.T) {
	t.Parallel()
	w := start(t, term.Options{Argv: []string{"cat"}})
	w.inject("m1", "hello there")
	w.delivers("m1", "echo")
	must(t, w.Type("\x04"))
	if code, err := w.Wait(patience(t, "the end of cat")); err != nil || code != 0 {
		t.Errorf("exit %d, %v", code, err)
	}
	// The kernel echoes it once, and cat says it once.
	if n := strings.Count(string(w.Output()), "hello there"); n != 2 {
		t.Errorf("the text stands in the output %d times, want 2:\n%s", n, w.Output())
	}
}

// TestLineThatCtrlZThrewAwayHoldsNothing: the terminal forgets a half-typed line at Ctrl-Z, so a
// message is not typed into one. With NOFLSH the line stays, and holds.
func TestLineThatCtrlZThrewAwayHoldsNothing(t *testing.T) {
	t.Parallel()
	for setting, held := range map[string]bool{"-noflsh": false, "noflsh": true} {
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			w := start(t, term.Options{Argv: []string{"sh", "-c", "stty " + setting + "; echo set; exec cat"}}, "--agent", "generic")
			must(t, w.WaitText(patience(t), "set"))
			must(t, w.Type("half"))
			must(t, w.WaitText(patience(t), "half"))
			must(t, w.Type("\x1a"))
			must(t, w.WaitText(patience(t), "half^Z"))
			w.inject("m1", "hello there")
			if held {
				w.held("m1", "draft", 2*time.Second)
				must(t, w.Type("\r"))
			}
			w.delivers("m1", "echo")
			if got := strings.Contains(string(w.Output()), "half[relay"); got {
				t.Errorf("the message was typed into a line:\n%s", w.Output())
			}
		})
	}
}

func TestRealPythonReceivesAMessageOnce(t *testing.T) {
	t.Parallel()
	_, err := exec.LookPath("python3")
	testrig.Require(t, "python3", err)
	w := start(t, term.Options{Argv: []string{"python3", "-q", "-i", "-c", "got = []"}}, "--prompt-pattern", "^>>> $")
	w.state("ready")
	w.inject("m1", "hello there")
	w.delivers("m1", "echo")
	w.state("ready")
	must(t, w.Type("print(6*7)\r"))
	must(t, w.WaitText(patience(t), "42"))
	if n := strings.Count(string(w.Output()), "hello there"); n < 1 || n > 2 { // typed, and once more in Python's complaint
		t.Errorf("the text stands in the output %d times:\n%s", n, w.Output())
	}
}

func TestLineProgramReadsExactlyTheMessages(t *testing.T) {
	t.Parallel()
	f := startFake(t, "line", agents.Config{})
	var want strings.Builder
	for i := range runs(10, 50) {
		id, body := fmt.Sprintf("m%d", i), fmt.Sprintf("message %d, 日本語\ttab", i)
		f.inject(id, body)
		f.delivers(id, "echo")
		want.WriteString(text(id, body) + "\n")
	}
	if got := f.read(); got != want.String() {
		t.Errorf("read %q, want %q", got, want.String())
	}
	shown(t, "line program: messages, the bytes it read are exactly these", "%d of %d", runs(10, 50), runs(10, 50))
}

func TestLineTooLongForLineModeFails(t *testing.T) {
	t.Parallel()
	f := startFake(t, "line", agents.Config{})
	f.inject("m1", strings.Repeat("x", 5000))
	if end := f.ends("m1"); end.Str("status") != "failed" || !strings.Contains(end.Raw, "line_too_long") {
		t.Errorf("got %s", end.Raw)
	}
	f.inject("m2", "short")
	f.delivers("m2", "echo")
	if got := f.read(); got != text("m2", "short")+"\n" {
		t.Errorf("read %q", got)
	}
}

func TestReadySignalAndPromptPattern(t *testing.T) {
	t.Parallel()
	// Its second line never falls silent for the idle time, but it says that it is ready.
	script := `echo '->pty:ready'; while read -r x; do echo "got $x"; done`
	w := start(t, term.Options{Argv: []string{"sh", "-c", script}}, "--idle-timeout", "1h")
	w.inject("m1", "hello")
	w.delivers("m1", "echo")

	w = start(t, term.Options{Argv: []string{"sh", "-c", `printf 'wait> '; read x; printf 'NOW> '; cat`}}, "--prompt-pattern", "^NOW> $")
	w.inject("m1", "hello")
	w.held("m1", "ready", time.Second)
	must(t, w.Type("\r"))
	w.delivers("m1", "echo")
}

func TestPasswordPromptHolds(t *testing.T) {
	t.Parallel()
	w := start(t, term.Options{Argv: []string{"sh", "-c", `printf 'Password: '; stty -echo; read x; stty echo; echo; echo "[$x]"; cat`}})
	w.inject("m1", "hello")
	w.held("m1", "dialog", time.Second)
	must(t, w.Type("secret\r"))
	w.delivers("m1", "echo")
	must(t, w.WaitText(patience(t), "[secret]"))
}

func TestProgramWithoutEchoConsumes(t *testing.T) {
	t.Parallel()
	w := start(t, term.Options{Argv: []string{"sh", "-c", `stty -echo; echo go; while read -r x; do echo "${#x} bytes"; done`}})
	w.inject("m1", "hello")
	w.delivers("m1", "consumed")
}

func TestStoppedAgentHolds(t *testing.T) {
	t.Parallel()
	w := start(t, term.Options{Argv: []string{"sh", "-c", `kill -STOP $$; cat`}})
	w.state("stopped")
	w.inject("m1", "hello")
	w.held("m1", "stopped", 300*time.Millisecond)
	must(t, syscall.Kill(int(w.status().Num("pid")), syscall.SIGCONT))
	w.delivers("m1", "echo")
}

func TestMessagesExpireWhileTheyWait(t *testing.T) {
	t.Parallel()
	w := start(t, term.Options{Argv: []string{"cat"}}, "--idle-timeout", "1h")
	must(t, w.client.Send(map[string]any{"type": "inject", "id": "m1", "from": "bob", "body": "x", "timeout_ms": 300}))
	if end := w.ends("m1"); end.Str("status") != "expired" {
		t.Errorf("got %s", end.Raw)
	}
}

// TestWaitingMessagesWhenTheAgentEnds: they wait for the next wrapper of the name, or
// fail where nothing is kept. The exit event is the last in either case.
func TestWaitingMessagesWhenTheAgentEnds(t *testing.T) {
	t.Parallel()
	t.Run("kept", func(t *testing.T) { t.Parallel(); endsWaiting(t, `"code":"shutting_down"`) })
	t.Run("ephemeral", func(t *testing.T) { t.Parallel(); endsWaiting(t, `"code":"agent_exited"`, "--ephemeral") })
}

func endsWaiting(t *testing.T, code string, flags ...string) {
	w := start(t, term.Options{Argv: []string{"sh", "-c", "read x; exit 3"}}, append(flags, "--idle-timeout", "1h")...)
	w.inject("m1", "hello")
	_, err := w.client.WaitStatus(patience(t), "m1", "queued")
	must(t, err)
	must(t, w.Type("\r"))
	if end := w.ends("m1"); !strings.Contains(end.Raw, code) {
		t.Errorf("got %s, want %s", end.Raw, code)
	}
	must(t, w.client.WaitEOF(patience(t, "the end of the connection")))
	frames := w.client.Frames()
	if last := frames[len(frames)-1]; last.Type() != "exit" || last.Num("code") != 3 {
		t.Errorf("the last event is %s", last.Raw)
	}
	if code, err := w.Wait(patience(t, "the end of the wrapper")); err != nil || code != 3 {
		t.Errorf("exit %d, %v", code, err)
	}
}
