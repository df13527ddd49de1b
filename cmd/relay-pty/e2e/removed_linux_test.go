package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"relay-pty/cmd/internal/testrig/term"
)

// stop stops the wrapper, and waits until it is stopped.
func (w *wrapped) stop() {
	w.t.Helper()
	must(w.t, syscall.Kill(w.Pid(), syscall.SIGSTOP))
	becomes(w.t, "the stop of the wrapper", func() bool { return isStopped(w.Pid()) })
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
	n := 0
	becomes(t, "the first one's word who has the journal", func() bool { // a commit that the stop fell into fails with a reason of its own
		n++
		id := fmt.Sprintf("x%d", n)
		first.refused(id)
		return strings.Contains(first.queued(id).Raw, "journal of alice: held by relay-pty pid")
	})
	first.wantStatus(map[string]any{"degraded": true, "accept": false})
	second.accepted("m4")
	second.kill()
	must(t, os.Remove(filepath.Join(state, "alice.journal")))
	first.recovers()
}
