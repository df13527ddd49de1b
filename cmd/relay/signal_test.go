package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// TestSendThatIsInterrupted: it ends as a shell expects, and says which message goes its way.
func TestSendThatIsInterrupted(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	ctx, cancel := context.WithTimeoutCause(t.Context(), patience, fmt.Errorf("not within %v", patience))
	defer cancel()
	u.does(ctx, "send", "human", "I am ci", "--from", "ci") // ci is known
	for sig, status := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		id := fmt.Sprintf("m-%d", sig)
		cmd := u.command(ctx, "send", "ci", "are you there?", "--id", id, "--wait")
		errs, err := cmd.StderrPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(errs)
		said, err := lines.ReadString('\n') // it was accepted, and the command knows
		if err == nil {
			err = cmd.Process.Signal(sig)
		}
		if err != nil {
			t.Fatalf("before the signal it said %q: %v", said, err)
		}
		rest, _ := io.ReadAll(lines)
		cmd.Wait() // its status is looked at
		want := fmt.Sprintf("relay: %s: relay recv --as ci shows it; the message waits\nrelay: wait for %[1]s: ended by a signal: %v\n", id, sig)
		if got := cmd.ProcessState.ExitCode(); got != status || said+string(rest) != want {
			t.Errorf("%v: ended with %d and %q, want %d and %q", sig, got, said+string(rest), status, want)
		}
	}
}

// TestHangupThatIsIgnored: what nohup started goes on, and ends well when it is told to.
func TestHangupThatIsIgnored(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	ctx, cancel := context.WithTimeoutCause(t.Context(), patience, fmt.Errorf("not within %v", patience))
	defer cancel()
	relay := u.command(ctx, "events", "--follow", "--after", "0")
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", `trap "" HUP; exec "$0" "$@"`}, relay.Args...)...)
	cmd.Env, cmd.Dir = relay.Env, relay.Dir
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	for _, text := range []string{"first", "second"} {
		u.does(ctx, "send", "human", text, "--from", "ci")
		for line := ""; !strings.Contains(line, text); {
			if line, err = lines.ReadString('\n'); err != nil {
				t.Fatalf("%v before %s", err, text)
			}
		}
		if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, lines) // until its end
	if err := cmd.Wait(); err != nil {
		t.Errorf("told to end, it ended with %v", err)
	}
}
