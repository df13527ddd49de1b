package inject

import (
	"context"
	"errors"
	"slices"
	"time"

	"relay-pty/inject/profile"
	"relay-pty/inject/ready"
	"relay-pty/inject/turn"
	"relay-pty/inject/waits"
	"relay-pty/inject/watch"
	"relay-pty/protocol"
)

// Mailbox is where messages wait.
type Mailbox interface {
	// Next ends what has waited longer than it may, and returns what to deliver next, nil when
	// nothing waits, and when something will be over its time; zero: only a change can matter.
	Next(now time.Time) (*turn.Batch, time.Time)
	// Take begins an attempt with all of a turn; false when some of it is not
	// waiting any more.
	Take(turn.Turn) bool
	// Wanted reports whether somebody asked for any of it to be cancelled.
	Wanted(turn.Turn) bool
	// Entering says that Enter is about to be pressed: from here on it is too
	// late to cancel. When it is false, Enter must not be pressed. It is kept in
	// memory only: after a crash nothing reports whether Enter was pressed.
	Entering(turn.Turn) bool
	// End ends the attempt.
	End(turn.Turn, Result)
}

// Log is the agent's own log.
type Log interface {
	// Took reports whether the log shows the message in a turn.
	Took(id string) bool
}

// Status is how an attempt ended.
type Status string

const (
	Delivered Status = protocol.StatusDelivered
	Failed    Status = protocol.StatusFailed
	Doubtful  Status = protocol.StatusUnknown
	Withdrawn Status = "withdrawn" // nothing of it is left at the agent: it waits again
)

// Evidence is what proves a delivery, in the words of the wire protocol.
type Evidence string

// Result is the end of an attempt. Code and Cause tell why, unless delivered.
type Result struct {
	Status      Status
	Evidence    Evidence
	Code, Cause string
}

func delivered(e Evidence) Result { return Result{Status: Delivered, Evidence: e} }

func failed(code, cause string) Result { return Result{Failed, "", code, cause} }

func doubtful(code, cause string) Result { return Result{Doubtful, "", code, cause} }

// Hold is why waiting messages wait, in the words of the wire protocol; empty
// when nothing holds them.
type Hold string

// Report is what the loop knows after each look.
type Report struct {
	Verdict ready.Verdict
	Hold    Hold
	Draft   bool        // the human has something in the composer that keeps messages from being typed
	Accepts bool        // text that is typed now would stand in a composer, or at a prompt
	Stays   bool        // a message waits for the draft, which no passing of time lets be set aside
	Facts   ready.Facts // what the verdict stands on
}

// Injector delivers the messages of one mailbox to one agent.
type Injector struct {
	Profile *profile.Profile
	Agent   Agent
	Mailbox Mailbox
	Mail    <-chan struct{} // wakes: the mailbox changed
	Log     Log             // nil: the agent keeps none
	Heard   <-chan struct{} // wakes: the agent's own word or its log changed; may be nil
	Gone    <-chan struct{} // closed when the agent has exited; may be nil
	Report  func(Report)    // called in the loop, must be quick

	// Become is asked between attempts what the agent has turned out to be, and what log it then
	// keeps; nil: it is what it was. It may be nil itself.
	Become func() (*profile.Profile, Log)

	DraftTimeout time.Duration             // a draft unchanged so long may be set aside; 0: never
	Stashed      func(id string, set bool) // told of a draft set aside for a message, and brought back; may be nil

	// Staged is told of each change of stage, with the ids of the messages that it is about; may be
	// nil.
	Staged func(ids []string, from, to string)

	attempts []*attempt // whose texts are somewhere in the agent, in the order in which they came there
	tried    tried
	seen     watch.Watch
	still    waits.Still[standing]
}

// tried is the message that ended last, and how often it was withdrawn before.
type tried struct {
	id    string
	times int
}

// ErrExited is what Run returns when the agent has exited.
var ErrExited = errors.New("the agent has exited")

