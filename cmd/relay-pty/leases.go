package main

import (
	"time"

	"relay-pty/inject/ready"
	"relay-pty/queue"
)

// How long a consumer may take to acknowledge what it pulled: until then nobody can say that the
// agent did not get it. A turn that runs may have it waiting for the next thing that the agent
// does, however long the present one takes; what it had then shows in its log a little later.
const (
	leaseTime  = 30 * time.Second
	leaseMost  = 30 * time.Minute
	afterATurn = 5 * time.Second
)

// leases looks after messages that were pulled and not acknowledged. The injector's loop asks it;
// lent and settled are for all.
type leases struct {
	box    *queue.Mailbox
	turn   func() bool // whether the agent is at work, or asks
	proof  *history    // nil: the agent keeps no log
	note   func(err error, id string)
	worked time.Time // when a turn was last seen
}

// settle ends the leases that are proved or over, and says when to ask again; zero: no time
// matters.
func (l *leases) settle(now time.Time) (again time.Time) {
	lent := l.box.Lent()
	if len(lent) == 0 {
		return again
	}
	busy := l.turn()
	if busy {
		l.worked = now
	}
	for _, m := range lent {
		end := m.Since.Add(leaseTime)
		if rest := l.worked.Add(afterATurn); rest.After(end) {
			end = rest
		}
		if most := m.Since.Add(leaseMost); busy || end.After(most) {
			end = most
		}
		switch {
		case l.shows(m.ID):
			l.end(m, true, now)
		case !now.Before(end):
			l.end(m, l.looks(m.ID), now)
		case again.IsZero() || end.Before(again):
			again = end
		}
	}
	return again
}

// close ends all leases, for the agent has.
func (l *leases) close(now time.Time) {
	for _, m := range l.box.Lent() {
		l.end(m, l.shows(m.ID), now)
	}
}

func (l *leases) end(m queue.Lent, shown bool, now time.Time) {
	if err := l.box.Settle(m, shown, now); err != queue.ErrState { // it was acknowledged, or given back, just now
		l.note(err, m.ID)
	}
	l.settled([]string{m.ID})
}

// shows says whether the agent's log has shown the message.
func (l *leases) shows(id string) bool { return l.proof != nil && l.proof.Took(id) }

// looks is shows after a look at what is new.
func (l *leases) looks(id string) bool {
	if l.proof != nil {
		l.proof.look()
	}
	return l.shows(id)
}

// lent says that a consumer is about to get messages, which may show in the agent's log from now on.
func (l *leases) lent(ids []string) {
	for _, id := range ids {
		if l.proof != nil {
			l.proof.expectHanded(id)
		}
	}
}

// settled says that nothing more is to be learned of them.
func (l *leases) settled(ids []string) {
	for _, id := range ids {
		if l.proof != nil {
			l.proof.forget(id)
		}
	}
}

// atWork says whether a turn runs.
func (w *wrapper) atWork() bool {
	s := w.board.get().Verdict.State
	return s == ready.Busy || s == ready.Blocked
}
