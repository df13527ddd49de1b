package ledger

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"relay-pty/protocol"
	"relay-pty/protocol/own"
	"relay-pty/queue"
)

// run is a wrapper's ledger from its start to its end.
type run struct {
	*Ledger
	log  bytes.Buffer
	stop func()
}

// begin starts a ledger in a directory; shown are the messages that stand in the agent's log.
func begin(t *testing.T, dir string, shown ...string) *run {
	t.Helper()
	r := &run{}
	events := queue.NewOutbox()
	box, err := queue.New(queue.Config{Remember: Remember}, events)
	must(t, err)
	r.Ledger = &Ledger{Dir: dir, Name: "alice", Box: box, Events: events, Log: zerolog.New(&r.log)}
	r.Shown = func(time.Time, []string) map[string]bool {
		all := map[string]bool{}
		for _, id := range shown {
			all[id] = true
		}
		return all
	}
	release, err := r.Lock()
	must(t, err)
	end := r.Start()
	r.stop = func() { end(); release() }
	return r
}

// accepts puts a message into the mailbox.
func (r *run) accepts(t *testing.T, m queue.Message) {
	t.Helper()
	m.From, m.Body, m.Mode, m.Kind = "bob", "hello", protocol.ModeSequential, "message"
	if _, _, err := r.Box.Enqueue(m, time.Now()); err != nil {
		t.Fatal(err)
	}
}

// becomes waits until a message is told to have a status.
func (r *run) becomes(t *testing.T, id, status string) protocol.InjectResult {
	t.Helper()
	late := time.After(10 * time.Second)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		res, err := r.Box.Query(id)
		if err == nil && res.Status == status {
			return res
		}
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("%s is %+v (%v), want %s", id, res, err, status)
		}
	}
}

// TestInterruptedMessages: what became of the messages that a run before this one was typing.
func TestInterruptedMessages(t *testing.T) {
	dir := t.TempDir()
	r := begin(t, dir)
	for _, m := range []queue.Message{{ID: "shown"}, {ID: "gone"}, {ID: "once", Redelivery: protocol.RedeliverOnce}, {ID: "lent"}} {
		r.accepts(t, m)
		if m.ID != "lent" {
			must(t, r.Box.Take(time.Now(), m.ID))
		}
	}
	all := queue.Ask{Modes: []string{protocol.ModeSequential}, Most: 5, Fits: func([]queue.Message, queue.Message) bool { return true }}
	if list, err := r.Box.Lease(time.Now(), all); err != nil || len(list) != 1 {
		t.Fatalf("lent are %v, %v", list, err)
	}
	r.stop() // as a kill would: nothing has ended

	r = begin(t, dir, "shown")
	defer r.stop()
	if got := r.becomes(t, "shown", protocol.StatusDelivered); got.Evidence != protocol.EvidenceTurn {
		t.Errorf("shown was delivered by %q", got.Evidence)
	}
	if got := r.becomes(t, "gone", protocol.StatusUnknown); got.Fault.Code != protocol.FaultCrashed || !strings.Contains(got.Fault.Message, "being typed") {
		t.Errorf("gone: %+v", got.Fault)
	}
	if got := r.becomes(t, "lent", protocol.StatusUnknown); !strings.Contains(got.Fault.Message, "being pulled") {
		t.Errorf("lent: %+v", got.Fault)
	}
	r.becomes(t, "once", protocol.StatusQueued)
	if heads := r.Box.Heads(5); len(heads) != 1 || heads[0].ID != "once" || !heads[0].Again {
		t.Errorf("what waits is %+v, want once, again", heads)
	}
}

// TestWhatWaitsIsThereAgain after a restart, in its order.
func TestWhatWaitsIsThereAgain(t *testing.T) {
	dir := t.TempDir()
	r := begin(t, dir)
	for i := range 3 {
		r.accepts(t, queue.Message{ID: "m" + strconv.Itoa(i)})
	}
	epoch := r.Events.Epoch()
	r.stop()
	r = begin(t, dir)
	defer r.stop()
	var ids []string
	for _, m := range r.Box.Heads(5) {
		ids = append(ids, m.ID)
	}
	if got := strings.Join(ids, " "); got != "m0 m1 m2" || r.Events.Epoch() != epoch {
		t.Errorf("what waits is %q in epoch %s, want all of epoch %s", got, r.Events.Epoch(), epoch)
	}
}

