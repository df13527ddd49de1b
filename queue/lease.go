package queue

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"relay-pty/protocol"
)

// Lent is a message that a consumer has pulled, and of which it has not said yet that the agent
// has it.
type Lent struct {
	ID        string
	Shown     string // the id that the agent reads
	Since     time.Time
	ExpiresAt time.Time // the time of its sender; zero: never
}

// Ask is what a consumer wants to have.
type Ask struct {
	Modes []string
	Most  int                                      // messages
	Fits  func(taken []Message, next Message) bool // whether one more does; what does not, ends it
}

// Waiter is the one who waits for messages to pull. There is one at a time: a later one takes the
// place of the one before, which may belong to a process that nobody listens to any more.
type Waiter struct {
	ask     Ask
	arrived chan struct{}
	left    chan struct{}
}

// Arrived receives when there may be something for the waiter. It means "look again".
func (w *Waiter) Arrived() <-chan struct{} { return w.arrived }

// Displaced is closed when another one waits in its place.
func (w *Waiter) Displaced() <-chan struct{} { return w.left }

// Await makes a waiter for what it asks for. While it waits that is not among
// [Mailbox.Heads], nor what goes behind it: it is for the waiter.
func (m *Mailbox) Await(ask Ask) *Waiter {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.waiter != nil {
		close(m.waiter.left)
	}
	m.waiter = &Waiter{ask: ask, arrived: make(chan struct{}, 1), left: make(chan struct{})}
	m.changedLocked() // some may be waiting
	return m.waiter
}

// Leave ends the waiting, unless another one waits by now.
func (m *Mailbox) Leave(w *Waiter) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.waiter == w {
		m.waiter = nil
		m.changedLocked() // what was for the waiter is for all
	}
}

// awaitedLocked reports whether a waiting message is for the waiter.
func (m *Mailbox) awaitedLocked(it *item) bool {
	return m.waiter != nil && it.pullable(m.waiter.ask.Modes) && m.waiter.ask.Fits(nil, it.Message)
}

// pullable reports whether a consumer that asks for these modes may have the message: a command
// runs only when it is typed.
func (it *item) pullable(modes []string) bool {
	return it.Kind != protocol.KindCommand && slices.Contains(modes, it.Mode)
}

// Lease begins an attempt for a consumer, which hands messages to the agent by itself: it takes
// the first that it asks for. None is no error. Nobody else gets them until [Mailbox.Ack], or until
// [Mailbox.Return] or [Mailbox.Settle] ends the lease. It is too late to cancel them.
//
// Once Lease returns, that they are being injected is on disk. Errors: [ErrClosed], and the
// sink's, with which nothing was taken.
func (m *Mailbox) Lease(now time.Time, ask Ask) ([]Message, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, ErrClosed
	}
	list := m.nextLocked(ask)
	if len(list) == 0 {
		return nil, nil
	}
	if err := m.beginLocked(list, true, now); err != nil {
		return nil, err
	}
	var lent []Message
	for _, it := range list {
		switch {
		case it.Status != protocol.StatusInjecting: // the mailbox was closed meanwhile
		case it.cancels > 0:
			m.endLocked(it, Outcome{Status: protocol.StatusCancelled}, now) // recorded when the disk takes it
		default:
			it.entered, it.lent = true, now
			lent = append(lent, it.Message)
		}
	}
	m.changedLocked()
	m.pressureLocked(now)
	return lent, nil
}

// nextLocked is what a consumer gets next; nothing while paused.
func (m *Mailbox) nextLocked(ask Ask) (list []*item) {
	if m.pause.on {
		return nil
	}
	var taken []Message
	for _, it := range m.waiting {
		if !it.pullable(ask.Modes) {
			continue
		}
		if it.fresh || len(list) == ask.Most || !ask.Fits(taken, it.Message) {
			break
		}
		list, taken = append(list, it), append(taken, it.Message)
	}
	return list
}

// Lent lists the leases that have not ended, in their order.
func (m *Mailbox) Lent() (list []Lent) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, it := range m.injecting {
		if !it.lent.IsZero() && !it.fresh {
			list = append(list, Lent{it.ID, it.ShownID(), it.lent, it.ExpiresAt})
		}
	}
	return list
}

