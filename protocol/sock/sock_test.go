package sock

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
	goleak.VerifyTestMain(m)
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
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	line, _ := bufio.NewReader(out).ReadString('\n')
	if line != "listening\n" {
		t.Fatalf("holder says %q", line)
	}
	return cmd
}

// dir is a short directory that other users may enter, as a socket path is short and
// its mode is what must keep them out.
func dir(t *testing.T) string {
	t.Helper()
	d, err := os.MkdirTemp("/tmp", "sock")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(d) })
	if err := os.Chmod(d, 0o755); err != nil {
		t.Fatal(err)
	}
	return d
}

func listen(t *testing.T, path string) *Listener {
	t.Helper()
	l, err := Listen(path, "alice")
	if err != nil {
		t.Fatal(err)
	}
	l.grace, l.farewell = 20*time.Second, 20*time.Second // no test is to fail on a slow machine
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
		if err := <-done; err != why {
			t.Errorf("Serve = %v, want %v", err, why)
		}
	}
	t.Cleanup(stop)
	return stop
}

func dial(t *testing.T, path string) *Client {
	t.Helper()
	c, err := Dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	// A generous limit, for a failure to end the test and not hang it.
	c.nc.SetReadDeadline(time.Now().Add(20 * time.Second))
	return c
}

// expect reads one line that holds each of the pieces.
func expect(t *testing.T, c *Client, pieces ...string) {
	t.Helper()
	line, err := c.Next()
	if err != nil {
		t.Fatalf("got %v, want %q", err, pieces)
	}
	for _, p := range pieces {
		if !strings.Contains(string(line), p) {
			t.Fatalf("got %s, want %q", line, p)
		}
	}
}

func expectEnd(t *testing.T, c *Client) {
	t.Helper()
	if line, err := c.Next(); err == nil || os.IsTimeout(err) {
		t.Fatalf("got %q, %v; want the end", line, err)
	}
}

// answer is a handler that answers every request with its type and req.
func answer(_ context.Context, c *Conn) {
	for in := range c.Incoming() {
		if in.Error != nil {
			c.Refuse(in.Error)
			continue
		}
		c.Answer(&protocol.HelloAnswer{Req: in.Request.Tag(), Name: in.Request.Type()})
	}
}

func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var s []string
	for _, e := range entries {
		s = append(s, e.Name())
	}
	return strings.Join(s, " ")
}

func in(dir, name string) string { return filepath.Join(dir, name) }
