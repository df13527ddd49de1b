package queue

import (
	"errors"
	"time"

	"relay-pty/protocol"
)

// ErrPaused is that no attempt may begin.
var ErrPaused = errors.New("the queue is paused")

// pause is what keeps attempts from beginning, whatever the injector thinks of the agent.
type pause struct {
	on    bool
	until time.Time // zero: until Resume
	other string    // what the waiting messages would wait for without it
}

// Pause lets no attempt begin until a time, or until [Mailbox.Resume] where it is zero. An attempt
// that has begun goes on, for a text that is cut in the middle would be a draft of nobody's.
// Messages are accepted and expire as ever.
func (m *Mailbox) Pause(until, now time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pause.on, m.pause.until = true, until
	m.changedLocked()
	return m.holdLocked(now)
}

// Resume ends a pause; without one it does nothing.
func (m *Mailbox) Resume(now time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.resumeLocked(now)
}

func (m *Mailbox) resumeLocked(now time.Time) error {
	if !m.pause.on {
		return nil
	}
	m.pause.on = false
	m.changedLocked()
	return m.holdLocked(now)
}

// endPauseLocked ends a pause whose time is over, and returns when it will be; zero: there is none.
func (m *Mailbox) endPauseLocked(now time.Time) (at time.Time, err error) {
	if !m.pause.on || m.pause.until.IsZero() {
		return at, nil
	}
	if now.Before(m.pause.until) {
		return m.pause.until, nil
	}
	return at, m.resumeLocked(now)
}

// WaitsFor says what the waiting messages wait for, "" for nothing but their turn; while the
// mailbox is paused they wait for that. A change while any wait is a waiting event about the one
// that goes next.
func (m *Mailbox) WaitsFor(reason string, now time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pause.other = reason
	return m.holdLocked(now)
}

func (m *Mailbox) holdLocked(now time.Time) error {
	reason := m.pause.other
	if m.pause.on {
		reason = protocol.WaitsForPaused
	}
	if reason == m.hold {
		return nil
	}
	m.hold = reason
	for _, it := range m.waiting {
		if !it.fresh {
			return m.tellWaitingLocked(it, now)
		}
	}
	return nil
}
