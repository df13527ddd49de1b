package queue

import (
	"slices"
	"time"
)

// Glance is how a mailbox stands at one moment.
type Glance struct {
	Waiting    int       // messages
	WaitingFor string    // what they wait for; "": none waits, or nothing holds them
	Injecting  string    // the message whose attempt began last, of those that are typed and not at their end; "": none
	Oldest     time.Time // when the oldest message that has not ended was accepted; zero: there is none
	Paused     bool      // no attempt begins
	Accepting  bool      // false between the high mark and the low one
}

// Glance tells how the mailbox stands, all of it at the same moment.
func (m *Mailbox) Glance() Glance {
	m.mu.Lock()
	defer m.mu.Unlock()
	g := Glance{Waiting: len(m.waiting), Paused: m.pause.on, Accepting: !m.pressed && !m.closed}
	if g.Waiting > 0 {
		g.WaitingFor = m.hold
	}
	for _, it := range m.injecting {
		if it.lent.IsZero() {
			g.Injecting = it.ID
		}
	}
	for _, it := range slices.Concat(m.waiting, m.injecting) {
		if g.Oldest.IsZero() || it.QueuedAt.Before(g.Oldest) {
			g.Oldest = it.QueuedAt
		}
	}
	return g
}
