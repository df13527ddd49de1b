package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig"
)

// TestProveManyAgents: an agent costs the same among few and among many, in memory, in wake-ups and
// in the time that a message takes; each message arrives once, at its own agent.
func TestProveManyAgents(t *testing.T) {
	const limit = 10 * patience
	u := newUser(t)
	ctx := testrig.Within(t, limit)
	few, many := &flock{user: u}, &flock{user: u}
	few.grow(ctx, 10)
	few.measure(ctx)
	many.names = few.names
	many.grow(ctx, 200)
	many.measure(ctx)
	shows(t, "%d wrapped agents, and %d: memory of a wrapper; its context switches in 3 s; a message sent until it is delivered, median => %v; %v",
		len(few.names), len(many.names), few, many)
	if many.kib > few.kib*5/4 {
		t.Error("a wrapper's memory grows with their number")
	}
	if many.woken > few.woken+1 {
		t.Error("a wrapper wakes more often beside many others")
	}
	if many.took > 2*few.took {
		t.Error("a message takes longer with many agents")
	}
}

// flock is agents of one user that rest, and what one of them costs.
type flock struct {
	*user
	names []string

	kib   int           // PSS of a wrapper
	woken float64       // context switches of a wrapper in the time of rest
	took  time.Duration // of a message until it is delivered, median
}

func (f *flock) String() string {
	return fmt.Sprintf("%d KiB, %.1f, %v", f.kib, f.woken, f.took.Round(time.Millisecond))
}

// grow adds agents that note what they get, until there are n.
func (f *flock) grow(ctx context.Context, n int) {
	for i := len(f.names); i < n; i++ {
		name := fmt.Sprintf("one%d", i)
		f.wraps(ctx, name, "sh", "-c", `while read -r x; do echo "$x" >>"got.$RELAY_AGENT"; done`)
		f.names = append(f.names, name)
	}
}

// measure sends to each agent, one after the other, and looks what they cost afterwards.
func (f *flock) measure(ctx context.Context) {
	t := f.t
	t.Helper()
	var times []time.Duration
	for i, name := range f.names {
		id := fmt.Sprintf("%d-of-%d", i, len(f.names)) // short enough to stand in the header
		began := time.Now()
		f.does(ctx, "send", name, "for "+name, "--id", id, "--from", "alice", "--until", "delivered")
		times = append(times, time.Since(began))
		got, err := os.ReadFile(filepath.Join(f.dir, "got."+name))
		if n := strings.Count(string(got), "[relay "+id+" from alice] for "+name+"\n"); n != 1 {
			t.Errorf("%s got %s %d times (%v):\n%s", name, id, n, err, got)
		}
	}
	slices.Sort(times)
	f.took = times[len(times)/2]
	wrappers := processes(f.dir, func(_, line []byte) bool { return bytes.Contains(line, []byte("relay-pty\x00--name\x00")) })
	if len(wrappers) != len(f.names) {
		t.Fatalf("%d wrappers run for %d agents", len(wrappers), len(f.names))
	}
	f.woken = f.rest(wrappers)
	sum := 0
	for _, pid := range wrappers {
		sum += testrig.Memory(t, pid)
	}
	f.kib = sum / len(wrappers)
}

// rest is the least that a process wakes within three seconds: the runtime's own threads take a
// while to fall asleep after work.
func (f *flock) rest(pids []int) float64 {
	sum := func() (n int) {
		for _, pid := range pids {
			n += testrig.Switches(f.t, pid)
		}
		return n
	}
	least := 0
	for try := range 4 {
		before := sum()
		<-time.After(3 * time.Second) // what is measured is that nothing happens
		if woken := sum() - before; try == 0 || woken < least {
			least = woken
		}
	}
	return float64(least) / float64(len(pids))
}
