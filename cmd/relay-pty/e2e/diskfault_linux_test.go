package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/agents"
	"relay-pty/cmd/internal/testrig/disk"
	"relay-pty/cmd/internal/testrig/term"
)

// startWatched is startIn with the state in dir/state, on a disk that decide rules.
func startWatched(t *testing.T, dir string, decide verdicts, opts term.Options, flags ...string) *wrapped {
	t.Helper()
	state := filepath.Join(dir, "state")
	return startBy(t, dir, opts, func(opts term.Options) (tm *testrig.Term) {
		watch, err := disk.Start(state, false, decide, func() (err error) { tm, err = term.Start(opts); return err })
		must(t, err)
		t.Cleanup(watch.Close)
		t.Cleanup(func() { tm.Close() }) // hung up already: well
		return tm
	}, append([]string{"--state-dir", filepath.Join(state, "relay-pty")}, flags...)...)
}

// fault is a way in which a disk fails.
type fault struct {
	name string
	on   func(disk.Call) disk.Verdict
}

func errno(e syscall.Errno, kinds ...disk.What) func(disk.Call) disk.Verdict {
	return func(c disk.Call) disk.Verdict {
		for _, k := range kinds {
			if c.What == k {
				return disk.Verdict{Errno: e}
			}
		}
		return disk.Verdict{}
	}
}

var changes = []disk.What{disk.Create, disk.Write, disk.Truncate, disk.Sync, disk.Rename, disk.Link, disk.Remove, disk.Mkdir}

func faults() []fault {
	return []fault{
		{"EIO of every sync", errno(syscall.EIO, disk.Sync)},
		{"EIO of every write", errno(syscall.EIO, disk.Write)},
		{"ENOSPC within every write", func(c disk.Call) disk.Verdict {
			if c.What != disk.Write {
				return disk.Verdict{}
			}
			return disk.Verdict{Errno: syscall.ENOSPC, Short: 1 + len(c.Data)/2}
		}},
		{"ENOSPC for all that is new", errno(syscall.ENOSPC, disk.Create, disk.Mkdir, disk.Truncate, disk.Write)},
		{"EROFS for all", errno(syscall.EROFS, changes...)},
		{"EIO of all but writes", errno(syscall.EIO, disk.Create, disk.Truncate, disk.Sync, disk.Rename, disk.Remove)},
	}
}

// switched is a fault that lasts while on is true.
func (f fault) switched(on *atomic.Bool) verdicts {
	return func(_ int, c disk.Call) disk.Verdict {
		if !on.Load() {
			return disk.Verdict{}
		}
		return f.on(c)
	}
}

// TestFailingDisk: while the disk fails nothing is accepted, status says so, and the
// terminal works; then all goes on by itself, and nothing is lost.
func TestFailingDisk(t *testing.T) {
	t.Parallel()
	for _, f := range faults()[:runs(1, 6)] {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			var on atomic.Bool
			dir := scratch(t)
			must(t, os.Mkdir(filepath.Join(dir, "state"), 0o700))
			got := filepath.Join(dir, "got")
			w := startWatched(t, dir, f.switched(&on), term.Options{Argv: []string{"tee", "-a", got}})
			w.inject("before", "hello")
			w.delivers("before", "echo")
			must(t, w.Type("abc")) // a draft: what comes now waits
			must(t, w.WaitText(patience(t), "abc"))
			bodies := map[string]string{"before": "hello"}
			for i := range 3 {
				id := fmt.Sprintf("waits%d", i)
				bodies[id] = "body of " + id
				w.inject(id, bodies[id])
				if f := w.queued(id); f.Str("status") != "queued" {
					t.Fatalf("refused: %s", f.Raw)
				}
			}
			on.Store(true)
			began := time.Now()
			w.refused("x0")
			degraded, told := w.status().Fields["degraded"] == true, time.Since(began)
			if !degraded || proving() && told > time.Second {
				t.Errorf("status says after %v that it is degraded: %v, want it within 1 s", told, degraded)
			}
			must(t, w.Type("def"))
			must(t, w.WaitText(patience(t), "abcdef"))
			for i := range 4 { // over some tries of ours
				pause(t, 300*time.Millisecond)
				w.refused(fmt.Sprintf("x%d", 1+i))
				w.wantStatus(map[string]any{"degraded": true})
			}
			on.Store(false)
			again, took := w.works()
			bodies[again] = "hello"
			w.wantStatus(map[string]any{"degraded": false})
			must(t, w.Type("\r"))
			for id := range bodies {
				w.delivers(id, "echo")
			}
			w.read(got, bodies)
			w.kill()
			w.remembered(dir, bodies)
			next := startWatched(t, dir, nil, term.Options{Argv: []string{"cat"}})
			for id := range bodies {
				next.delivers(id, "echo") // replayed
			}
			shown(t, "failing disk: "+f.name, "refused, told after %v, typed text echoed, accepted messages kept, works again %v after the disk does", told.Round(time.Millisecond), took.Round(10*time.Millisecond))
		})
	}
}

