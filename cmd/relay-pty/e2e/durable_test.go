package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/term"
)

// unready is an agent that is never ready: nothing is typed into it.
var unready = []string{"sh", "-c", "stty raw -echo; printf 'starting'; exec tail -f /dev/null"}

// kill ends the wrapper as a crash would.
func (w *wrapped) kill() {
	w.t.Helper()
	must(w.t, syscall.Kill(w.Pid(), syscall.SIGKILL))
	_, err := w.Wait(patience(w.t, "the end of the killed wrapper"))
	must(w.t, err)
}

// queued waits until the message is accepted.
func (w *wrapped) queued(id string) testrig.Frame {
	w.t.Helper()
	f, err := w.client.Wait(patience(w.t, "the answer to "+id), func(f testrig.Frame) bool {
		return f.Str("id") == id && (f.Str("status") == "queued" || f.Type() == "error")
	})
	must(w.t, err)
	return f
}

func TestAcceptedMessagesSurviveAKill(t *testing.T) {
	t.Parallel()
	dir := scratch(t)
	w := startIn(t, dir, term.Options{Argv: unready}, "--prompt-pattern", "^never$")
	for i := range 20 {
		id := fmt.Sprintf("m%02d", i)
		w.inject(id, "body of "+id)
		if f := w.queued(id); !strings.Contains(f.Raw, `"durable":true`) {
			t.Fatalf("accepted: %s", f.Raw)
		}
	}
	seen := w.client.Frames()
	w.kill()

	got := filepath.Join(dir, "got")
	w = startIn(t, dir, term.Options{Argv: []string{"tee", got}})
	for i := range 20 {
		w.delivers(fmt.Sprintf("m%02d", i), "echo")
	}
	replayed := w.client.Frames()
	for i, f := range seen[1:] { // behind subscribed
		if replayed[1+i].Raw != f.Raw {
			t.Fatalf("event %d is replayed as %s, was %s", i, replayed[1+i].Raw, f.Raw)
		}
	}
	last := int64(0)
	for _, f := range replayed[1:] {
		if f.Num("seq") <= last {
			t.Fatalf("event %d behind %d", f.Num("seq"), last)
		}
		last = f.Num("seq")
	}
	w.inject("m00", "body of m00") // known: nothing is typed
	if f := w.ends("m00"); f.Str("status") != "delivered" {
		t.Errorf("sent again: %s", f.Raw)
	}
	w.inject("m00", "another")
	if f, err := w.client.Wait(patience(t, "an error"), func(f testrig.Frame) bool { return f.Type() == "error" }); err != nil || f.Str("code") != "duplicate_id" {
		t.Errorf("another message with its id: %s, %v", f.Raw, err)
	}
	must(t, w.Type("\x04"))
	_, err := w.Wait(patience(t, "the end of the wrapper"))
	must(t, err)
	read, err := os.ReadFile(got)
	must(t, err)
	for i := range 20 {
		if id := fmt.Sprintf("m%02d", i); strings.Count(string(read), text(id, "body of "+id)) != 1 {
			t.Errorf("%s was not read once:\n%s", id, read)
		}
	}
}

// TestInterruptedMessages: of what was being typed when the wrapper was killed, and
// what no log shows, nobody can say whether it arrived.
func TestInterruptedMessages(t *testing.T) {
	t.Parallel()
	deaf := []string{"sh", "-c", "stty raw -echo; printf '> '; exec tail -f /dev/null"}
	interrupted := func(t *testing.T, redelivery string) *wrapped {
		dir := scratch(t)
		w := startIn(t, dir, term.Options{Argv: deaf}, "--prompt-pattern", "^> $")
		must(t, w.client.Send(map[string]any{"type": "inject", "id": "m1", "from": "bob", "body": "hello", "redelivery": redelivery}))
		_, err := w.client.WaitStatus(patience(t), "m1", "injecting")
		must(t, err)
		w.kill()
		return startIn(t, dir, term.Options{Argv: []string{"cat"}})
	}
	t.Run("never", func(t *testing.T) {
		t.Parallel()
		w := interrupted(t, "never")
		if f := w.ends("m1"); f.Str("status") != "unknown" || !strings.Contains(f.Raw, `"code":"crashed"`) {
			t.Errorf("it ended as %s", f.Raw)
		}
	})
	t.Run("once", func(t *testing.T) {
		t.Parallel()
		w := interrupted(t, "once")
		if f := w.delivers("m1", "echo"); f.Num("attempt") != 2 {
			t.Errorf("it was delivered by %s", f.Raw)
		}
		must(t, w.WaitText(patience(t), "[relay m1 from bob · redelivery] hello"))
	})
}

// TestNoPlaceForTheJournal: nothing is accepted, the terminal works, and it recovers.
func TestNoPlaceForTheJournal(t *testing.T) {
	t.Parallel()
	dir := scratch(t)
	state := filepath.Join(dir, "state")
	must(t, os.WriteFile(state, nil, 0o600)) // where a directory should be
	w := startIn(t, dir, term.Options{Argv: []string{"cat"}}, "--state-dir", state)
	must(t, w.WaitText(patience(t), "messages are refused"))
	w.wantStatus(map[string]any{"degraded": true, "accept": false, "queue_length": 0.0})
	w.refused("m1")
	w.Type("typed by hand\r")
	if err := w.WaitText(patience(t), "typed by hand"); err != nil {
		t.Error(err)
	}
	must(t, os.Remove(state))
	w.recovers()
}

// refused sends a message, which must be refused.
func (w *wrapped) refused(id string) {
	w.t.Helper()
	w.inject(id, "hello")
	if f := w.queued(id); f.Str("code") != "degraded" {
		w.t.Fatalf("%s is not refused: %s", id, f.Raw)
	}
}

// works sends messages until one is accepted, and returns it and how long that took.
func (w *wrapped) works() (id string, took time.Duration) {
	w.t.Helper()
	began, n := time.Now(), 0
	becomes(w.t, "an accepted message", func() bool {
		id = fmt.Sprintf("again%d", n)
		n++
		w.inject(id, "hello")
		return w.queued(id).Str("status") == "queued"
	})
	return id, time.Since(began)
}

// recovers sends messages until one is accepted and delivered.
func (w *wrapped) recovers() {
	w.t.Helper()
	id, _ := w.works()
	w.delivers(id, "echo")
}

func TestOneWrapperHasTheJournal(t *testing.T) {
	t.Parallel()
	dir := scratch(t)
	w := startIn(t, dir, term.Options{Argv: []string{"cat"}})
	other := testrig.StartTerm(t, term.Options{
		Argv: []string{binary(t), "--name", "alice", "--socket", filepath.Join(dir, "other"), "--", "cat"},
		Env:  append(os.Environ(), "XDG_RUNTIME_DIR="+scratch(t), "XDG_STATE_HOME="+dir),
	})
	for _, told := range []string{"journal of alice: held by relay-pty pid", "choose another name or --state-dir"} {
		if err := other.WaitText(patience(t), told); err != nil {
			t.Error(err)
		}
	}
	w.inject("m1", "hello")
	w.delivers("m1", "echo")
}
