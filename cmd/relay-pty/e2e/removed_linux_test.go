package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig/term"
)

// stop stops the wrapper, and waits until each of its threads is stopped.
func (w *wrapped) stop() {
	w.t.Helper()
	must(w.t, syscall.Kill(w.Pid(), syscall.SIGSTOP))
	ctx := patience(w.t, "the stop of the wrapper")
	for running := true; running; {
		tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", w.Pid()))
		must(w.t, err)
		running = false
		for _, task := range tasks {
			stat, err := os.ReadFile(task)
			must(w.t, err)
			running = running || !bytes.Contains(stat, []byte(") T "))
		}
		must(w.t, context.Cause(ctx))
		pause(w.t, time.Millisecond)
	}
}

// TestJournalThatAnotherTook: of two wrappers of a name, which both run because somebody removed
// lock and journal of the first while that was stopped, the first accepts nothing more while the
// second runs.
func TestJournalThatAnotherTook(t *testing.T) {
	t.Parallel()
	dir := scratch(t)
	state := filepath.Join(dir, "state")
	first := startIn(t, dir, term.Options{Argv: []string{"cat"}}, "--state-dir", state)
	first.accepted("m1")
	first.delivers("m1", "echo")
	first.stop() // else it would keep its lock
	must(t, os.RemoveAll(state))
	second := startIn(t, scratch(t), term.Options{Argv: unready}, "--prompt-pattern", "^never$", "--state-dir", state)
	second.accepted("m2")
	must(t, syscall.Kill(first.Pid(), syscall.SIGCONT))
	ctx := patience(t, "the first one's word who has the journal")
	for n, told := 0, false; !told; n++ { // a commit that the stop fell into fails with a reason of its own
		id := fmt.Sprintf("x%d", n)
		first.inject(id, "hello")
		f := first.queued(id)
		if f.Str("code") != "degraded" {
			t.Fatalf("the first one answers %s", f.Raw)
		}
		told = strings.Contains(f.Raw, "journal of alice: held by relay-pty pid")
		must(t, context.Cause(ctx))
		pause(t, 20*time.Millisecond)
	}
	first.wantStatus(map[string]any{"degraded": true, "accept": false})
	second.accepted("m4")
	second.kill()
	must(t, os.Remove(filepath.Join(state, "alice.journal")))
	first.recovers(5)
}
