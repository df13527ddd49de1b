package sock

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"relay-pty/protocol"
)

func TestMain(m *testing.M) {
	if path := os.Getenv("SOCK_TEST_HOLD"); path != "" {
		hold(path)
	}
	knownStart()
	goleak.VerifyTestMain(m)
}

// patience is how long a test waits for what must come; only a failure takes that long.
const patience = time.Minute

// knownStart gives children the system's own actions for the signals that whoever began the
// tests (nohup, a shell's background) had ignored.
func knownStart() {
	for _, s := range []os.Signal{unix.SIGHUP, unix.SIGINT} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s) // nobody reads
		}
	}
}

// soon is what comes from c, which must not take long.
func soon[T any](t *testing.T, what string, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(patience):
		t.Fatalf("%s: not within %v", what, patience)
	}
	return v
}

// ends waits for goroutines that must not take long.
func ends(t *testing.T, what string, all *sync.WaitGroup) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); all.Wait() }()
	soon(t, what, done)
}

// hold is another process: it listens, says so, and lives until its stdin ends.
func hold(path string) {
	unix.Umask(0)
	if _, err := Listen(path, "alice"); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("listening")
	io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// startHolder returns another process that listens on path.
func startHolder(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "SOCK_TEST_HOLD="+path)
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		in.Close()
		late := time.AfterFunc(patience, func() { cmd.Process.Kill() })
		defer late.Stop()
		cmd.Wait()
	})
	said := make(chan string, 1)
	go func() { line, _ := bufio.NewReader(out).ReadString('\n'); said <- line }()
	if line := soon(t, "the holder's word", said); line != "listening\n" {
		t.Fatalf("holder says %q", line)
	}
	return cmd
}

// dir is a short directory that other users may enter, as a socket path is short and
// its mode is what must keep them out.
func dir(t *testing.T) string {
	t.Helper()
	d, err := os.MkdirTemp("/tmp", "sock")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(d) })
	must(t, os.Chmod(d, 0o755))
	return d
}

func listen(t *testing.T, path string) *Listener {
	t.Helper()
	l, err := Listen(path, "alice")
	must(t, err)
	l.grace, l.farewell = patience/2, patience/2 // no test is to fail on a slow machine
	t.Cleanup(func() { l.Close() })
	return l
}

// serve runs l until the test ends, or until the returned function is called.
func serve(t *testing.T, l *Listener, handle Handler) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(context.Background())
	why := fmt.Errorf("test is over")
	done := make(chan error, 1)
	go func() { done <- l.Serve(ctx, handle) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel(why)
		if err := soon(t, "the end of Serve", done); err != why {
			t.Errorf("Serve = %v, want %v", err, why)
		}
	}
	t.Cleanup(stop)
	return stop
}

func dial(t *testing.T, path string) *Client {
	t.Helper()
	c, err := Dial(t.Context(), path)
	must(t, err)
	t.Cleanup(func() { c.Close() })
	// A generous limit, for a failure to end the test and not hang it.
	c.nc.SetDeadline(time.Now().Add(patience))
	return c
}

// late says so of a connection whose limit ran out.
func late(err error) error {
	if os.IsTimeout(err) {
		return fmt.Errorf("not within %v: %w", patience, err)
	}
	return err
}

// expect reads one line that holds each of the pieces.
func expect(t *testing.T, c *Client, pieces ...string) {
	t.Helper()
	line, err := c.NextLine(t.Context())
	if err != nil {
		t.Fatalf("got %v, want %q", late(err), pieces)
	}
	for _, p := range pieces {
		if !strings.Contains(string(line), p) {
			t.Fatalf("got %s, want %q", line, p)
		}
	}
}

func expectEnd(t *testing.T, c *Client) {
	t.Helper()
	if line, err := c.NextLine(t.Context()); err == nil || os.IsTimeout(err) {
		t.Fatalf("got %q, %v; want the end", line, late(err))
	}
}

// answer is a handler that answers every request with its type and req.
func answer(_ context.Context, c *Conn) {
	for in := range c.Incoming() {
		if in.Error != nil {
			c.Refuse(in.Error)
			continue
		}
		c.Answer(&protocol.HelloAnswer{Head: protocol.Head{Req: in.Request.Tag()}, Name: in.Request.Type()})
	}
}

func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	var s []string
	for _, e := range entries {
		s = append(s, e.Name())
	}
	return strings.Join(s, " ")
}

func in(dir, name string) string { return filepath.Join(dir, name) }
