package queue

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"relay-pty/protocol"
)

// Take begins an attempt with messages of one turn, or with none of them: each waiting
// message becomes one that is being injected, its Attempt counts one more, and it keeps
// its place for a Return. Once Take returns, that they are being injected is on disk.
// Taking what is taken, or gone, is [ErrState] or [ErrUnknown]; if the sink refuses,
// nothing was taken.
func (m *Mailbox) Take(now time.Time, ids ...string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pause.on {
		return ErrPaused
	}
	var taken []*entry
	for _, id := range ids {
		e, err := m.inLocked(id, protocol.StatusQueued)
		if err != nil {
			return err
		}
		taken = append(taken, e)
	}
	if err := m.beginLocked(taken, false, now); err != nil {
		return err
	}
	m.pressureLocked(now)
	return nil
}

// beginLocked begins an attempt with waiting messages, of a consumer if they are pulled.
func (m *Mailbox) beginLocked(taken []*entry, pulled bool, now time.Time) error {
	var proposals []Proposal
	for _, e := range taken {
		rec := e.Record
		rec.Status, rec.Pulled = protocol.StatusInjecting, pulled
		rec.Attempt++
		proposals = append(proposals, Proposal{rec.result(), &rec})
	}
	hold := m.hold
	written, err := m.sink.Propose(now, proposals...)
	if err != nil {
		return fmt.Errorf("record attempt: %w", err)
	}
	for i, e := range taken {
		m.leaveLocked(e)
		e.Record, e.cancels, e.entered = *proposals[i].Record, 0, false
		m.injecting = append(m.injecting, e)
	}
	if err := m.awaitLocked(written); err != nil {
		for _, e := range taken {
			m.backLocked(e, hold, now)
		}
		return fmt.Errorf("record attempt: %w", err)
	}
	return nil
}

// backLocked undoes the begin of an attempt that could not be recorded.
func (m *Mailbox) backLocked(e *entry, hold string, now time.Time) {
	e.Attempt--
	if e.cancels > 0 {
		m.endLocked(e, Outcome{Status: protocol.StatusCancelled}, now) // recorded when the disk takes it
		return
	}
	m.waitLocked(e)
	m.catchUpLocked(e, hold, now)
}

// waitLocked makes a message that is being injected a waiting one.
func (m *Mailbox) waitLocked(e *entry) {
	m.leaveLocked(e)
	e.Status, e.lent = protocol.StatusQueued, time.Time{}
	m.waiting = slices.Insert(m.waiting, m.placeLocked(e), e)
	m.changedLocked()
}

// awaitLocked waits, unlocked, until what was proposed is on disk.
func (m *Mailbox) awaitLocked(written func() error) error {
	if written == nil {
		return nil
	}
	m.mu.Unlock()
	defer m.mu.Lock()
	return written()
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
	m.waitLocked(e)
	defer m.pressureLocked(now)
	return m.tellWaitingLocked(e, now)
}

// Again gives a message back to the waiting ones whose attempt a crash has interrupted,
// and which its sender wants tried once more: it is marked. A second time is [ErrState].
func (m *Mailbox) Again(id string, now time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, err := m.inLocked(id, protocol.StatusInjecting)
	switch {
	case err != nil:
		return err
	case !e.mayAgain():
		return ErrState
	}
	return m.againLocked(e, now)
}

// mayAgain says whether a message that is in doubt may be tried once more.
func (e *entry) mayAgain() bool { return !e.Again && e.Redelivery == protocol.RedeliverOnce }

func (m *Mailbox) againLocked(e *entry, now time.Time) error {
	e.Again = true
	m.waitLocked(e)
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
	next, err = m.endPauseLocked(now)
	for _, e := range slices.Clone(m.waiting) {
		at := e.ExpiresAt
		switch {
		case at.IsZero(), e.fresh:
		case !now.Before(at):
			err = errors.Join(err, m.endLocked(e, Outcome{Status: protocol.StatusExpired}, now))
		case next.IsZero() || at.Before(next):
			next = at
		}
	}
	m.pressureLocked(now)
	return next, err
}

// Close closes the mailbox because the agent is gone: later messages get [ErrClosed].
// Those being injected end as unknown, since nobody can say any more what became of
// them; waiting ones end as failed, unless they are kept for the next wrapper.
func (m *Mailbox) Close(fault protocol.Fault, keep bool, now time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	var errs []error
	for _, e := range slices.Concat(m.injecting, m.waiting) {
		out := Outcome{Status: protocol.StatusFailed, Fault: &fault}
		switch {
		case e.fresh: // what is being recorded of it comes first
			continue
		case e.Status == protocol.StatusInjecting:
			out.Status = protocol.StatusUnknown
		case keep:
			continue
		}
		errs = append(errs, m.endLocked(e, out, now))
	}
	return errors.Join(errs...)
}

// endLocked makes a live message an ended one. Where an attempt before a crash may have
// delivered the message, an outcome that says it did not arrive becomes `unknown`.
func (m *Mailbox) endLocked(e *entry, out Outcome, now time.Time) error {
	m.leaveLocked(e)
	if e.Again && out.Status != protocol.StatusDelivered && out.Status != protocol.StatusUnknown {
		out = Outcome{Status: protocol.StatusUnknown, Fault: &protocol.Fault{
			Code: protocol.FaultCrashed, Message: "an attempt before a crash may have delivered it; it was not tried again to its end (" + out.Status + ")",
		}}
	}
	rec := e.ended(out, now)
	err := m.sink.Append(now, Proposal{rec.result(), &rec})
	e.Record = rec
	m.ended = append(m.ended, e)
	m.changedLocked()
	return err
}

// ended is the record of a message with its end. Its body is let go.
func (e *entry) ended(out Outcome, now time.Time) Record {
	rec := e.Record
	rec.Message = Message{ID: e.ID, Attempt: e.Attempt}
	rec.Status, rec.Evidence, rec.Fault, rec.EndedAt = out.Status, out.Evidence, out.Fault, now
	return rec
}

// leaveLocked takes a live message out of the list that its status names.
func (m *Mailbox) leaveLocked(e *entry) {
	list := &m.waiting
	if e.Status == protocol.StatusInjecting {
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
	case e.fresh || !slices.Contains(states, e.Status):
		return nil, ErrState
	}
	return e, nil
}

// forgetLocked drops ends that are older than the retention or more than Remember.
func (m *Mailbox) forgetLocked(now time.Time) {
	n := max(0, len(m.ended)-m.cfg.Remember)
	for n < len(m.ended) && now.Sub(m.ended[n].EndedAt) >= Retention {
		n++
	}
	for _, e := range m.ended[:n] {
		delete(m.entries, e.ID)
	}
	clear(m.ended[:n])
	m.ended = m.ended[n:]
}
