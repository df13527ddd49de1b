package inject

import (
	"cmp"
	"context"
	"time"

	"relay-pty/inject/ready"
	"relay-pty/inject/turn"
	"relay-pty/inject/watch"
)

// Agent is the wrapped program and its terminal.
type Agent interface {
	// Look gathers what can be seen now. It must be quick.
	Look() watch.Look
	// Begin makes the caller the only writer until End.
	Begin(ctx context.Context) (Tx, error)
	// Changed wakes whoever waits: look again.
	Changed() <-chan struct{}
}

// Tx is a transaction on the terminal's input. The human's keys of its time are
// kept and follow when it ends.
type Tx interface {
	Write(ctx context.Context, p []byte) (int, error)
	// Pass types what the human's terminal has answered to the agent's queries.
	Pass(ctx context.Context) error
	// Held tells how many bytes of the human's wait, and since when.
	Held() (n int, since time.Time)
	// TakeBack takes back what the agent has not read, up to n bytes, and tells
	// how many those were.
	TakeBack(n int) (got int, err error)
	End() error
}

// step is one round of the loop: what it found, and what follows from that.
type step struct {
	watch.Look
	verdict ready.Verdict
	next    *turn.Batch   // to be delivered next; nil: nothing waits
	hold    Hold          // what keeps it from being typed
	again   time.Duration // after which to make another round although nothing changed; 0: never

	halted bool // the agent is stopped, or was in the round before: its time stands still
	read   bool // the agent has read a part of what was typed since the round before
	over   bool // the time of the stage is over
	stuck  bool // the agent's terminal did not take what was to be typed
}

func (s step) blocked() bool { return s.verdict.State == ready.Blocked }

// busy reports whether the agent is seen to work, beyond a moment that decides it.
func (s step) busy() bool { return s.verdict.State == ready.Busy && !s.verdict.Settling }

// observe makes a step: it looks, judges once, lets messages expire, and reports.
func (in *Injector) observe() step {
	s := step{Look: in.Agent.Look()}
	last := &in.seen.Last
	s.halted, s.read = s.Facts.Stopped || last.Facts.Stopped, s.Unread < last.Unread
	in.seen.Profile = in.Profile
	in.seen.See(&s.Look, in.ours())
	in.watchDraft(s.Look)
	s.verdict, s.again = in.seen.Judge(s.Look)
	s.again = sooner(s.again, in.noteGivenBack(s))
	var expiry time.Time
	s.next, expiry = in.Mailbox.Next(s.Facts.Now)
	var rest time.Duration
	s.hold, rest = in.holds(s)
	finding, later := in.stuck(s)
	s.verdict.BlockedBy, s.again = cmp.Or(s.verdict.BlockedBy, finding), sooner(s.again, later)
	in.report(s, rest)
	_, back := in.shouldRestore(s)
	s.again = sooner(sooner(s.again, back), s.Settles)
	if s.next != nil || in.at(behind) != nil || in.at(givenBack) != nil || in.seen.Unshown(s.Look) {
		s.again = sooner(sooner(s.again, rest), s.Look.Again)
	}
	if !expiry.IsZero() {
		s.again = sooner(s.again, max(expiry.Sub(s.Facts.Now), time.Nanosecond))
	}
	return s
}

// ours is what of ours may stand in the composer.
func (in *Injector) ours() (o watch.Ours) {
	if a := cmp.Or(in.typing(), in.at(behind)); a != nil {
		o.Begun = a.Begun
	}
	if a := in.typing(); a != nil && a.stage != clearing {
		o.Typed = a.typed
	}
	return o
}
