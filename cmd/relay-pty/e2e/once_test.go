package e2e

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// onceProgram goes by an agent's name. It copies what it reads, and ends as its last argument says;
// or it tells by its status whether it has a terminal; or it waits for a signal, and tells which
// came.
const onceProgram = `#!/bin/sh
case "$2" in
tty) [ -t 0 ] && [ -t 1 ] && [ -t 2 ]; exit ;;
wait) trap 'echo term; exit 7' TERM; trap 'echo int; exit 8' INT; trap 'echo hup; exit 9' HUP; echo up; while read -r x; do :; done ;;
kill) kill -KILL $$ ;;
*) cat; echo "<$*>" >&2; exit "$2" ;;
esac
`

// onceAgent is that program, and a wrapper's command line with it behind.
func onceAgent(t *testing.T) (argv, env []string) {
	t.Helper()
	dir := scratch(t)
	program := filepath.Join(dir, "claude")
	must(t, os.WriteFile(program, []byte(onceProgram), 0o700))
	argv = []string{binary(t), "--name", "p", "--socket", filepath.Join(dir, "s"), "--ephemeral", "--", program}
	return argv, append(os.Environ(), "XDG_RUNTIME_DIR="+dir, "XDG_STATE_HOME="+dir)
}

// TestCommandThatDoesOneThingHasOurFiles: bytes that a terminal would change, both outputs apart,
// and the exit status are those of the command alone.
func TestCommandThatDoesOneThingHasOurFiles(t *testing.T) {
	t.Parallel()
	argv, env := onceAgent(t)
	binary := "\x00\x03\x04\x11\x13\x1a\r\n\xff" + strings.Repeat("long ", 1<<15) + "\x7f"
	for _, c := range []struct {
		args   []string
		errs   string
		status int
	}{
		{[]string{"-p", "0"}, "<-p 0>\n", 0},
		{[]string{"-p", "3"}, "<-p 3>\n", 3},
		{[]string{"--print", "255"}, "<--print 255>\n", 255},
		{[]string{"-p", "kill"}, "", 128 + int(syscall.SIGKILL)},
	} {
		cmd := command(t, append(argv[:len(argv):len(argv)], c.args...)...)
		var out, errs bytes.Buffer
		cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = strings.NewReader(binary), &out, &errs, env
		cmd.Run() // its status is looked at
		want := binary
		if c.args[1] == "kill" {
			want = ""
		}
		if got := out.String(); got != want || errs.String() != c.errs || cmd.ProcessState.ExitCode() != c.status {
			t.Errorf("%q: status %d, want %d; %d bytes, want %d; said %q, want %q",
				c.args, cmd.ProcessState.ExitCode(), c.status, len(got), len(want), errs.String(), c.errs)
		}
	}
}

// TestSessionHasATerminal: a command line that begins a session has a terminal whatever our files
// are, and so has one with --headless.
func TestSessionHasATerminal(t *testing.T) {
	t.Parallel()
	for flags, want := range map[string]int{"-- -c": 0, "-- fix": 0, "-- -p": 1, "--headless -- -p": 0, "--agent generic -- -p": 0, "--agent claude -- -p": 1} {
		argv, env := onceAgent(t)
		before, behind, _ := strings.Cut(flags, "-- ")
		line := append(argv[:len(argv)-2:len(argv)-2], strings.Fields(before)...)
		cmd := command(t, append(line, "--", argv[len(argv)-1], behind, "tty")...)
		cmd.Stdin, cmd.Env = strings.NewReader(""), env
		out, err := cmd.CombinedOutput()
		if got := cmd.ProcessState.ExitCode(); got != want {
			t.Errorf("%s: status %d, want %d (%v)\n%s", flags, got, want, err, out)
		}
	}
}

// TestSignalsReachACommandThatDoesOneThing: the wrapper hands on what ends a program, and ends as
// the command chose to.
func TestSignalsReachACommandThatDoesOneThing(t *testing.T) {
	t.Parallel()
	for sig, want := range map[syscall.Signal]string{syscall.SIGTERM: "term 7", syscall.SIGINT: "int 8", syscall.SIGHUP: "hup 9"} {
		argv, env := onceAgent(t)
		cmd := command(t, append(argv, "-p", "wait")...)
		cmd.Env = env
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal, whose keys would have reached the command
		in, err := cmd.StdinPipe()
		must(t, err)
		defer in.Close() // the command has ended
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		r := bufio.NewReader(out)
		if line, err := r.ReadString('\n'); line != "up\n" || err != nil {
			t.Fatalf("said %q, %v", line, err)
		}
		must(t, cmd.Process.Signal(sig))
		rest, err := io.ReadAll(r)
		must(t, err)
		cmd.Wait() // its status is looked at
		if got := fmt.Sprintf("%s %d", strings.TrimSpace(string(rest)), cmd.ProcessState.ExitCode()); got != want {
			t.Errorf("%v: got %q, want %q", sig, got, want)
		}
	}
}

// TestIgnoredSignalsStayIgnoredByACommand: the command, too, ignores a hangup that the wrapper was
// begun to ignore, as without us.
func TestIgnoredSignalsStayIgnoredByACommand(t *testing.T) {
	t.Parallel()
	argv, env := onceAgent(t)
	cmd := command(t, append([]string{"sh", "-c", `trap "" HUP; exec "$@"`, "sh"}, append(argv, "-p", "0")...)...)
	cmd.Env = env
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	_, err = io.WriteString(in, "a\n")
	must(t, err)
	r := bufio.NewReader(out)
	if line, err := r.ReadString('\n'); line != "a\n" || err != nil {
		t.Fatalf("read %q, %v", line, err)
	}
	must(t, cmd.Process.Signal(syscall.SIGHUP))
	_, err = io.WriteString(in, "b\n")
	must(t, err)
	must(t, in.Close())
	if rest, err := io.ReadAll(r); string(rest) != "b\n" || err != nil {
		t.Errorf("read %q, %v", rest, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("ended with %v", err)
	}
}

// TestMarksOfAnOuterSessionAreGone: whatever is wrapped does not find the marks of a session around
// it, and finds what the user has set.
func TestMarksOfAnOuterSessionAreGone(t *testing.T) {
	t.Parallel()
	dir := scratch(t)
	file := filepath.Join(dir, "environ")
	for view, want := range map[string]string{"": "1", "CLAUDE_CODE_DISABLE_AGENT_VIEW=0": "0"} {
		cmd := command(t, binary(t), "--name", "p", "--socket", filepath.Join(dir, "s"), "--ephemeral", "--headless", "--", "sh", "-c", `env >"$0"`, file)
		cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir, "CLAUDECODE=1", "CODEX_CI=1", "CLAUDE_CODE_USE_BEDROCK=1", view)
		out, err := cmd.CombinedOutput()
		must(t, err)
		told, err := os.ReadFile(file)
		must(t, err)
		env := "\n" + string(told)
		if strings.Contains(env, "\nCLAUDECODE=") || strings.Contains(env, "\nCODEX_CI=") || !strings.Contains(env, "\nCLAUDE_CODE_USE_BEDROCK=1\n") ||
			!strings.Contains(env, "\nCLAUDE_CODE_DISABLE_AGENT_VIEW="+want+"\n") || !strings.Contains(env, "\nRELAY_AGENT=p\n") {
			t.Errorf("with %q: %s\n%s", view, out, env)
		}
	}
}
