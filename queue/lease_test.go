package queue

import (
	"errors"
	"strings"
	"testing"
	"time"

	"relay-pty/protocol"
)

// lease takes messages for a consumer and says which.
func lease(t *testing.T, m *Mailbox, most int, modes ...string) string {
	t.Helper()
	if modes == nil {
		modes = protocol.Modes()
	}
	msgs, err := m.Lease(t0, asking(most, modes))
	must(t, err)
	var got []string
	for _, msg := range msgs {
		if !msg.Pulled || msg.Attempt == 0 || msg.Body == "" {
			t.Errorf("leased %+v", msg)
		}
		got = append(got, msg.ID)
	}
	return strings.Join(got, " ")
}

// asking takes a body that begins with x only if it is the first.
func asking(most int, modes []string) Ask {
	return Ask{Most: most, Modes: modes, Fits: func(taken []Message, next Message) bool {
		return len(taken) == 0 || next.Body[0] != 'x'
	}}
}

// inMode is a message of that mode.
func inMode(id, mode string) Message {
	msg := message(id)
	msg.Mode = mode
	return msg
}

func TestLeaseTakesWhatGoesNext(t *testing.T) {
	m, log := newMailbox(t, Config{})
	big := inMode("big", protocol.ModeImportant)
	big.Body = "xxx"
	run := message("run")
	run.Kind = protocol.KindCommand
	enqueue(t, m, message("s"), run, inMode("u", protocol.ModeUrgent), inMode("i", protocol.ModeImportant), big)
	if got := lease(t, m, 1, protocol.ModeImportant, protocol.ModeSequential); got != "i" {
		t.Errorf("the first of two modes is %q", got)
	}
	if got := lease(t, m, 9); got != "u" {
		t.Errorf("before one that does not fit: %q", got)
	}
	if got := lease(t, m, 9); got != "big s" {
		t.Errorf("the one that did not fit, and the rest: %q", got)
	}
	if got := lease(t, m, 9); got != "" || ids(m) != "run" || m.Len() != 1 {
		t.Errorf("leased %q, waiting %q", got, ids(m))
	}
	wantHistory(t, log, `"queued" "s"`, `"queued" "run"`, `"queued" "u"`, `"queued" "i"`, `"queued" "big"`,
		`"injecting" "i" "attempt":1 "via":"pull"`, `"injecting" "u"`, `"injecting" "big"`, `"injecting" "s"`)
}

func TestLeasedIsNobodyElses(t *testing.T) {
	m, log := newMailbox(t, Config{})
	msg := message("a")
	msg.Timeout = time.Second
	enqueue(t, m, msg, message("b"))
	lease(t, m, 1)
	if err := m.Take(t0, "a"); err != ErrState {
		t.Errorf("typed: %v", err)
	}
	must(t, m.Take(t0, "b"))
	if got := lease(t, m, 9); got != "" {
		t.Errorf("leased %q, which is leased or typed", got)
	}
	if res, err := m.Cancel("a", t0); err != ErrState || res.Status != protocol.StatusInjecting {
		t.Errorf("cancelled: %s, %v", res.Status, err)
	}
	if _, err := m.Expire(t0.Add(time.Hour)); err != nil {
		t.Error(err)
	}
	if g := m.Glance(); g.Injecting != "b" || g.Waiting != 0 {
		t.Errorf("being typed is %q of %+v", g.Injecting, g)
	}
	if id, err := m.Ack(t0, "b"); id != "b" || err != ErrState {
		t.Errorf("what is typed is acknowledged: %q, %v", id, err)
	}
	if id, err := m.Ack(t0, "a", "a"); err != nil {
		t.Fatal(id, err)
	}
	if id, err := m.Ack(t0, "a"); err != nil {
		t.Errorf("again: %q, %v", id, err)
	}
	wantHistory(t, log, `"queued" "a"`, `"queued" "b"`, `"injecting" "a"`, `"injecting" "b"`, `"delivered" "a" "pulled" "attempt":1`)
}

func TestAckTellsWhatIsTooLate(t *testing.T) {
	m, log := newMailbox(t, Config{})
	enqueue(t, m, message("a"), message("b"), message("waits"))
	lease(t, m, 2)
	if id, err := m.Ack(t0, "a", "nobody"); id != "nobody" || err != ErrUnknown {
		t.Errorf("got %q, %v", id, err)
	}
	if id, err := m.Ack(t0, "waits", "a"); id != "waits" || err != ErrState {
		t.Errorf("got %q, %v", id, err)
	}
	if err := m.Settle(m.Lent()[0], false, t0); err != nil {
		t.Error(err)
	}
	if id, err := m.Ack(t0, "b"); id != "b" || err != ErrState {
		t.Errorf("got %q, %v", id, err)
	}
	wantHistory(t, log, "queued", "queued", "queued", "injecting", "injecting", `"delivered" "a" "pulled"`, `"unknown" "b" "unacknowledged"`)
}

