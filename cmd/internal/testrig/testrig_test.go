package testrig

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig/term"
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
	if s := fakeT(t, why); s != "skipped: NOT RUN: claude: not there" {
		t.Errorf("got %q, want it skipped", s)
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

func (f *failing) Skipf(format string, args ...any) {
	f.text = "skipped: " + fmt.Sprintf(format, args...)
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