// Ack says that the agent has messages that were leased: they are delivered, and that is on disk
// once Ack returns. Saying it again changes nothing, nor does it for one that the agent's log has
// shown meanwhile. One whose lease has ended in doubt, and which waits to be tried once more, is
// delivered all the same.
//
// An error is about the message that it comes with: [ErrUnknown], with which no message was
// changed; [ErrState], which tells of the first that was not leased or is too late, beside the
// others, which are delivered; or the sink's, with which none is.
func (m *Mailbox) Ack(now time.Time, ids ...string) (id string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range ids { // may wait, so all are looked at again
		if m.knownLocked(id) == nil {
			return id, ErrUnknown
		}
	}
	var acked []*item
	var proposals []Proposal
	late := ""
	for _, id := range ids {
		it := m.findLocked(id)
		switch {
		case it == nil || it.fresh:
			late = cmp.Or(late, id)
		case it.Status == protocol.StatusDelivered || slices.Contains(acked, it):
		case it.Status == protocol.StatusInjecting && !it.lent.IsZero(), it.Status == protocol.StatusQueued && it.Pulled && it.Again:
			acked = append(acked, it)
		default:
			late = cmp.Or(late, id)
		}
	}
	for _, it := range acked {
		rec := it.ended(Outcome{Status: protocol.StatusDelivered, Evidence: protocol.EvidencePulled}, now)
		proposals = append(proposals, Proposal{rec.result(), &rec})
	}
	if err := m.recordLocked(acked, proposals, now); err != nil {
		return "", fmt.Errorf("record the delivery: %w", err)
	}
	m.pressureLocked(now)
	if late != "" {
		return late, ErrState
	}
	return "", nil
}

// recordLocked writes the ends of messages to the journal, then applies them. m.mu is held
// throughout.
func (m *Mailbox) recordLocked(list []*item, proposals []Proposal, now time.Time) error {
	if len(list) == 0 {
		return nil
	}
	written, err := m.sink.Propose(now, proposals...)
	if err != nil {
		return err
	}
	for _, it := range list {
		it.fresh = true
	}
	err = m.awaitLocked(written)
	for i, it := range list {
		if it.fresh = false; err == nil {
			m.leaveLocked(it)
			it.Record, it.lent = *proposals[i].Record, time.Time{}
			m.ended = append(m.ended, it)
		}
	}
	m.recorded.Broadcast()
	m.changedLocked()
	return err
}

// Settle ends a lease of which no acknowledgement came. shown reports whether the agent's log shows
// the message, which proves that it was delivered. Else nobody can say: one that its sender wants
// tried once more waits again, marked, while its time is not over, and any other ends as unknown:
// never as expired, for the agent may have read it. A lease that has ended otherwise is [ErrState].
func (m *Mailbox) Settle(l Lent, shown bool, now time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	it, err := m.inLocked(l.ID, protocol.StatusInjecting)
	switch {
	case err != nil:
		return err
	case !it.lent.Equal(l.Since):
		return ErrState
	case shown:
		return m.endLocked(it, Outcome{Status: protocol.StatusDelivered, Evidence: protocol.EvidenceTurn}, now)
	}
	cause, over := "it was pulled for the agent, and nothing says that the agent got it", !l.ExpiresAt.IsZero() && !now.Before(l.ExpiresAt)
	if it.mayAgain() && !over {
		defer m.pressureLocked(now)
		return m.againLocked(it, now)
	}
	if over {
		cause = "its time was over while it was pulled for the agent; nothing says that the agent got it, but the agent may read it yet"
	}
	return m.endLocked(it, Outcome{Status: protocol.StatusUnknown, Fault: &protocol.Fault{Code: protocol.FaultUnacknowledged, Message: cause}}, now)
}

// GiveBack ends leases of messages that certainly reached nobody: they wait again, where they
// stood.
func (m *Mailbox) GiveBack(now time.Time, msgs []Message) error {
	var errs []error
	for _, msg := range msgs {
		errs = append(errs, m.Return(msg.ID, now))
	}
	return errors.Join(errs...)
}
