package handover

import (
	"time"

	"relay-pty/queue"
)

// How long a consumer may take to acknowledge what it pulled: until then nobody can say that the
// agent did not get it. While a turn runs, what a hook was given may wait for the agent's next
// step, however long the present one takes, so a lease lasts as long as the turn, but not beyond
// the time that the sender gave the message; what the agent got by then shows in its log a little
// later.
const (
	leaseTime = 30 * time.Second
	leaseMost = 30 * time.Minute
	toShow    = 5 * time.Second
)

// Proof is the agent's own log, which shows what reached the agent, by the ids that the agent
// reads.
type Proof interface {
	Took(id string) bool // as of the last look
	Look()
	ExpectHanded(id string)
	Forget(id string)
}

// Leases looks after messages that were pulled and not acknowledged. The injector's loop alone
// calls Settle; Lent and Settled are for all.
type Leases struct {
	Queue *queue.Mailbox
	Turn  func() bool // whether the agent is at work, or asks
	Proof Proof
	Note  func(err error, id string)

	worked time.Time // when a turn was last seen
}

// Settle ends the leases that are proved or over, and says when to ask again; zero: no time
// matters.
func (l *Leases) Settle(now time.Time) (again time.Time) {
	lent := l.Queue.Lent()
	if len(lent) == 0 {
		return again
	}
	busy := l.Turn()
	if busy {
		l.worked = now
	}
	for _, m := range lent {
		end := l.until(m, busy)
		switch {
		case l.Proof.Took(m.Shown):
			l.end(m, now)
		case !now.Before(end):
			l.Proof.Look()
			l.end(m, now)
		case again.IsZero() || end.Before(again):
			again = end
		}
	}
	return again
}

// until is when a lease is over, as far as is known now.
func (l *Leases) until(m queue.Lent, busy bool) time.Time {
	end := later(m.Since.Add(leaseTime), l.worked.Add(toShow))
	if busy {
		end = m.Since.Add(leaseMost)
	}
	end = sooner(end, m.Since.Add(leaseMost))
	if m.ExpiresAt.IsZero() {
		return end
	}
	return sooner(end, later(m.ExpiresAt, m.Since.Add(toShow))) // one pulled at its last moment may show, too
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Close ends all leases, for the agent has.
func (l *Leases) Close(now time.Time) {
	for _, m := range l.Queue.Lent() {
		l.end(m, now)
	}
}

// end ends a lease by what the agent's log has shown.
func (l *Leases) end(m queue.Lent, now time.Time) {
	if err := l.Queue.Settle(m, l.Proof.Took(m.Shown), now); err != queue.ErrState { // it was acknowledged, or given back, just now
		l.Note(err, m.ID)
	}
	l.Settled([]string{m.Shown})
}

// Lent says that a consumer is about to get messages, which may show in the agent's log from now
// on.
func (l *Leases) Lent(ids []string) {
	for _, id := range ids {
		l.Proof.ExpectHanded(id)
	}
}

// Settled says that nothing more is to be learned of them.
func (l *Leases) Settled(ids []string) {
	for _, id := range ids {
		l.Proof.Forget(id)
	}
}
