package pty

import (
	"bytes"
	"context"
	"os"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestAllThatADeafAgentHasNotReadIsTakenBack(t *testing.T) {
	r := begin(t, role(t, "deaf"))
	r.says("ready")
	for _, size := range []int{1, 100, 4095, 4096, 8000} {
		tx := mustBegin(t, r.Session)
		text := bytes.Repeat([]byte("x"), size)
		if n, err := tx.Write(context.Background(), text); n != size || err != nil {
			t.Fatalf("Write = %d, %v, want %d", n, err, size)
		}
		within(t, "TakeBack", func() {
			if n, err := tx.TakeBack(size + 1); n != size || err != nil {
				t.Errorf("TakeBack = %d, %v, want %d", n, err, size)
			}
		})
		tx.End()
		if tty, err := r.TTY(); err != nil || tty.Unread != 0 {
			t.Errorf("%d bytes unread afterwards, %v", tty.Unread, err)
		}
	}
	r.Signal(syscall.SIGKILL)
	if err := r.end(); err != nil {
		t.Errorf("Run: %v", err)
	}
}

func TestWholeLinesAreTakenBack(t *testing.T) {
	t.Parallel() // it mostly waits
	r := begin(t, sh("echo ready; exec sleep 1000"))
	r.says("ready")
	tx := mustBegin(t, r.Session)
	// More than a tty holds, in few lines: each may take 50 ms, since nobody reads it.
	text := bytes.Repeat(append(bytes.Repeat([]byte("x"), 99), '\n'), 80)
	if n, err := tx.Write(context.Background(), text); n != len(text) || err != nil {
		t.Fatalf("Write = %d, %v", n, err)
	}
	if n, err := tx.TakeBack(len(text)); n != len(text) || err != nil {
		t.Errorf("TakeBack = %d, %v, want %d", n, err, len(text))
	}
	tx.End()
	r.Signal(unix.SIGKILL)
	if err := r.end(); err != nil {
		t.Errorf("Run: %v", err)
	}
}

const throwsAway = `import sys, termios, tty
tty.setraw(0, termios.TCSANOW)
print("ready", flush=True)
sys.stdin.buffer.raw.read(1)
tty.setraw(0, termios.TCSAFLUSH)
print("done", flush=True)
sys.stdin.buffer.raw.read(1)`

func TestInputThrownAwayIsTold(t *testing.T) {
	needs(t, "python3")
	t.Parallel() // it mostly waits
	r := begin(t, Config{Args: []string{"python3", "-c", throwsAway}, Env: os.Environ()})
	look := r.Watch()
	r.says("ready")
	if !r.LastFlush().IsZero() {
		t.Error("a flush was told at the start")
	}
	tx := mustBegin(t, r.Session)
	if _, err := tx.Write(context.Background(), []byte("xyz")); err != nil {
		t.Fatal(err)
	}
	r.says("done")
	tx.End()
	within(t, "to be told", func() {
		for r.LastFlush().IsZero() {
			<-look
		}
	})
	r.Signal(unix.SIGKILL)
	if err := r.end(); err != nil {
		t.Errorf("Run: %v", err)
	}
}

// heldUp is a terminal that takes the first output, and the rest when it is told to.
type heldUp struct{ ready, goOn chan struct{} }

func (h *heldUp) Write(p []byte) (int, error) {
	close(h.ready) // twice would panic: nothing comes before goOn
	<-h.goOn
	h.ready = make(chan struct{})
	return len(p), nil
}

// TestOtherModesAreNoFlush: what the agent has read it has not thrown away, though the terminal
// tells of its new modes as it tells of a flush.
func TestOtherModesAreNoFlush(t *testing.T) {
	needs(t, "python3")
	t.Parallel() // it mostly waits
	const script = `import sys, termios, tty
tty.setraw(0, termios.TCSANOW)
print("ready", flush=True)
sys.stdin.buffer.raw.read(1)
modes = termios.tcgetattr(0)
modes[0] |= termios.IXON
termios.tcsetattr(0, termios.TCSANOW, modes)
sys.stdin.buffer.raw.read(2)
sys.stdin.buffer.raw.read(1)`
	out := &heldUp{make(chan struct{}), make(chan struct{})}
	r := begin(t, Config{Args: []string{"python3", "-c", script}, Env: os.Environ(), Output: out})
	<-out.ready
	tx := mustBegin(t, r.Session)
	if _, err := tx.Write(context.Background(), []byte("xyz")); err != nil {
		t.Fatal(err)
	}
	within(t, "to be read", func() {
		for tty, err := r.TTY(); err != nil || tty.Unread > 0; tty, err = r.TTY() {
			runtime.Gosched()
		}
	})
	if at := r.LastFlush(); !at.IsZero() {
		t.Errorf("a flush was told at %v", at)
	}
	tx.End()
	close(out.goOn)
	r.Signal(unix.SIGKILL)
	if err := r.end(); err != nil {
		t.Errorf("Run: %v", err)
	}
}

// TestInputThrownAwayIsToldAtOnce: whoever sees that nothing is unread knows why, even while the
// output loop is held up and hears of nothing.
func TestInputThrownAwayIsToldAtOnce(t *testing.T) {
	needs(t, "python3")
	t.Parallel() // it mostly waits
	out := &heldUp{make(chan struct{}), make(chan struct{})}
	r := begin(t, Config{Args: []string{"python3", "-c", throwsAway}, Env: os.Environ(), Output: out})
	<-out.ready
	tx := mustBegin(t, r.Session)
	if _, err := tx.Write(context.Background(), []byte("xyz")); err != nil {
		t.Fatal(err)
	}
	within(t, "to be read or thrown away", func() {
		for {
			tty, err := r.TTY()
			if err != nil {
				t.Error(err)
				return
			}
			if tty.Unread == 0 {
				return
			}
		}
	})
	if r.LastFlush().IsZero() {
		t.Error("nothing is unread, and nothing was told of a flush")
	}
	tx.End()
	close(out.goOn)
	r.Signal(unix.SIGKILL)
	if err := r.end(); err != nil {
		t.Errorf("Run: %v", err)
	}
}