// TestOneWrapperHasAJournal: the second is told who has it.
func TestOneWrapperHasAJournal(t *testing.T) {
	dir := t.TempDir()
	first := begin(t, dir)
	other := &Ledger{Dir: dir, Name: "alice"}
	_, err := other.Lock()
	var held *own.HeldError
	if !errors.As(err, &held) || held.PID != os.Getpid() || held.Name != "alice" {
		t.Errorf("a second wrapper gets %v", err)
	}
	first.stop()
	release, err := other.Lock()
	if err != nil {
		t.Errorf("a journal that was given up: %v", err)
	}
	release()
}

// TestDirectoryThatCannotBe: the wrapper starts, and says why it takes no messages.
func TestDirectoryThatCannotBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	r := begin(t, filepath.Join(file, "state"))
	defer r.stop()
	if err := r.Trouble(); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("the trouble is %v", err)
	}
	if _, _, err := r.Box.Enqueue(queue.Message{ID: "m1"}, time.Now()); err == nil {
		t.Error("a message was accepted that could not be kept")
	}
	if kept := (&Ledger{}); kept.Trouble() != nil {
		t.Errorf("a wrapper that keeps nothing has trouble: %v", kept.Trouble())
	}
}

// TestPauseOutlivesItsWrapper, for as long as it was to be and no longer.
func TestPauseOutlivesItsWrapper(t *testing.T) {
	now := time.Now()
	form := func(since, end time.Time) string {
		return strconv.FormatInt(since.UnixMilli(), 10) + " " + strconv.FormatInt(end.UnixMilli(), 10) + "\n"
	}
	for _, c := range []struct {
		name, text string
		rest       time.Duration // 0: it is over; less: without end
	}{
		{"of an hour, half over", form(now.Add(-30*time.Minute), now.Add(30*time.Minute)), 30 * time.Minute},
		{"over", form(now.Add(-time.Hour), now.Add(-time.Minute)), 0},
		{"without end", strconv.FormatInt(now.UnixMilli(), 10) + " 0\n", -1},
		{"of a minute, and the clock went back by a day", form(now.Add(24*time.Hour), now.Add(24*time.Hour+time.Minute)), time.Minute},
		{"that nobody can read", "soon\n", -1},
		{"of half a file", "17", -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			must(t, os.WriteFile(filepath.Join(dir, "alice.paused"), []byte(c.text), 0o600))
			r := begin(t, dir)
			defer r.stop()
			paused := func(after time.Duration) bool {
				if _, err := r.Box.Expire(time.Now().Add(after)); err != nil {
					t.Fatal(err)
				}
				return r.Box.Glance().Paused
			}
			if got := paused(0); got != (c.rest != 0) {
				t.Fatalf("paused: %v", got)
			}
			if c.rest > 0 && (!paused(c.rest-time.Minute/2) || paused(c.rest+time.Second)) {
				t.Error("it does not end when it was to")
			}
			if c.rest < 0 && !paused(1000*time.Hour) {
				t.Error("it ends by itself")
			}
		})
	}
}

// TestPauseAndResume are on disk before they are true.
func TestPauseAndResume(t *testing.T) {
	dir := t.TempDir()
	r := begin(t, dir)
	if err := errors.Join(r.Pause(time.Hour), r.Pause(0)); err != nil || !r.Box.Glance().Paused {
		t.Fatalf("paused %v, %v", r.Box.Glance().Paused, err)
	}
	r.stop()
	r = begin(t, dir)
	if !r.Box.Glance().Paused {
		t.Error("the pause is forgotten")
	}
	if err := errors.Join(r.Resume(), r.Resume()); err != nil || r.Box.Glance().Paused {
		t.Errorf("resumed: %v, %v", r.Box.Glance().Paused, err)
	}
	r.stop()
	r = begin(t, dir)
	defer r.stop()
	if r.Box.Glance().Paused {
		t.Error("the pause is back")
	}
	if err := os.WriteFile(filepath.Join(dir, "alice.paused.new"), nil, 0o600); err != nil { // as a crash leaves it
		t.Fatal(err)
	}
	if err := r.Pause(time.Minute); err != nil {
		t.Error(err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
