package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relay-pty/cmd/internal/testrig/term"
)

// ask asks the wrapper something that it must do.
func (w *wrapped) ask(request map[string]any) {
	w.t.Helper()
	if f := w.request(request); f.Type() != "ok" {
		w.t.Fatalf("%v: %s", request, f.Raw)
	}
}

// TestPauseOutlivesTheWrapper: what waited when it was killed waits on under the next one, and the
// human types all the while.
func TestPauseOutlivesTheWrapper(t *testing.T) {
	t.Parallel()
	dir := scratch(t)
	got := filepath.Join(dir, "got")
	w := startIn(t, dir, term.Options{Argv: []string{"tee", got}})
	w.ask(map[string]any{"type": "pause"})
	w.inject("m1", "one")
	if f := w.queued("m1"); f.Str("waiting_for") != "paused" {
		t.Errorf("got %s", f.Raw)
	}
	w.wantStatus(map[string]any{"paused": true, "waiting_for": "paused", "queue_length": 1.0})
	must(t, w.Type("mine\r"))
	must(t, w.WaitText(patience(t, "the human's own line"), "mine"))
	w.state("ready")
	unread := func() {
		t.Helper()
		if text, err := os.ReadFile(got); err != nil || strings.Contains(string(text), "relay") {
			t.Errorf("the agent has read %q, %v", text, err)
		}
	}
	unread()
	w.kill()

	w = startIn(t, dir, term.Options{Argv: []string{"tee", got}})
	w.inject("m2", "two")
	if f := w.queued("m2"); f.Str("waiting_for") != "paused" || f.Num("queue_position") != 2 {
		t.Errorf("got %s", f.Raw)
	}
	unread()
	w.ask(map[string]any{"type": "resume"})
	w.delivers("m1", "echo")
	w.delivers("m2", "echo")
	w.wantStatus(map[string]any{"paused": false})
	w.kill()
	w = startIn(t, dir, term.Options{Argv: []string{"cat"}})
	w.wantStatus(map[string]any{"paused": false})
}

// TestPauseEnds by itself, also one that cannot be kept on disk.
func TestPauseEnds(t *testing.T) {
	t.Parallel()
	w := start(t, term.Options{Argv: []string{"cat"}}, "--ephemeral")
	w.ask(map[string]any{"type": "pause", "for_ms": 300})
	w.inject("m1", "one")
	w.queued("m1")
	w.delivers("m1", "echo")
	w.wantStatus(map[string]any{"paused": false})
}

// TestPauseThatCannotBeKept is refused, and none.
func TestPauseThatCannotBeKept(t *testing.T) {
	t.Parallel()
	dir := scratch(t)
	state := filepath.Join(dir, "state")
	must(t, os.WriteFile(state, nil, 0o600)) // no directory can be made there
	w := startIn(t, dir, term.Options{Argv: []string{"cat"}}, "--state-dir", state)
	if f := w.request(fields("pause")); f.Type() != "error" || f.Str("code") != "degraded" {
		t.Errorf("got %s", f.Raw)
	}
	w.wantStatus(map[string]any{"paused": false})
	w.ask(map[string]any{"type": "resume"})
}
