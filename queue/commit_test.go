package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"relay-pty/protocol"
)

// fakeDisk keeps what is committed; a commit takes a while.
type fakeDisk struct {
	mu      sync.Mutex
	takes   time.Duration
	fails   error
	commits int
	changes []Change
	gone    int64
}

func (d *fakeDisk) Commit(changes []Change) error {
	<-time.After(d.takes)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fails != nil {
		return d.fails
	}
	d.commits++
	d.changes = append(d.changes, changes...)
	return nil
}

func (d *fakeDisk) Events(after int64, most int) (list []Entry, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.changes {
		if c.Seq > after && len(list) < most {
			list = append(list, c.Entry)
		}
	}
	return list, nil
}

func (d *fakeDisk) Find(id string) (Record, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range slices.Backward(d.changes) {
		if c.Record != nil && c.Record.ID == id && !c.Record.Live() {
			return *c.Record, true
		}
	}
	return Record{}, false
}

func (d *fakeDisk) Gone() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.gone
}

func (d *fakeDisk) fail(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fails = err
}

// done is what is on disk, and by how many commits.
func (d *fakeDisk) done() ([]Change, int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.changes), d.commits
}

// durable runs a mailbox on a disk in a bubble.
func durable(t *testing.T, test func(t *testing.T, d *fakeDisk, m *Mailbox, log *Outbox)) {
	synctest.Test(t, func(t *testing.T) {
		d := &fakeDisk{takes: time.Millisecond}
		log := NewOutbox()
		log.Keep(d, "epoch", 0)
		m, err := New(Config{Remember: 1}, log)
		must(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- log.Run(ctx, func(error) { m.Wake() }) }()
		test(t, d, m, log)
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

func TestQueuedIsSaidWhenItIsOnDisk(t *testing.T) {
	durable(t, func(t *testing.T, d *fakeDisk, m *Mailbox, log *Outbox) {
		follower, _ := log.Follow(FromNow)
		defer follower.Close()
		accepted := make(chan protocol.InjectResult)
		go func() {
			res, _, err := m.Enqueue(message("a"), t0)
			if err != nil {
				t.Error(err)
			}
			accepted <- res
		}()
		synctest.Wait()
		if got, _ := follower.Next(1); len(got) > 0 || len(m.Heads(1)) > 0 {
			t.Error("it was told, or could be injected, before it was on disk")
		}
		res := <-accepted
		if changes, _ := d.done(); !res.Queued.Durable || len(changes) != 1 {
			t.Errorf("%+v with %d changes on disk", res, len(changes))
		}
		synctest.Wait()
		if got, _ := follower.Next(1); len(got) != 1 || len(m.Heads(1)) != 1 {
			t.Error("it was not told, or cannot be injected")
		}
	})
}

// A change of what messages wait for is told also when the only one that waits was being
// recorded at that moment: its queued event says what held it before.
func TestChangeOfWaitingForWhileRecordingIsTold(t *testing.T) {
	durable(t, func(t *testing.T, _ *fakeDisk, m *Mailbox, log *Outbox) {
		var senders sync.WaitGroup
		senders.Go(func() { enqueue(t, m, message("a")) })
		synctest.Wait()
		if err := m.WaitsFor("turn", t0); err != nil {
			t.Error(err)
		}
		senders.Wait()
		<-time.After(2 * time.Millisecond) // a commit more
		wantHistory(t, log, `"id":"a" "queued" "waiting_for":null`, `"waiting" "id":"a" "waiting_for":"turn"`)
	})
}

// The same for one whose attempt could not be recorded: it waits again, for something else.
func TestChangeOfWaitingForInAFailingAttemptIsTold(t *testing.T) {
	durable(t, func(t *testing.T, d *fakeDisk, m *Mailbox, log *Outbox) {
		enqueue(t, m, message("a"))
		d.fail(errDisk)
		var taking sync.WaitGroup
		taking.Go(func() {
			if err := m.Take(t0, "a"); !errors.Is(err, ErrDegraded) {
				t.Errorf("begun: %v", err)
			}
		})
		synctest.Wait()
		if err := m.WaitsFor("turn", t0); err != nil {
			t.Error(err)
		}
		taking.Wait()
		d.fail(nil)
		<-time.After(2 * retryAfter)
		wantHistory(t, log, `"id":"a" "queued" "waiting_for":null`, `"waiting" "id":"a" "waiting_for":"turn"`)
	})
}

// A mark that is reached while the disk fails is told when it works again: senders wait for it.
func TestMarkReachedWhileTheDiskFailsIsTold(t *testing.T) {
	durable(t, func(t *testing.T, d *fakeDisk, m *Mailbox, log *Outbox) {
		m.cfg.High, m.cfg.Low = 1, 0
		enqueue(t, m, message("a"))
		d.fail(errDisk)
		if _, _, err := m.Enqueue(message("b"), t0); !errors.Is(err, ErrDegraded) {
			t.Errorf("accepted: %v", err)
		}
		if err := m.Finish("a", Outcome{Status: protocol.StatusFailed}, t0); err != nil {
			t.Error(err)
		}
		d.fail(nil)
		<-time.After(2 * retryAfter)
		if _, err := m.Expire(t0); err != nil { // the injector's next look
			t.Error(err)
		}
		<-time.After(2 * time.Millisecond)
		wantHistory(t, log, `"queued"`, `"backpressure" "accept":false`, `"failed"`, `"backpressure" "accept":true`)
	})
}

func TestCommitIsForAllThatCameInDuringTheLast(t *testing.T) {
	durable(t, func(t *testing.T, d *fakeDisk, m *Mailbox, _ *Outbox) {
		var senders sync.WaitGroup
		for i := range 40 {
			senders.Go(func() {
				if _, _, err := m.Enqueue(message(fmt.Sprint(i)), t0); err != nil {
					t.Error(err)
				}
			})
		}
		senders.Wait()
		if _, commits := d.done(); m.Len() != 40 || commits > 3 {
			t.Errorf("%d messages in %d commits", m.Len(), commits)
		}
	})
}

func TestSameMessageTwiceWhileItIsWritten(t *testing.T) {
	durable(t, func(t *testing.T, d *fakeDisk, m *Mailbox, _ *Outbox) {
		var senders sync.WaitGroup
		var mu sync.Mutex
		fresh := 0
		for range 5 {
			senders.Go(func() {
				res, known, err := m.Enqueue(message("a"), t0)
				mu.Lock()
				defer mu.Unlock()
				if !known {
					fresh++
				}
				if err != nil || res.ID != "a" {
					t.Errorf("%+v, %v", res, err)
				}
			})
		}
		senders.Wait()
		if fresh != 1 || m.Len() != 1 {
			t.Errorf("accepted %d times, %d wait", fresh, m.Len())
		}
	})
}

// TestDiskThatFails: nothing is accepted or begun, what happens anyway is kept and
// told when the disk works again, and nothing is told twice.
func TestDiskThatFails(t *testing.T) {
	durable(t, func(t *testing.T, d *fakeDisk, m *Mailbox, log *Outbox) {
		enqueue(t, m, message("a"), message("b"))
		must(t, m.Take(t0, "a"))
		d.fail(errDisk)
		if _, _, err := m.Enqueue(message("c"), t0); !errors.Is(err, ErrDegraded) || !errors.Is(err, errDisk) {
			t.Errorf("accepted: %v", err)
		}
		if err := m.Take(t0, "b"); !errors.Is(err, ErrDegraded) || ids(m) != "b" {
			t.Errorf("begun: %v, %s wait", err, ids(m))
		}
		if log.Fault() == nil {
			t.Error("no fault is told")
		}
		last := log.Last()
		if err := m.Finish("a", Outcome{Status: protocol.StatusDelivered, Evidence: "turn"}, t0); err != nil {
			t.Error(err)
		}
		log.Tell(&protocol.RelayCommand{ID: "said"}, t0)
		log.Tell(&protocol.State{State: "busy"}, t0) // worth nothing later
		<-time.After(time.Minute)
		if log.Last() != last {
			t.Error("told what is not on disk")
		}
		d.fail(nil)
		<-time.After(2 * retryAfter)
		if log.Fault() != nil || log.Last() == last {
			t.Errorf("it works again: %v, last %d", log.Fault(), log.Last())
		}
		if res, _, err := m.Enqueue(message("c"), t0); err != nil || res.Status != protocol.StatusQueued {
			t.Errorf("%+v, %v", res, err)
		}
		got := ""
		changes, _ := d.done()
		for _, c := range changes {
			got += c.Type + " " + c.About + ", "
		}
		if want := "inject_result a, inject_result b, inject_result a, inject_result a, relay_command , inject_result c, "; got != want {
			t.Errorf("on disk are %s, want %s", got, want)
		}
		for i, c := range changes[1:] {
			if c.Seq <= changes[i].Seq {
				t.Errorf("number %d after %d", c.Seq, changes[i].Seq)
			}
		}
	})
}

func TestEndedMessagesAreFoundOnDisk(t *testing.T) {
	durable(t, func(t *testing.T, _ *fakeDisk, m *Mailbox, _ *Outbox) {
		for _, id := range []string{"a", "b", "c"} {
			enqueue(t, m, message(id))
			must(t, m.Finish(id, Outcome{Status: protocol.StatusFailed}, t0))
		}
		enqueue(t, m, message("d")) // forgets a and b
		if r, err := m.Query("a"); err != nil || r.Status != protocol.StatusFailed {
			t.Errorf("%+v, %v", r, err)
		}
		if _, err := m.Cancel("a", t0); err != ErrState {
			t.Error(err)
		}
		if _, known, err := m.Enqueue(message("a"), t0); !known || err != nil {
			t.Errorf("again: %v, %v", known, err)
		}
	})
}

func TestFollowerReadsOnFromDisk(t *testing.T) {
	durable(t, func(t *testing.T, d *fakeDisk, _ *Mailbox, log *Outbox) {
		const n = 3 * keepEvents / cachedPart
		for i := range n {
			log.Tell(&protocol.RelayCommand{ID: fmt.Sprint(i)}, t0)
		}
		<-time.After(time.Second)
		follower, err := log.Follow(0)
		must(t, err)
		defer follower.Close()
		for want := int64(1); want <= n; {
			got, err := follower.Next(50)
			if err != nil || len(got) == 0 {
				t.Fatalf("at %d: %d events, %v", want, len(got), err)
			}
			for _, e := range got {
				if e.Seq != want {
					t.Fatalf("event %d, want %d", e.Seq, want)
				}
				want++
			}
		}
		d.mu.Lock()
		d.gone = 100
		d.mu.Unlock()
		if _, err := log.Follow(99); err != ErrCursorGone {
			t.Errorf("after what is gone: %v", err)
		}
		if f, err := log.Follow(100); err != nil {
			t.Error(err)
		} else if got, _ := f.Next(1); got[0].Seq != 101 {
			t.Errorf("event %d, want 101", got[0].Seq)
		}
	})
}

// TestStoreThatComesLater: until then nothing is told and nothing accepted.
func TestStoreThatComesLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := NewOutbox()
		log.Fail(errDisk)
		m, err := New(Config{}, log)
		must(t, err)
		if _, _, err := m.Enqueue(message("a"), t0); !errors.Is(err, ErrDegraded) {
			t.Errorf("accepted: %v", err)
		}
		for _, after := range []int64{0, 5} {
			if _, err := log.Follow(after); !errors.Is(err, ErrDegraded) || log.Unread() == nil {
				t.Errorf("after %d: %v, and told as %v", after, err, log.Unread())
			}
		}
		follower, _ := log.Follow(FromNow)
		defer follower.Close()
		log.Tell(&protocol.RelayCommand{ID: "said"}, t0)
		d := &fakeDisk{}
		log.Keep(d, "epoch", 70)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- log.Run(ctx, func(error) {}) }()
		synctest.Wait()
		if got, err := follower.Next(9); err != nil || len(got) != 1 || got[0].Seq != 71 {
			t.Errorf("got %v, %v; want event 71", got, err)
		}
		enqueue(t, m, message("a"))
		cancel()
		<-done
	})
}