// remembered holds the journal against what the client was told.
func (w *wrapped) remembered(dir string, bodies map[string]string) {
	w.t.Helper()
	told := disk.NewTold(bodies)
	for _, f := range w.client.Frames() {
		if err := told.Hear("client", []byte(f.Raw)); err != nil {
			w.t.Error(err)
		}
	}
	if err := told.Check(filepath.Join(dir, "state", "relay-pty"), "alice", false); err != nil {
		w.t.Error(err)
	}
}

// read checks that the agent has noted each message once, and no other. It notes a message right
// after it has read it.
func (w *wrapped) read(got string, bodies map[string]string) {
	w.t.Helper()
	var b []byte
	becomes(w.t, "all messages in what the agent has read", func() bool {
		var err error
		b, err = os.ReadFile(got)
		must(w.t, err)
		return strings.Count(string(b), "[end ") >= len(bodies)
	})
	for id, body := range bodies {
		if n := strings.Count(string(b), text(id, body)); n != 1 {
			w.t.Errorf("%s was read %d times", id, n)
		}
	}
	if n := strings.Count(string(b), "[relay "); n != len(bodies) {
		w.t.Errorf("%d messages were read, want %d:\n%s", n, len(bodies), b)
	}
}

// TestWhatHappensWhileTheDiskFails: the end of a message that was being typed, and what
// the agent says to others, are told when the disk works again.
func TestWhatHappensWhileTheDiskFails(t *testing.T) {
	t.Parallel()
	for _, f := range faults()[:runs(1, 6)] {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			var on atomic.Bool
			dir := scratch(t)
			must(t, os.Mkdir(filepath.Join(dir, "state"), 0o700))
			must(t, syscall.Mkfifo(filepath.Join(dir, "go"), 0o600))
			script := `stty raw -echo; printf '> '; cat go; cat`
			w := startWatched(t, dir, f.switched(&on), term.Options{Argv: []string{"sh", "-c", script}, Dir: dir}, "--prompt-pattern", "^> $")
			w.inject("typed", "hello")
			_, err := w.client.WaitStatus(patience(t), "typed", "injecting")
			must(t, err)
			on.Store(true)
			w.refused("x0")
			must(t, os.WriteFile(filepath.Join(dir, "go"), []byte("\r\n->relay:Bob it is done\r\n"), 0))
			must(t, w.WaitText(patience(t), "[end typed"))
			before := w.client.Len()
			pause(t, 1200*time.Millisecond)
			for _, f := range w.client.Frames()[before:] {
				t.Errorf("told while nothing can be written: %s", f.Raw)
			}
			w.refused("x1")
			on.Store(false)
			w.waitCommands(1)
			end := w.ends("typed")
			if s := end.Str("status"); s != "delivered" && s != "unknown" {
				t.Errorf("it ended as %s", end.Raw)
			}
			w.kill()
			w.remembered(dir, map[string]string{"typed": "hello"})
		})
	}
}

// TestScreenWhileTheDiskFails: a program that draws its own screen goes on.
func TestScreenWhileTheDiskFails(t *testing.T) {
	t.Parallel()
	var on atomic.Bool
	dir := scratch(t)
	must(t, os.Mkdir(filepath.Join(dir, "state"), 0o700))
	a, err := testrig.Agent(scratch(t), "composer", agents.Config{})
	must(t, err)
	env := append(os.Environ(), "HOME="+scratch(t))
	w := startWatched(t, dir, fault{"", errno(syscall.EIO, changes...)}.switched(&on), term.Options{Argv: a.EnvArgv(), Env: env}, "--agent", "claude")
	w.state("ready")
	w.inject("before", "hello")
	w.delivers("before", "submitted")
	on.Store(true)
	w.refused("x0")
	for i := range 8 {
		word := fmt.Sprintf("word%d", i)
		must(t, w.Type(word))
		must(t, w.WaitText(patience(t), word))
	}
	must(t, w.Resize(30, 100))
	must(t, w.WaitText(patience(t), strings.Repeat("─", 100)))
	must(t, w.Type("\x03"))
	on.Store(false)
	again, _ := w.works()
	w.delivers(again, "submitted")
}