// Run delivers until the agent has exited, which is ErrExited, or ctx ends,
// which is its cause.
func (in *Injector) Run(ctx context.Context) error {
	for {
		in.become()
		s := in.observe()
		moved, again := in.act(ctx, s)
		a := in.active()
		if s.Facts.Exited && a == nil && !moved {
			return ErrExited
		}
		if moved && a != nil && ctx.Err() == nil {
			continue
		}
		if moved {
			again = atOnce
		}
		if err := in.wait(ctx, again, a != nil || s.next != nil); err != nil {
			in.cut(ctx, a)
			return err
		}
	}
}

// become takes the agent for what it has turned out to be. That one has not been ready yet.
func (in *Injector) become() {
	if in.Become == nil || in.active() != nil || in.at(behind) != nil || in.at(queued) != nil {
		return
	}
	if p, log := in.Become(); p != nil {
		in.Profile, in.Log = p, log
		in.seen.Becomes(time.Now())
		in.drop(left)
	}
}

// act does what is to be done now, and reports whether it did anything; otherwise it says when to
// ask again.
func (in *Injector) act(ctx context.Context, s step) (moved bool, again time.Duration) {
	if a := in.active(); a != nil {
		moved, again = in.drive(ctx, a, s)
		return moved, sooner(again, s.again)
	}
	again = s.again
	for _, a := range in.resting() {
		did, later := in.drive(ctx, a, s)
		moved, again = moved || did, sooner(again, later)
		if a.stage == behind || in.active() != nil {
			return moved, again
		}
	}
	if moved || in.astray() {
		return moved, again
	}
	return in.start(ctx, s), again
}

// start begins what the next message asks for: its delivery, or an interrupt that comes before it.
func (in *Injector) start(ctx context.Context, s step) bool {
	switch interrupts, _ := in.shouldInterrupt(s); {
	case s.Facts.Exited:
		return false
	case s.next != nil && s.hold == "":
		return in.open(ctx, &attempt{in: in}, opened)
	case interrupts:
		return in.open(ctx, &attempt{in: in}, halting)
	}
	return false
}

// open takes the terminal for an attempt, and reports whether it has it.
func (in *Injector) open(ctx context.Context, a *attempt, at stage) bool {
	if !a.open(ctx) {
		return false // the next look tells why
	}
	in.attempts = append(in.attempts, a)
	a.enter(at)
	return true
}

// cut ends what an attempt is about, as the wrapper ends.
func (in *Injector) cut(ctx context.Context, a *attempt) {
	switch {
	case a == nil:
		return
	case a.result != nil && a.stage != withdrawing && a.stage != clearing:
	case a.began.IsZero() || a.stage.rests():
		a.release()
		return
	case a.pressed.at.IsZero():
		a.result = new(doubtful(protocol.FaultShuttingDown, "the wrapper ended while the message was being typed"))
	default:
		a.result = new(doubtful(protocol.FaultShuttingDown, "the wrapper ended before the message was confirmed"))
	}
	if a.bringBack(ended) == restoring {
		a.restoring()(ctx, in.observe())
	}
	a.enter(ended)
}

// looks is the least time between two looks while nothing waits for them: an
// agent that prints without pause must not cost a judgement a read.
const looks = 10 * time.Millisecond

// wait blocks until something changed or the time is over. Changes that come
// thick are taken together, unless a message waits for them.
func (in *Injector) wait(ctx context.Context, again time.Duration, eager bool) error {
	var timer <-chan time.Time
	if again > 0 {
		timer = time.After(again)
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-in.Agent.Changed():
	case <-in.Mail:
		return nil
	case <-in.Heard:
		return nil
	case <-timer:
		return nil
	}
	rest := looks - time.Since(in.seen.Last.Facts.Now)
	if eager || rest <= 0 {
		return nil
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-in.Gone:
	case <-in.Mail:
	case <-in.Heard:
	case <-time.After(rest):
	}
	return nil
}

