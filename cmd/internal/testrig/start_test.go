package testrig

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig/term"
)

// startVar makes a copy of the test binary, begun with signals ignored, the subject of
// TestKnownStart.
const startVar = "TESTRIG_IGNORING"

// TestKnownStart: whatever the test's main was begun with, shells can trap what they are sent.
func TestKnownStart(t *testing.T) {
	const traps = `for s in HUP INT QUIT PIPE TERM; do trap "printf '$s '" $s; kill -$s $$; done`
	if os.Getenv(startVar) == "" {
		cmd := exec.CommandContext(Within(t, time.Minute), "/bin/sh", "-c", `trap "" HUP INT QUIT PIPE; exec "$0" "$@"`,
			os.Args[0], "-test.run=^TestKnownStart$", "-test.v")
		cmd.Env = append(os.Environ(), startVar+"=1", "GORACE=atexit_sleep_ms=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("begun with signals ignored: %v\n%s", err, out)
		}
	}
	out, err := exec.CommandContext(Within(t, time.Minute), "/bin/sh", "-c", traps).CombinedOutput()
	if want := "HUP INT QUIT PIPE TERM "; string(out) != want || err != nil {
		t.Errorf("a shell traps %q, %v; want %q", out, err, want)
	}
}

// TestWaitsTellWhatDidNotCome: a log that is read from its end must name it.
func TestWaitsTellWhatDidNotCome(t *testing.T) {
	tm := StartTerm(t, term.Options{Argv: []string{"cat"}})
	ctx := Within(t, time.Millisecond)
	_, ends := tm.Wait(ctx)
	for want, err := range map[string]error{
		`wait for "xyz": not within 1ms`:                  tm.WaitText(ctx, "xyz"),
		"wait for output: not within 1ms":                 tm.WaitOutput(ctx, func([]byte) bool { return false }),
		"wait for the end of the program: not within 1ms": ends,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	c := &Client{}
	if _, err := c.WaitStatus(ctx, "m1", "queued"); err == nil || err.Error() != "wait for queued of m1: not within 1ms" {
		t.Errorf("got %v", err)
	}
	c.err = io.EOF
	if _, err := c.Wait(ctx, func(Frame) bool { return true }); !errors.Is(err, io.EOF) {
		t.Errorf("got %v, want io.EOF", err)
	}
}
