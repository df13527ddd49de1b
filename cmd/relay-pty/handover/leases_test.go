package handover

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"relay-pty/inject/refusal"
	"relay-pty/protocol"
	"relay-pty/queue"
)

// TestLeaseLasts as long as the agent may still come to what was pulled for it.
func TestLeaseLasts(t *testing.T) {
	start := time.Unix(1_700_000_000, 0)
	for _, c := range []struct {
		name string
		busy func(time.Duration) bool // whether a turn runs, so long after the pull
		want time.Duration
	}{
		{"no turn", func(time.Duration) bool { return false }, leaseTime},
		{"a short turn", func(d time.Duration) bool { return d < 10*time.Second }, leaseTime},
		{"a turn that is over at the end", func(d time.Duration) bool { return d < leaseTime }, leaseTime + toShow - time.Second},
		{"a long turn", func(d time.Duration) bool { return d <= 5*time.Minute }, 5*time.Minute + toShow},
		{"one that never ends", func(time.Duration) bool { return true }, leaseMost},
	} {
		t.Run(c.name, func(t *testing.T) {
			events := queue.NewOutbox()
			box, err := queue.New(queue.Config{}, events)
			must(t, err)
			msg := queue.Message{ID: "m1", From: "bob", Body: "x", Mode: protocol.ModeImportant, Kind: protocol.KindMessage}
			_, _, err = box.Enqueue(msg, start)
			must(t, err)
			now := start
			busy := func() bool { return c.busy(now.Sub(start)) }
			l := &Leases{Queue: box, Turn: busy, Note: func(err error, _ string) { must(t, err) }, Proof: silent{}}
			if again := l.Settle(now); !again.IsZero() {
				t.Errorf("without a lease it is asked again at %v", again)
			}
			_, err = box.Lease(start, queue.Ask{Most: 1, Modes: protocol.Modes(), Fits: func([]queue.Message, queue.Message) bool { return true }})
			must(t, err)
			for ; len(box.Lent()) > 0; now = now.Add(time.Second) {
				again := l.Settle(now)
				if open := len(box.Lent()) > 0; open != again.After(now) {
					t.Fatalf("%v after the pull it is open: %v, and asked again after %v", now.Sub(start), open, again.Sub(start))
				}
			}
			if got := now.Add(-time.Second).Sub(start); got != c.want {
				t.Errorf("it ended after %v, want %v", got, c.want)
			}
			if r, err := box.Query("m1"); err != nil || r.Status != protocol.StatusUnknown {
				t.Errorf("the message is %s, %v", r.Status, err)
			}
		})
	}
}

// TestTimeoutCountsForWhatWasPulled: a message that a dialog keeps from the agent ends at its time,
// as one that the agent may yet read, also if its sender wanted it once more.
func TestTimeoutCountsForWhatWasPulled(t *testing.T) {
	for _, c := range []struct {
		name                  string
		timeout, pulled, want time.Duration // all since it was sent
		redelivery            string
	}{
		{"while it is leased", 8 * time.Second, time.Second, 8 * time.Second, protocol.RedeliverNever},
		{"and it was wanted once more", 8 * time.Second, time.Second, 8 * time.Second, protocol.RedeliverOnce},
		{"pulled at the last moment", 8 * time.Second, 7 * time.Second, 7*time.Second + toShow, protocol.RedeliverNever},
		{"longer than any lease", time.Hour, time.Second, time.Second + leaseMost, protocol.RedeliverNever},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				box, err := queue.New(queue.Config{}, queue.NewOutbox())
				must(t, err)
				_, _, err = box.Enqueue(queue.Message{ID: "m1", From: "bob", Body: "x", Mode: protocol.ModeImportant, Kind: protocol.KindMessage,
					Timeout: c.timeout, Redelivery: c.redelivery}, start)
				must(t, err)
				note := func(err error, _ string) { must(t, err) }
				m := &Turns{Queue: box, Batch: func() int { return 1 }, Halted: func() bool { return false }, Unread: func() bool { return false },
					Refused: &refusal.Gate{}, Leases: &Leases{Queue: box, Turn: func() bool { return true }, Note: note, Proof: silent{}}}
				time.Sleep(c.pulled)
				_, err = box.Lease(time.Now(), queue.Ask{Most: 1, Modes: protocol.Modes(), Fits: func([]queue.Message, queue.Message) bool { return true }})
				must(t, err)
				for {
					next, again := m.Next(time.Now())
					if len(box.Lent()) == 0 {
						if next != nil {
							t.Error("it is to be typed")
						}
						break
					}
					time.Sleep(time.Until(again))
				}
				if got := time.Since(start); got != c.want {
					t.Errorf("it ended after %v, want %v", got, c.want)
				}
				r, err := box.Query("m1")
				must(t, err)
				if r.Status != protocol.StatusUnknown || r.Fault.Code != protocol.FaultUnacknowledged ||
					strings.Contains(r.Fault.Message, "time was over") != (c.timeout < leaseMost) {
					t.Errorf("the message is %s, %+v", r.Status, r.Fault)
				}
			})
		})
	}
}

// silent is the log of an agent that shows nothing.
type silent struct{}

func (silent) Took(string) bool    { return false }
func (silent) Look()               {}
func (silent) ExpectHanded(string) {}
func (silent) Forget(string)       {}

// shown is an agent's log, by the ids that the agent reads.
type shown map[string]bool

func (s shown) Took(id string) bool    { return s[id] }
func (s shown) Look()                  {}
func (s shown) ExpectHanded(id string) { s[id] = true }
func (s shown) Forget(id string)       { delete(s, id) }

// TestLeaseIsProvedByTheShortID: the agent's log knows a message by the id that stands in its
// header.
func TestLeaseIsProvedByTheShortID(t *testing.T) {
	now, log := time.Unix(1_700_000_000, 0), shown{}
	box, err := queue.New(queue.Config{}, queue.NewOutbox())
	must(t, err)
	_, _, err = box.Enqueue(queue.Message{ID: "a-longer-one", ShortID: "m-1", From: "bob", Body: "x", Mode: protocol.ModeImportant, Kind: protocol.KindMessage}, now)
	must(t, err)
	l := &Leases{Queue: box, Turn: func() bool { return false }, Note: func(err error, _ string) { must(t, err) }, Proof: log}
	list, err := box.Lease(now, queue.Ask{Most: 1, Modes: protocol.Modes(), Fits: func([]queue.Message, queue.Message) bool { return true }})
	must(t, err)
	if got, want := Envelope(list[0], 0, false).Text(), "[relay m-1 from bob] x\n[end m-1 · reply: ->relay:bob [re=m-1] <<<…>>>]"; got != want {
		t.Errorf("the agent reads %q, want %q", got, want)
	}
	l.Lent(box.ShownIDs([]string{"a-longer-one"}))
	l.Settle(now)
	if r, err := box.Query("a-longer-one"); err != nil || r.Status != protocol.StatusDelivered || r.Evidence != protocol.EvidenceTurn || len(log) != 0 {
		t.Errorf("the message is %s by %s, %v; still expected: %v", r.Status, r.Evidence, err, log)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
