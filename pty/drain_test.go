package pty

import (
	"io"
	"testing"
	"time"
)

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// tally counts what is written.
type tally int

func (n *tally) Write(p []byte) (int, error) { *n += tally(len(p)); return len(p), nil }

func copyN(w io.Writer, n int64) (int64, error) { return io.CopyN(w, random(), n) }

func TestDrainPatience(t *testing.T) {
	start := time.Now()
	var d drain
	if d.took(1<<30, start) {
		t.Error("reading is over before the agent's end")
	}
	d.begin(start)
	for _, c := range []struct{ after, want time.Duration }{
		{0, drainQuiet},
		{drainCap - drainQuiet, drainQuiet},
		{drainCap - 30*time.Millisecond, 30 * time.Millisecond},
		{drainCap, time.Millisecond},
		{time.Hour, time.Millisecond},
	} {
		if got := d.patience(start.Add(c.after)); got != c.want {
			t.Errorf("%v after the end: waits %v, want %v", c.after, got, c.want)
		}
	}
	if d.took(drainTail, start.Add(drainCap/2)) {
		t.Error("over before the cap")
	}
	if !d.took(1, start.Add(drainCap+1)) {
		t.Error("not over after cap and tail")
	}
	d = drain{}
	d.begin(start)
	if d.took(drainTail-1, start.Add(time.Hour)) {
		t.Error("over although the kernel may hold more of the agent's last words")
	}
}