// TestLeaseThatEnds: what nobody acknowledged is never simply given again.
func TestLeaseThatEnds(t *testing.T) {
	once := message("a")
	once.Redelivery = protocol.RedeliverOnce
	for name, c := range map[string]struct {
		msg  Message
		end  func(*Mailbox, Lent) error
		want []string
	}{
		"shown by the log": {message("a"), func(m *Mailbox, l Lent) error { return m.Settle(l, true, t0) },
			[]string{`"delivered" "turn"`}},
		"in doubt": {message("a"), func(m *Mailbox, l Lent) error { return m.Settle(l, false, t0) },
			[]string{`"unknown" "unacknowledged"`}},
		"in doubt, and wanted once more": {once, func(m *Mailbox, l Lent) error {
			err := m.Settle(l, false, t0)
			if heads := m.Heads(1); len(heads) != 1 || !heads[0].Again {
				t.Errorf("waiting is %+v", heads)
			}
			return errors.Join(err, m.Take(t0, "a"), m.Finish("a", Outcome{Status: protocol.StatusDelivered}, t0))
		}, []string{`"waiting"`, `"injecting" "attempt":2`, `"delivered"`}},
		"twice in doubt": {once, func(m *Mailbox, l Lent) error {
			err := m.Settle(l, false, t0)
			lease(t, m, 1)
			return errors.Join(err, m.Settle(m.Lent()[0], false, t0))
		}, []string{`"waiting"`, `"injecting" "attempt":2`, `"unknown" "unacknowledged"`}},
		"acknowledged late, but before it is typed": {once, func(m *Mailbox, l Lent) error {
			err := m.Settle(l, false, t0)
			_, late := m.Ack(t0, "a")
			return errors.Join(err, late)
		}, []string{`"waiting"`, `"delivered" "pulled"`}},
		"read by nobody": {message("a"), func(m *Mailbox, l Lent) error {
			err := m.GiveBack(t0, []Message{{ID: "a"}})
			if stale := m.Settle(l, false, t0); stale != ErrState {
				t.Errorf("settled after that: %v", stale)
			}
			lease(t, m, 1)
			_, acked := m.Ack(t0, "a")
			return errors.Join(err, acked)
		}, []string{`"waiting"`, `"injecting" "attempt":2`, `"delivered" "pulled"`}},
		"the agent ended": {message("a"), func(m *Mailbox, _ Lent) error {
			return m.Close(protocol.Fault{Code: protocol.FaultAgentExited}, true, t0)
		}, []string{`"unknown" "agent_exited"`}},
	} {
		t.Run(name, func(t *testing.T) {
			m, log := newMailbox(t, Config{})
			enqueue(t, m, c.msg)
			lease(t, m, 1)
			if err := c.end(m, m.Lent()[0]); err != nil {
				t.Error(err)
			}
			if left := m.Lent(); len(left) != 0 {
				t.Errorf("still leased: %v", left)
			}
			wantHistory(t, log, append([]string{`"queued"`, `"injecting" "attempt":1`}, c.want...)...)
		})
	}
}

// TestWaiter: what somebody waits for is not typed, nor is anything in front of which it stands.
func TestWaiter(t *testing.T) {
	m, _ := newMailbox(t, Config{})
	run := inMode("run", protocol.ModeImportant)
	run.Kind = protocol.KindCommand
	w := m.Await(Ask{Modes: []string{protocol.ModeImportant}, Fits: func(_ []Message, next Message) bool { return next.ID != "large" }})
	<-w.Arrived() // look once at the start
	enqueue(t, m, message("s"), inMode("u", protocol.ModeUrgent), run, inMode("large", protocol.ModeImportant))
	if got := ids(m); got != "u run large s" {
		t.Errorf("for the typist: %s", got)
	}
	must(t, errors.Join(m.Take(t0, "large"), m.Finish("large", Outcome{Status: protocol.StatusDelivered}, t0)))
	enqueue(t, m, inMode("i", protocol.ModeImportant))
	<-w.Arrived()
	if got := ids(m); got != "u run" {
		t.Errorf("for the typist: %s", got)
	}
	if got := lease(t, m, 9, protocol.ModeImportant); got != "i" || ids(m) != "u run s" {
		t.Errorf("leased %s, left %s", got, ids(m))
	}
	other := m.Await(asking(9, protocol.Modes()))
	<-w.Displaced()
	m.Leave(w)
	if got := ids(m); got != "" {
		t.Errorf("left for the typist beside the one who waits for all: %s", got)
	}
	m.Leave(other)
	if got := ids(m); got != "u run s" {
		t.Errorf("nobody waits, and the typist gets %s", got)
	}
}

// TestLeaseOnAFullDisk: what cannot be recorded does not happen.
func TestLeaseOnAFullDisk(t *testing.T) {
	disk := &fullDisk{}
	m, err := New(Config{}, disk)
	must(t, err)
	enqueue(t, m, message("a"), message("b"))
	lease(t, m, 1)
	disk.on = true
	if got, err := m.Lease(t0, asking(1, protocol.Modes())); err == nil || got != nil {
		t.Errorf("leased %v, %v", got, err)
	}
	if _, err := m.Ack(t0, "a"); err == nil {
		t.Error("acknowledged")
	}
	disk.on = false
	if len(m.Lent()) != 1 || ids(m) != "b" {
		t.Errorf("leased are %v, waiting %s", m.Lent(), ids(m))
	}
	if id, err := m.Ack(t0, "a"); err != nil {
		t.Error(id, err)
	}
	if _, err := m.Lease(t0, asking(1, protocol.Modes())); err != nil {
		t.Error(err)
	}
	if err := m.Close(protocol.Fault{Code: "x"}, false, t0); err != nil {
		t.Error(err)
	}
	if _, err := m.Lease(t0, asking(1, protocol.Modes())); err != ErrClosed {
		t.Errorf("after the end: %v", err)
	}
}
