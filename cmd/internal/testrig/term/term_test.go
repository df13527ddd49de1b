package term

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"relay-pty/protocol/counts"
)

func start(t *testing.T, opts Options) (*Term, context.Context) {
	t.Helper()
	tm, err := Start(opts)
	must(t, err)
	t.Cleanup(func() { tm.Close() })
	ctx, cancel := context.WithTimeoutCause(t.Context(), patience, fmt.Errorf("not within %v", patience))
	t.Cleanup(cancel)
	return tm, ctx
}

func sh(script string) Options { return Options{Argv: []string{"sh", "-c", script}} }

func TestStatusAndLastOutput(t *testing.T) {
	for _, c := range []struct {
		script string
		status int
		out    string
	}{
		{"printf done; exit 7", 7, "done"},
		{"printf x; kill -9 $$", 137, "x"},
		{"head -c 200000 /dev/zero | tr '\\0' y; exit 3", 3, strings.Repeat("y", 200000)},
	} {
		tm, ctx := start(t, sh(c.script))
		code, err := tm.Wait(ctx)
		if err != nil || code != c.status || string(tm.Output()) != c.out {
			t.Errorf("%s: got %d, %v, %d bytes; want %d and %d bytes", c.script, code, err, len(tm.Output()), c.status, len(c.out))
		}
	}
	tm, ctx := start(t, Options{Argv: []string{"/nonexistent/x"}})
	if code, err := tm.Wait(ctx); code != 127 || err != nil {
		t.Errorf("no such program: got %d, %v; want 127", code, err)
	}
}

// What is printed last must not be lost to the end of the session, however the
// program ends.
func TestLastWordsAreNeverLost(t *testing.T) {
	for i := range counts.Runs(15, 100) {
		tm, ctx := start(t, sh("stty -echo; trap 'printf last; exit 3' INT; printf up; while :; do :; done"))
		must(t, tm.WaitText(ctx, "up"))
		must(t, tm.Type("\x03"))
		if code, err := tm.Wait(ctx); code != 3 || err != nil || string(tm.Output()) != "uplast" {
			t.Fatalf("run %d: %d, %v, %q", i, code, err, tm.Output())
		}
	}
}

// A program that leaves the terminal raw must be caught.
func TestModesTellAProgramThatDoesNotRestore(t *testing.T) {
	for _, c := range []struct {
		script string
		same   bool
	}{{"read _; stty raw", false}, {"read _; s=$(stty -g); stty raw; stty $s", true}} {
		tm, ctx := start(t, sh(c.script))
		before, err := tm.Modes()
		must(t, err)
		must(t, tm.Type("\n"))
		if _, err := tm.Wait(ctx); err != nil {
			t.Fatal(err)
		}
		after, err := tm.Modes()
		if err != nil || (before == after) != c.same {
			t.Errorf("%s: same %v, %v; want %v", c.script, before == after, err, c.same)
		}
	}
}

func TestHangupReachesTheProgram(t *testing.T) {
	mark := t.TempDir() + "/hup"
	r, w, err := os.Pipe()
	must(t, err)
	defer r.Close()
	o := sh(`sleep 1000 >&2 & p=$!; trap 'echo hup > ` + mark + `; kill $p; exit' HUP; echo up >&2; wait`)
	o.Stdout = w // ends with the program
	tm, ctx := start(t, o)
	w.Close()
	must(t, tm.WaitText(ctx, "up"))
	must(t, tm.Hangup())
	must(t, r.SetReadDeadline(time.Now().Add(patience)))
	if _, err := io.Copy(io.Discard, r); err != nil {
		t.Errorf("the program and its keeper are gone: not within %v: %v", patience, err)
	}
	if b, err := os.ReadFile(mark); string(b) != "hup\n" {
		t.Errorf("got %q, %v; want the hangup seen", b, err)
	}
}

// A shell that a signal ends before it has told a number, as a ^C of the job may, is not waited
// for.
func TestShellThatDiesAtItsStart(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(dir+"/sh", []byte("#!/bin/sh\nkill -KILL $PPID\n"), 0o700))
	o := sh("echo never")
	o.Env = []string{"PATH=" + dir} // the keeper finds that one for the program
	began := time.Now()
	if tm, err := Start(o); err == nil {
		tm.Close()
		t.Fatal("it started")
	}
	if took := time.Since(began); took >= patience {
		t.Errorf("told after %v", took)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