// report tells what a step found; rest is after how long its hold may end by itself. An agent that
// was given a turn which has yet to show is as good as busy.
func (in *Injector) report(s step, rest time.Duration) {
	if s.DialogAfter > 0 {
		return
	}
	stays := s.next != nil && s.hold == protocol.WaitsForDraft && rest == 0
	r := Report{s.verdict, s.hold, in.occupied(s.Look), in.accepts(s), stays, s.Facts}
	if in.at(accepted) != nil && s.verdict.State == ready.Ready {
		r.Verdict, r.Hold = ready.Verdict{State: ready.Busy, Confidence: ready.ByGuess, By: protocol.SignTurn}, protocol.WaitsForTurn
	}
	in.Report(r)
}

// maxWithdrawn is how often one message is tried when something other than the
// human makes it come back.
const (
	maxWithdrawn = 3
	humanFirst   = "human"
	byRequest    = "cancelled"
)

// bound ends a message that has come back too often.
func (in *Injector) bound(id string, r *Result) {
	if in.tried.id != id {
		in.tried = tried{id: id}
	}
	if r.Status != Withdrawn || r.Code == humanFirst || r.Code == byRequest {
		return
	}
	if in.tried.times++; in.tried.times >= maxWithdrawn {
		r.Status = Failed
	}
}

// end tells the mailbox how an attempt ended.
func (in *Injector) end(a *attempt, from stage) {
	r := a.result
	in.bound(a.Turn[0].ID, r)
	m := &in.seen
	if m.Input = ready.Later(m.Input, a.pressed.at); a.pressed.at.IsZero() && a.term.sent > 0 {
		m.Input = time.Now()
	}
	if r.Status == Delivered && from != queued && !(from == behind && a.cameBack) {
		m.Submitted = a.pressed.at
		// Told before the delivery, so that whoever hears of it and asks does not find the agent
		// ready from before. A turn that is over already shows with the next look.
		turn := ready.Verdict{State: ready.Busy, Confidence: confidence(r.Evidence), By: protocol.SignTurn}
		in.Report(Report{Verdict: turn, Hold: protocol.WaitsForTurn, Facts: m.Last.Facts})
	}
	var shown, rest turn.Turn // its log may show a part of a turn that did not arrive as a whole
	for _, m := range a.Turn {
		if r.Status != Delivered && in.took(turn.Turn{m}) {
			shown = append(shown, m)
		} else {
			rest = append(rest, m)
		}
	}
	if len(shown) > 0 {
		in.Mailbox.End(shown, delivered(protocol.EvidenceTurn))
	}
	if len(rest) > 0 {
		in.Mailbox.End(rest, *r)
	}
}

func confidence(e Evidence) ready.Confidence {
	if e == protocol.EvidenceTurn {
		return ready.BySignal
	}
	return ready.ByScreen
}

// at is the first attempt in that stage, nil if there is none.
func (in *Injector) at(s stage) *attempt {
	for _, a := range in.attempts {
		if a.stage == s {
			return a
		}
	}
	return nil
}

// active is the attempt that goes on now: it has the terminal, or waits for what its keys have
// done.
func (in *Injector) active() *attempt {
	for _, a := range in.attempts {
		if a.term.tx != nil || !a.stage.rests() {
			return a
		}
	}
	return nil
}

// typing is the attempt whose message is on its way into the agent.
func (in *Injector) typing() *attempt {
	if a := in.active(); a != nil && (!a.began.IsZero() || a.stage == feeling) && !a.stage.rests() {
		return a
	}
	return nil
}

// resting are the attempts that wait in the agent, in the order in which they are looked after.
func (in *Injector) resting() (list []*attempt) {
	for _, at := range []stage{queued, behind, tardy, givenBack} {
		for _, a := range in.attempts {
			if a.stage == at {
				list = append(list, a)
			}
		}
	}
	return list
}

// drop forgets what is in that stage.
func (in *Injector) drop(s stage) {
	in.attempts = slices.DeleteFunc(in.attempts, func(a *attempt) bool {
		if a.stage == s {
			a.release()
		}
		return a.stage == s
	})
}

func sooner(a, b time.Duration) time.Duration {
	if a <= 0 || b <= 0 {
		return max(a, b)
	}
	return min(a, b)
}
