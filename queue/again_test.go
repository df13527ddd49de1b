package queue

import (
	"errors"
	"testing"
	"time"

	"relay-pty/protocol"
)

// interrupted is a mailbox with message a, which a crash interrupted and whose sender wants it
// tried once more.
func interrupted(t *testing.T) (*Mailbox, *Outbox) {
	t.Helper()
	m, log := newMailbox(t, Config{})
	msg := message("a")
	msg.Redelivery, msg.Attempt = protocol.RedeliverOnce, 1
	msg.Timeout, msg.ExpiresAt = time.Minute, t0.Add(time.Minute)
	got := m.Restore([]Record{{Message: msg, Status: protocol.StatusInjecting}})
	if len(got) != 1 || got[0].ID != "a" {
		t.Fatalf("interrupted are %v", got)
	}
	return m, log
}

// TestTriedOnceMore: an attempt before a crash may have delivered it, so no end says that it was
// not.
func TestTriedOnceMore(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(*Mailbox) error
		want string
	}{
		"delivered": {func(m *Mailbox) error {
			return errors.Join(m.Take(t0, "a"), m.Finish("a", Outcome{Status: protocol.StatusDelivered, Evidence: "turn"}, t0))
		}, protocol.StatusDelivered},
		"failed": {func(m *Mailbox) error {
			return errors.Join(m.Take(t0, "a"), m.Finish("a", Outcome{Status: protocol.StatusFailed}, t0))
		}, protocol.StatusUnknown},
		"expired": {func(m *Mailbox) error { _, err := m.Expire(t0.Add(time.Hour)); return err }, protocol.StatusUnknown},
		"cancelled while it waits": {func(m *Mailbox) error {
			if res, err := m.Cancel("a", t0); err != ErrState || res.Status != protocol.StatusUnknown {
				t.Errorf("the canceller hears %s, %v", res.Status, err)
			}
			return nil
		}, protocol.StatusUnknown},
		"cancelled while it is typed": {func(m *Mailbox) error {
			err := m.Take(t0, "a")
			if res, err := m.Cancel("a", t0); err != nil || res.Status != protocol.StatusInjecting {
				t.Errorf("the canceller hears %s, %v", res.Status, err)
			}
			return errors.Join(err, m.Return("a", t0))
		}, protocol.StatusUnknown},
		"the agent ended": {func(m *Mailbox) error { return m.Close(protocol.Fault{Code: "agent_exited"}, false, t0) }, protocol.StatusUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			m, _ := interrupted(t)
			must(t, m.Again("a", t0))
			if got := m.Heads(1); len(got) != 1 || !got[0].Again {
				t.Fatalf("waiting are %+v", got)
			}
			must(t, c.end(m))
			r, err := m.Query("a")
			if err != nil || r.Status != c.want || c.want == protocol.StatusUnknown && r.Fault == nil {
				t.Errorf("it ended as %+v, %v; want %s", r, err, c.want)
			}
		})
	}
}

func TestTriedOnceMoreAtMost(t *testing.T) {
	m, _ := interrupted(t)
	must(t, errors.Join(m.Again("a", t0), m.Take(t0, "a")))
	if err := m.Again("a", t0); err != ErrState {
		t.Errorf("a second time: %v", err)
	}
	enqueue(t, m, message("b"))
	must(t, errors.Join(m.Take(t0, "b")))
	if err := m.Again("b", t0); err != ErrState {
		t.Errorf("one that its sender does not want twice: %v", err)
	}
}
