package queue

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"relay-pty/protocol"
)

// Take begins an attempt: the waiting message becomes one that is being injected, its
// Attempt counts one more, and it keeps its place for a Return. Taking it again, or one
// that is gone, is [ErrState] or [ErrUnknown]; if the sink refuses the event, nothing
// was taken.
func (m *Mailbox) Take(id string, now time.Time) (Message, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, err := m.inLocked(id, protocol.StatusQueued)
	if err != nil {
		return Message{}, err
	}
	ev := e.event(protocol.StatusInjecting)
	ev.Attempt = e.msg.Attempt + 1
	if err := m.sink.Append(ev, now); err != nil {
		return Message{}, fmt.Errorf("record attempt: %w", err)
	}
	m.leaveLocked(e)
	e.msg.Attempt++
	e.status, e.stamp, e.cancels, e.entered = ev.Status, ev.Stamp, 0, false
	m.injecting = append(m.injecting, e)
	m.pressureLocked(now)
	return e.msg, nil
}

// Return withdraws an attempt: the message waits again, where it stood, and a waiting
// event says so. One whose cancelling was asked for meanwhile ends as cancelled instead.
func (m *Mailbox) Return(id string, now time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, err := m.inLocked(id, protocol.StatusInjecting)
	if err != nil {
		return err
	}
	if e.cancels > 0 {
		defer m.pressureLocked(now)
		return m.endLocked(e, Outcome{Status: protocol.StatusCancelled}, now)
	}
	m.leaveLocked(e)
	e.status = protocol.StatusQueued
	m.waiting = slices.Insert(m.waiting, m.placeLocked(e), e)
	m.changedLocked()
	defer m.pressureLocked(now)
	return m.tellWaitingLocked(e, now)
}

// Finish ends a message, once: delivered and unknown only while it is being injected,
// failed and cancelled also while it waits. An end that does not fit is [ErrState],
// and so is a second one. An error of the sink is returned, but the end stands.
func (m *Mailbox) Finish(id string, out Outcome, now time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	from := []string{protocol.StatusInjecting}
	switch out.Status {
	case protocol.StatusDelivered, protocol.StatusUnknown:
	case protocol.StatusFailed, protocol.StatusCancelled:
		from = append(from, protocol.StatusQueued)
	default:
		return ErrState
	}
	e, err := m.inLocked(id, from...)
	if err != nil {
		return err
	}
	defer m.pressureLocked(now)
	return m.endLocked(e, out, now)
}

// Expire ends the waiting messages whose time is up at now and returns when to ask
// again, the zero time when none of the rest ever expires.
func (m *Mailbox) Expire(now time.Time) (next time.Time, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forgetLocked(now)
	for _, e := range slices.Clone(m.waiting) {
		at := e.msg.ExpiresAt
		switch {
		case at.IsZero():
		case !now.Before(at):
			err = errors.Join(err, m.endLocked(e, Outcome{Status: protocol.StatusExpired}, now))
		case next.IsZero() || at.Before(next):
			next = at
		}
	}
	m.pressureLocked(now)
	return next, err
}

// FailAll closes the mailbox because the agent is gone: waiting messages end as failed,
// those being injected as unknown, since nobody can say any more what became of them.
// Later messages get [ErrClosed].
func (m *Mailbox) FailAll(fault protocol.Fault, now time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	var errs []error
	for _, e := range slices.Concat(m.injecting, m.waiting) {
		out := Outcome{Status: protocol.StatusFailed, Fault: &fault}
		if e.status == protocol.StatusInjecting {
			out.Status = protocol.StatusUnknown
		}
		errs = append(errs, m.endLocked(e, out, now))
	}
	return errors.Join(errs...)
}

// endLocked makes a live message an ended one. Its body is let go.
func (m *Mailbox) endLocked(e *entry, out Outcome, now time.Time) error {
	m.leaveLocked(e)
	e.status, e.evidence, e.fault, e.endedAt = out.Status, out.Evidence, out.Fault, now
	e.msg = Message{ID: e.msg.ID, Attempt: e.msg.Attempt}
	m.ended = append(m.ended, e)
	m.changedLocked()
	ev := e.event(e.status)
	ev.Attempt = e.msg.Attempt
	err := m.sink.Append(ev, now)
	e.stamp = ev.Stamp
	return err
}

// leaveLocked takes a live message out of the list that its status names.
func (m *Mailbox) leaveLocked(e *entry) {
	list := &m.waiting
	if e.status == protocol.StatusInjecting {
		list = &m.injecting
	}
	at := slices.Index(*list, e)
	*list = slices.Delete(*list, at, at+1)
}

func (m *Mailbox) inLocked(id string, states ...string) (*entry, error) {
	e := m.entries[id]
	switch {
	case e == nil:
		return nil, ErrUnknown
	case !slices.Contains(states, e.status):
		return nil, ErrState
	}
	return e, nil
}

// forgetLocked drops ends that are older than the retention or more than Remember.
func (m *Mailbox) forgetLocked(now time.Time) {
	n := max(0, len(m.ended)-m.cfg.Remember)
	for n < len(m.ended) && now.Sub(m.ended[n].endedAt) >= retention {
		n++
	}
	for _, e := range m.ended[:n] {
		delete(m.entries, e.msg.ID)
	}
	clear(m.ended[:n])
	m.ended = m.ended[n:]
}
