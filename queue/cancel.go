package queue

import (
	"time"

	"relay-pty/protocol"
)

// Cancel asks for a message not to be injected. A waiting one ends as cancelled at
// once. For one whose attempt runs, and on which Enter was not pressed, the wish is kept
// until that attempt ends: [Mailbox.Return] makes it cancelled, [Mailbox.Finish] stands.
//
// res is the latest result; its Status tells what became of the wish: cancelled, now or
// before, or injecting while it is kept. Otherwise the error is [ErrState]: it is too
// late, and res tells how the message stands; one that an attempt before a crash may
// have delivered is not typed again, and unknown. Other errors: [ErrUnknown], and the
// sink's, with which the message is nevertheless cancelled.
func (m *Mailbox) Cancel(id string, now time.Time) (res protocol.InjectResult, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	it := m.knownLocked(id)
	if it == nil {
		return res, ErrUnknown
	}
	switch {
	case it.Status == protocol.StatusQueued:
		err = m.endLocked(it, Outcome{Status: protocol.StatusCancelled}, now)
		m.pressureLocked(now)
		if it.Status != protocol.StatusCancelled && err == nil {
			err = ErrState
		}
	case it.Status == protocol.StatusInjecting && !it.entered:
		it.cancels++
		m.changedLocked()
	case it.Status != protocol.StatusCancelled:
		err = ErrState
	}
	return m.resultLocked(it), err
}

// GiveUp takes one wish back that [Mailbox.Cancel] kept. It is false when the attempt
// has ended meanwhile, and with it the wish: the end tells what became of it.
func (m *Mailbox) GiveUp(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	it, err := m.inLocked(id, protocol.StatusInjecting)
	if err != nil || it.cancels == 0 {
		return false
	}
	it.cancels--
	return true
}

// Wanted reports whether somebody asked for the message that is being injected to be
// cancelled. The injector then takes its text back, if Enter was not pressed, and calls
// [Mailbox.Return]. [Mailbox.Changed] tells when to ask again.
func (m *Mailbox) Wanted(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	it, err := m.inLocked(id, protocol.StatusInjecting)
	return err == nil && it.cancels > 0
}

// Entering says that Enter is about to be pressed on messages of one turn: from here on
// it is too late to cancel them. When it is false, the cancelling of one of them is
// [Mailbox.Wanted] or it is not being injected any more; then Enter must not be
// pressed, and none of them is committed.
func (m *Mailbox) Entering(ids ...string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range ids {
		if it, err := m.inLocked(id, protocol.StatusInjecting); err != nil || it.cancels > 0 {
			return false
		}
	}
	for _, id := range ids {
		m.items[id].entered = true
	}
	return true
}
