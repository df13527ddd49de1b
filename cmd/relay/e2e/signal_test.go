package e2e

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"relay-pty/cmd/internal/testrig"
)

// TestSendThatIsInterrupted: it ends as a shell expects, and says which message goes its way.
func TestSendThatIsInterrupted(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	ctx := testrig.Within(t, patience)
	u.does(ctx, "send", "human", "I am ci", "--from", "ci") // ci is known
	for sig, status := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		id := fmt.Sprintf("m-%d", sig)
		cmd := u.command(ctx, "send", "ci", "are you there?", "--id", id, "--wait")
		errs, err := cmd.StderrPipe()
		if err == nil {
			err = cmd.Start()
		}
		must(t, err)
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

// TestSendWithoutAnAnswer: whoever gives up before the router answers is told how to learn whether
// the message was accepted.
func TestSendWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	ctx := testrig.Within(t, patience)
	asked := make(chan struct{})
	u.routes(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			io.WriteString(w, "{}") // it is well
			return
		}
		io.Copy(io.Discard, r.Body) // else the server does not see that the client goes
		asked <- struct{}{}
		<-r.Context().Done()
	}))
	for _, args := range [][]string{{"send", "ci", "hi", "--id", "m-1"}, {"reply", "m-0", "yes", "--id", "m-1"}} {
		cmd := u.command(ctx, args...)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		must(t, cmd.Start())
		select {
		case <-asked:
		case <-ctx.Done():
			t.Fatalf("%s asked nothing: %v", args[0], context.Cause(ctx))
		}
		must(t, cmd.Process.Signal(syscall.SIGTERM))
		cmd.Wait() // its status is looked at
		const want = "relay: m-1: ended by a signal: terminated; relay show m-1 tells whether it was accepted\n"
		if got := cmd.ProcessState.ExitCode(); got != 143 || errs.String() != want {
			t.Errorf("%s ended with %d and %q, want 143 and %q", args[0], got, errs.String(), want)
		}
	}
}

// routes is a router in place of the real one, until the test ends.
func (u *user) routes(h http.Handler) {
	u.t.Helper()
	place := filepath.Join(u.dir, "relay")
	err := os.MkdirAll(place, 0o700)
	var at net.Listener
	if err == nil {
		at, err = net.Listen("unix", filepath.Join(place, "router.sock"))
	}
	must(u.t, err)
	served := make(chan error, 1)
	s := &http.Server{Handler: h}
	go func() { served <- s.Serve(at) }()
	u.t.Cleanup(func() {
		s.Close()
		<-served
	})
}

// TestHangupThatIsIgnored: what nohup started goes on, and ends well when it is told to.
func TestHangupThatIsIgnored(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	ctx := testrig.Within(t, patience)
	relay := u.command(ctx, "events", "--follow", "--after", "0")
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", `trap "" HUP; exec "$0" "$@"`}, relay.Args...)...)
	cmd.Env, cmd.Dir = relay.Env, relay.Dir
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	must(t, err)
	lines := bufio.NewReader(out)
	for _, text := range []string{"first", "second"} {
		u.does(ctx, "send", "human", text, "--from", "ci")
		for line := ""; !strings.Contains(line, text); {
			if line, err = lines.ReadString('\n'); err != nil {
				t.Fatalf("%v before %s", err, text)
			}
		}
		must(t, cmd.Process.Signal(syscall.SIGHUP))
	}
	must(t, cmd.Process.Signal(syscall.SIGTERM))
	io.Copy(io.Discard, lines) // until its end
	if err := cmd.Wait(); err != nil {
		t.Errorf("told to end, it ended with %v", err)
	}
}
