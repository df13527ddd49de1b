package inject

import (
	"cmp"
	"context"
	"errors"
	"time"

	"relay-pty/inject/profile"
	"relay-pty/inject/prompt"
	"relay-pty/inject/ready"
	"relay-pty/inject/turn"
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

// Hold is why waiting messages wait, in the words of the wire protocol; empty
// when nothing holds them.
type Hold string

// Report is what the loop knows after each look.
type Report struct {
	Verdict ready.Verdict
	Hold    Hold
	Draft   bool // the human has something in the composer that keeps messages from being typed
	Accepts bool // text that is typed now would stand in a composer, or at a prompt
	Stays   bool // a message waits for the draft, which no passing of time lets be set aside
}

// humanRest is how long the human must not have typed before we do.
const humanRest = time.Second

// looks is the least time between two looks while nothing waits for them: an
// agent that prints without pause must not cost a judgement a read.
const looks = 10 * time.Millisecond

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

	looked       time.Time
	read         time.Time // since when the agent is seen to have read all
	wasReady     bool
	lastBusy     time.Time
	lastInput    time.Time
	submitted    time.Time
	heldBack     bool      // the agent held back what was submitted when it was last looked at
	leaving      time.Time // when the text that the human submitted was last seen in the composer
	left         time.Time // the human's Enter whose text has left it: what stands there now is new
	stopped      time.Time // when the agent was last seen stopped in an attempt
	prompts      prompt.Watch
	strays       strays
	ours         string     // what was typed last
	dialogSince  time.Time  // since when a dialog is there, and no composer
	typing       *attempt   // on its way
	modal        bool       // its composer was seen in a mode as vim's INSERT
	behindDialog *attempt   // typed, not submitted, and a dialog came in between
	remnant      *remnant   // what we may have left in the composer; nil: nothing
	queued       []*attempt // submitted to a busy agent, which has not taken them up
	halted       time.Time  // when we last interrupted the agent
	halting      bool       // it has not been ready since
	givenBack    string     // the prompt that an interrupted agent gave back into its composer; "": none
	unsent       struct {   // the draft as it was last seen
		text  string
		since time.Time
	}
	tardy    *attempt // its key to set the draft aside was pressed and did not act in time
	restored bool     // a draft was brought back, and the human has not pressed Enter since
	comeBack struct { // the message that was last withdrawn
		id    string
		times int
	}
}

// ErrExited is what Run returns when the agent has exited.
var ErrExited = errors.New("the agent has exited")

// Run delivers until the agent has exited, which is ErrExited, or ctx ends,
// which is its cause.
func (in *Injector) Run(ctx context.Context) error {
	for {
		in.become()
		s := in.step(true)
		if in.act(ctx, s) {
			s.again = time.Nanosecond
		}
		if s.look.Facts.Exited {
			return ErrExited
		}
		if err := in.wait(ctx, s.again, s.next != nil); err != nil {
			return err
		}
	}
}

// become takes the agent for what it has turned out to be. That one has not been ready yet.
func (in *Injector) become() {
	if in.Become == nil || in.behindDialog != nil || len(in.queued) > 0 {
		return
	}
	if p, log := in.Become(); p != nil {
		in.Profile, in.Log, in.wasReady, in.remnant = p, log, false, nil
	}
}

// step is one round of the loop: what it found, and after how long to make another one although
// nothing changed.
type step struct {
	look    Look
	verdict ready.Verdict
	next    *turn.Batch // to be delivered next; nil: nothing waits
	hold    Hold        // what keeps it from being typed
	again   time.Duration
}

// step looks, has the sight judged, lets messages expire and reports. Between attempts (idle) it
// also looks after those that the agent has queued.
func (in *Injector) step(idle bool) step {
	look := in.look()
	v, again := in.judge(look)
	if idle {
		again = sooner(again, in.followQueued(look, v))
	}
	b, expiry := in.Mailbox.Next(look.Facts.Now)
	hold, rest := in.hold(look, v, b)
	_, back := in.shouldRestore(look, v)
	if look.DialogAfter == 0 {
		stays := b != nil && hold == protocol.WaitsForDraft && rest == 0
		in.report(Report{v, hold, in.occupied(look), in.accepts(look, v), stays})
	}
	again = sooner(again, back)
	if b != nil || in.behindDialog != nil || in.givenBack != "" || in.unshown(look) {
		again = sooner(sooner(again, rest), look.Again)
	}
	if !expiry.IsZero() {
		again = sooner(again, max(expiry.Sub(look.Facts.Now), time.Nanosecond))
	}
	return step{look, v, b, hold, again}
}

// report tells what a step found. An agent that was given a turn which has yet to show is as good
// as busy.
func (in *Injector) report(r Report) {
	if a := in.typing; a != nil && a.taken && r.Verdict.State == ready.Ready {
		r.Verdict, r.Hold = ready.Verdict{State: ready.Busy, Confidence: ready.ByGuess}, protocol.WaitsForTurn
	}
	in.Report(r)
}

