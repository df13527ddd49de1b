package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/term"
)

// TestRemovedJournal: what is accepted after somebody removed the journal beneath the wrapper, or
// all of the directory, lasts as what was accepted before.
func TestRemovedJournal(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{
		"file": "alice/alice.journal", "lock": "alice/alice.lock", "all": "alice", "all that is above it": "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := scratch(t)
			state := filepath.Join(dir, "states", "alice")
			w := startIn(t, dir, term.Options{Argv: unready}, "--prompt-pattern", "^never$", "--state-dir", state)
			w.accepted("m1")
			becomes(t, "the removal of what is made anew at once", func() bool { // something may come in between
				return os.RemoveAll(filepath.Join(dir, "states", path)) == nil
			})
			w.accepted("m2")
			w.kill()
			w = startIn(t, dir, term.Options{Argv: []string{"cat"}}, "--state-dir", state)
			w.delivers("m1", "echo")
			w.delivers("m2", "echo")
		})
	}
}

// accepted sends a message, which must be accepted for good.
func (w *wrapped) accepted(id string) {
	w.t.Helper()
	w.inject(id, "body of "+id)
	if f := w.queued(id); !strings.Contains(f.Raw, `"durable":true`) {
		w.t.Fatalf("accepted: %s", f.Raw)
	}
}

// TestRemovedNames: the socket, the locks, and the record by which routers find it are
// made anew at once, without anybody's doing.
func TestRemovedNames(t *testing.T) {
	t.Parallel()
	dir := scratch(t)
	w := startIn(t, dir, term.Options{Argv: []string{"cat"}})
	record := filepath.Join(dir, "relay", "agents", "alice.json")
	for _, name := range []string{w.socket, w.socket + ".lock", w.socket, record, record,
		filepath.Join(dir, "relay-pty", "alice.lock")} {
		must(t, os.Remove(name))
		becomes(t, "a new "+name, func() bool { _, err := os.Lstat(name); return err == nil })
	}
	c, err := testrig.Dial(patience(t), w.socket)
	must(t, err)
	defer c.Close()
	must(t, c.Send(map[string]any{"type": "inject", "id": "m1", "from": "bob", "body": "hello"}))
	w.delivers("m1", "echo") // told to the connection of before, too
}
