package queue

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"relay-pty/protocol"
	"relay-pty/protocol/failpoint"
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
	var taken []*item
	for _, id := range ids {
		it, err := m.inLocked(id, protocol.StatusQueued)
		if err != nil {
			return err
		}
		taken = append(taken, it)
	}
	if err := m.beginLocked(taken, false, now); err != nil {
		return err
	}
	m.pressureLocked(now)
	return nil
}

// beginLocked begins an attempt with waiting messages, of a consumer if they are pulled.
func (m *Mailbox) beginLocked(taken []*item, pulled bool, now time.Time) error {
	var proposals []Proposal
	for _, it := range taken {
		rec := it.Record
		rec.Status, rec.Pulled = protocol.StatusInjecting, pulled
		rec.Attempt++
		proposals = append(proposals, Proposal{rec.result(), &rec})
	}
	hold := m.hold
	written, err := m.sink.Propose(now, proposals...)
	if err != nil {
		return fmt.Errorf("record attempt: %w", err)
	}
	for i, it := range taken {
		m.leaveLocked(it)
		it.Record, it.cancels, it.entered = *proposals[i].Record, 0, false
		m.injecting = append(m.injecting, it)
	}
	if err := m.awaitLocked(written); err != nil {
		for _, it := range taken {
			m.backLocked(it, hold, now)
		}
		return fmt.Errorf("record attempt: %w", err)
	}
	return nil
}

// backLocked undoes the begin of an attempt that could not be recorded.
func (m *Mailbox) backLocked(it *item, hold string, now time.Time) {
	it.Attempt--
	if it.cancels > 0 {
		m.endLocked(it, Outcome{Status: protocol.StatusCancelled}, now) // recorded when the disk takes it
		return
	}
	m.waitLocked(it)
	m.catchUpLocked(it, hold, now)
}

// waitLocked makes a message that is being injected a waiting one.
func (m *Mailbox) waitLocked(it *item) {
	m.leaveLocked(it)
	it.Status, it.lent = protocol.StatusQueued, time.Time{}
	m.waiting = slices.Insert(m.waiting, m.placeLocked(it), it)
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
	it, err := m.inLocked(id, protocol.StatusInjecting)
	if err != nil {
		return err
	}
	if it.cancels > 0 {
		defer m.pressureLocked(now)
		return m.endLocked(it, Outcome{Status: protocol.StatusCancelled}, now)
	}
	m.waitLocked(it)
	defer m.pressureLocked(now)
	return m.tellWaitingLocked(it, now)
}

// Again gives a message back to the waiting ones whose attempt a crash has interrupted,
// and which its sender wants tried once more: it is marked. A second time is [ErrState].
func (m *Mailbox) Again(id string, now time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	it, err := m.inLocked(id, protocol.StatusInjecting)
	switch {
	case err != nil:
		return err
	case !it.mayAgain():
		return ErrState
	}
	return m.againLocked(it, now)
}

// mayAgain reports whether a message that is in doubt may be tried once more.
func (it *item) mayAgain() bool {
	return !it.Again && (it.Redelivery == protocol.RedeliverOnce || failpoint.Built && failpoint.On(failpoint.RedeliveredUnasked))
}

func (m *Mailbox) againLocked(it *item, now time.Time) error {
	it.Again = !failpoint.Built || !failpoint.On(failpoint.Unmarked)
	m.waitLocked(it)
	return m.tellWaitingLocked(it, now)
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
	it, err := m.inLocked(id, from...)
	if err != nil {
		return err
	}
	defer m.pressureLocked(now)
	return m.endLocked(it, out, now)
}

// Expire ends the waiting messages whose time is up at now and returns when to ask
// again, the zero time when none of the rest ever expires.
func (m *Mailbox) Expire(now time.Time) (next time.Time, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forgetLocked(now)
	next, err = m.endPauseLocked(now)
	for _, it := range slices.Clone(m.waiting) {
		at := it.ExpiresAt
		switch {
		case at.IsZero(), it.fresh:
		case !now.Before(at):
			err = errors.Join(err, m.endLocked(it, Outcome{Status: protocol.StatusExpired}, now))
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
	for _, it := range slices.Concat(m.injecting, m.waiting) {
		out := Outcome{Status: protocol.StatusFailed, Fault: &fault}
		switch {
		case it.fresh: // what is being recorded of it comes first
			continue
		case it.Status == protocol.StatusInjecting:
			out.Status = protocol.StatusUnknown
		case keep:
			continue
		}
		errs = append(errs, m.endLocked(it, out, now))
	}
	return errors.Join(errs...)
}

// endLocked makes a live message an ended one. Where an attempt before a crash may have
// delivered the message, an outcome that says it did not arrive becomes `unknown`.
func (m *Mailbox) endLocked(it *item, out Outcome, now time.Time) error {
	m.leaveLocked(it)
	if it.Again && out.Status != protocol.StatusDelivered && out.Status != protocol.StatusUnknown {
		out = Outcome{Status: protocol.StatusUnknown, Fault: &protocol.Fault{
			Code: protocol.FaultCrashed, Message: "an attempt before a crash may have delivered it; it was not tried again to its end (" + out.Status + ")",
		}}
	}
	rec := it.ended(out, now)
	err := m.sink.Append(now, Proposal{rec.result(), &rec})
	if failpoint.Built && (failpoint.On(failpoint.CancelledTyped) && rec.Status == protocol.StatusCancelled ||
		failpoint.On(failpoint.ExpiredTyped) && rec.Status == protocol.StatusExpired) {
		it.ExpiresAt, m.waiting = time.Time{}, append(m.waiting, it)
		return err
	}
	it.Record = rec
	m.ended = append(m.ended, it)
	m.changedLocked()
	return err
}

// ended is the record of a message with its end. Its body is let go.
func (it *item) ended(out Outcome, now time.Time) Record {
	rec := it.Record
	rec.Message = Message{ID: it.ID, ShortID: it.ShortID, Attempt: it.Attempt}
	rec.Status, rec.Evidence, rec.Fault, rec.EndedAt = out.Status, out.Evidence, out.Fault, now
	return rec
}

// leaveLocked takes a live message out of the list that its status names.
func (m *Mailbox) leaveLocked(it *item) {
	list := &m.waiting
	if it.Status == protocol.StatusInjecting {
		list = &m.injecting
	}
	at := slices.Index(*list, it)
	*list = slices.Delete(*list, at, at+1)
}

func (m *Mailbox) inLocked(id string, states ...string) (*item, error) {
	it := m.items[id]
	switch {
	case it == nil:
		return nil, ErrUnknown
	case it.fresh || !slices.Contains(states, it.Status):
		return nil, ErrState
	}
	return it, nil
}

// forgetLocked drops ends that are older than the retention or more than Remember.
func (m *Mailbox) forgetLocked(now time.Time) {
	n := max(0, len(m.ended)-m.cfg.Remember)
	for n < len(m.ended) && now.Sub(m.ended[n].EndedAt) >= Retention {
		n++
	}
	for _, it := range m.ended[:n] {
		m.dropLocked(it)
	}
	clear(m.ended[:n])
	m.ended = m.ended[n:]
}