// act does what is to be done now and reports whether it did anything.
func (in *Injector) act(ctx context.Context, s step) bool {
	switch {
	case in.behindDialog != nil:
		in.resume(ctx, s.look, s.hold)
	case in.astray():
		yes, _ := in.shouldRestore(s.look, s.verdict)
		if yes {
			in.restore(ctx)
		}
		return yes
	case in.shouldResubmit(s.look, s.verdict, s.next):
		in.resubmit(ctx, s.next)
		return true
	case s.next != nil && s.hold == "":
		in.deliver(ctx, *s.next)
		return true
	}
	if yes, _ := in.shouldInterrupt(s.look, s.verdict, s.next); yes {
		in.interrupt(ctx, s.next)
		return true
	}
	return false
}

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
	left := looks - time.Since(in.looked)
	if eager || left <= 0 {
		return nil
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-in.Gone:
	case <-in.Mail:
	case <-in.Heard:
	case <-time.After(left):
	}
	return nil
}

// look adds to a look what only the loop knows.
func (in *Injector) look() Look {
	l := in.Agent.Look()
	if a := cmp.Or(in.typing, in.behindDialog); a != nil && l.Typed.Visible && a.Begun(l.Typed.Text) {
		l.Box, l.Dialog = l.Typed, "" // what we typed is no dialog
	}
	in.doubt(&l)
	in.overlook(&l)
	in.readFor(l)
	in.looked = l.Facts.Now
	if in.heldBack && !l.Queued {
		in.submitted = l.Facts.Now // by the agent itself
	}
	in.heldBack = l.Queued
	l.Facts.WasReady, l.Facts.LastBusy = in.wasReady, in.lastBusy
	l.Facts.Submitted = ready.Later(in.submitted, in.sent(l))
	l.Facts.LastInput = in.lastInput
	if l.Draft.Enter.After(in.lastInput) {
		l.Facts.LastInput = l.Draft.Enter
	}
	l.Facts.Dialog, l.Facts.Working, l.Facts.Composer = l.Dialog, l.Working || l.Queued, l.Box.Visible
	l.Facts.MaybeDialog, l.Facts.Rows = l.MaybeDialog, l.Rows
	in.restored, in.modal = in.restored && l.Draft.Begun, in.modal || l.Inserts
	l.Facts.AtPrompt = in.atPrompt(l)
	in.watchDraft(l)
	if l.Facts.Raw && !l.Facts.AtPrompt {
		l.Facts.Dialog = cmp.Or(l.Dialog, l.Menu)
	}
	return l
}

// How long a dialog must stand where no composer shows. Half a repaint looks so, with anything that
// was ever said; what we typed last is the likeliest.
const (
	glimpse     = 50 * time.Millisecond
	glimpseOurs = proofRest
)

// doubt takes a dialog out of a look until it has stood for a while.
func (in *Injector) doubt(l *Look) {
	asks := in.Profile.Composer != nil && !l.Box.Visible && l.Dialog != ""
	in.dialogSince = ready.Since(in.dialogSince, asks, l.Facts.Now)
	if !asks {
		return
	}
	rest := glimpse
	if turn.Within(l.Dialog, in.ours) {
		rest = glimpseOurs
	}
	if l.DialogAfter = max(0, rest-l.Facts.Now.Sub(in.dialogSince)); l.DialogAfter > 0 {
		l.Dialog = ""
	}
}

// sent is when what the human sent last left the composer, or their Enter if it did so at once;
// zero when they sent nothing. A text that stays for long was not sent.
func (in *Injector) sent(l Look) time.Time {
	enter := l.Draft.Sent
	switch {
	case enter.IsZero() || l.Draft.LastKey.After(enter):
	case l.Box.Visible && l.Box.Text == "":
		in.left = enter
	case !in.left.Equal(enter) && l.Facts.Now.Sub(enter) < in.Profile.Typing.Confirm:
		in.leaving = l.Facts.Now
	}
	return ready.Later(enter, in.leaving)
}

// judge asks for the verdict and remembers what later verdicts stand on. Where there may be a
// dialog nothing else counts.
func (in *Injector) judge(l Look) (ready.Verdict, time.Duration) {
	if l.DialogAfter > 0 {
		return ready.Verdict{State: ready.Unknown, Confidence: ready.ByGuess, Settling: true}, l.DialogAfter
	}
	v, again := in.Profile.Rules.Judge(l.Facts)
	switch {
	case v.State == ready.Ready:
		in.wasReady, in.halting = true, false
	case (v.State == ready.Busy || v.State == ready.Blocked) && !v.Settling:
		in.lastBusy = l.Facts.Now
	}
	return v, again
}
