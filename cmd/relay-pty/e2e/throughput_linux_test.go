package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/term"
	"relay-pty/pty/screen/streams"
)

// counter is a terminal's window that counts what it is shown.
type counter struct {
	mu      sync.Mutex
	shown   int
	want    int
	reached chan struct{} // closed when so much was shown; nil while nobody waits
}

func (c *counter) sink(p []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shown += len(p)
	c.look()
}

func (c *counter) look() {
	if c.reached != nil && c.shown >= c.want {
		close(c.reached)
		c.reached = nil
	}
}

// await waits until more bytes were shown than when last was called.
func (c *counter) await(ctx context.Context, more int) error {
	reached := make(chan struct{})
	c.mu.Lock()
	c.want, c.reached = c.want+more, reached
	c.look()
	c.mu.Unlock()
	select {
	case <-reached:
		return nil
	case <-ctx.Done():
		c.mu.Lock()
		defer c.mu.Unlock()
		return fmt.Errorf("%d of %d bytes shown: %w", c.shown, c.want, context.Cause(ctx))
	}
}

// cost is what it took to pass a file on: time, and the wrapper's own work.
type cost struct{ took, cpu time.Duration }

// less is the less of two costs; the zero cost is none.
func (c cost) less(o cost) cost {
	if c.took == 0 {
		return o
	}
	return cost{min(c.took, o.took), min(c.cpu, o.cpu)}
}

// flood is a program that writes a file each time it reads a line.
func flood(file string) []string {
	return []string{"sh", "-c", `stty raw -echo; printf up; while read x; do cat "$0"; done`, file}
}

// passes lets the program write its file, and measures the wrapper, whose pid is given.
func passes(t *testing.T, tm *testrig.Term, c *counter, size int) cost {
	t.Helper()
	work, began := worked(t, tm.Pid()), time.Now()
	must(t, tm.Type("\n"))
	must(t, c.await(patience(t, "the whole file"), size))
	return cost{time.Since(began), worked(t, tm.Pid()) - work}
}

// worked is the time that all threads of a process ran.
func worked(t *testing.T, pid int) (sum time.Duration) {
	t.Helper()
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	must(t, err)
	for _, task := range tasks {
		b, err := os.ReadFile(task)
		must(t, err)
		ran, _, _ := strings.Cut(string(b), " ")
		n, err := strconv.ParseInt(ran, 10, 64)
		must(t, err)
		sum += time.Duration(n)
	}
	return sum
}

// least is the part of script's speed that a flood must have, of the best of all rounds each, since
// other work on the machine only ever slows one down. Usual is 0.4 to 0.8: the less the faster the
// kernel passes output on beside what the processor needs for the screen. While every byte was
// searched for markers it was 0.2 for full screens.
const least = 0.35

// TestProveQuickBesideScript passes floods of output through the wrapper and through script(1), in
// turns. The profile is generic, under which the output is searched for markers.
func TestProveQuickBesideScript(t *testing.T) {
	script, err := exec.LookPath("script")
	testrig.Require(t, "script", err)
	size, rounds := runs(1<<18, 16<<20), runs(1, 9)
	var ratios, works []string
	for _, k := range streams.Kinds[:4] {
		file := filepath.Join(scratch(t), k.Name)
		data := k.Make(size)
		must(t, os.WriteFile(file, data, 0o600))
		var ours, theirs counter
		w := start(t, term.Options{Argv: flood(file), Rows: 50, Cols: 200, Sink: ours.sink})
		program := fmt.Sprintf("exec sh -c '%s' %s", flood(file)[2], file)
		argv := []string{script, "-q", "-c", program, "/dev/null"}
		s := testrig.StartTerm(t, term.Options{Argv: argv, Rows: 50, Cols: 200, Sink: theirs.sink})
		must(t, ours.await(patience(t, "the program under the wrapper"), len("up")))
		must(t, theirs.await(patience(t, "the program under script"), len("up")))
		var own, other cost
		for range rounds {
			own = own.less(passes(t, w.Term, &ours, len(data)))
			other = other.less(passes(t, s, &theirs, len(data)))
		}
		ratio := other.took.Seconds() / own.took.Seconds()
		if proving() && ratio < least {
			t.Errorf("%s: %.2f of script's speed, want %.2f", k.Name, ratio, least)
		}
		w.atMost(runs(coarse, 6<<10), "after a flood")
		ratios = append(ratios, fmt.Sprintf("%s %.2f", k.Name, ratio))
		works = append(works, fmt.Sprintf("%.1f", own.cpu.Seconds()*1e9/float64(len(data))))
		must(t, w.Close())
		must(t, s.Close())
	}
	shown(t, "floods of output under the profile generic, the best of rounds in turns with script(1)",
		"of its speed: %s; ms of CPU a MB: %s", strings.Join(ratios, ", "), strings.Join(works, ", "))
}
