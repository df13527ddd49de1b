// Package inject types messages into an agent's terminal and proves that they
// arrived. One loop owns all of its state: it looks, has the sight judged,
// holds the queue or delivers its head, and waits until something changed.
//
// It knows nothing of sockets, queues or processes; those meet it through the
// interfaces below. Its only goroutine is the one that calls Run.
package inject

import (
	"cmp"
	"context"
	"errors"
	"time"

	"relay-pty/inject/draft"
	"relay-pty/inject/profile"
	"relay-pty/inject/ready"
)

// Look is everything that can be seen of the agent at one moment.
type Look struct {
	profile.Sight
	Facts   ready.Facts // the loop adds WasReady, LastBusy, LastInput and Submitted
	Draft   draft.State
	Echo    bool      // the terminal echoes what is typed
	Unread  int       // bytes typed that the agent has not read; -1: not known
	Flushed time.Time // when the agent last threw away what it had not read; zero: never
	Brought time.Time // when keys that had been kept were last typed; zero: never
}

// Terminal is the agent's terminal.
type Terminal interface {
	// Look gathers what can be seen now. It must be quick.
	Look() Look
	// Begin makes the caller the only writer until End.
	Begin(ctx context.Context) (Tx, error)
	// Changed wakes whoever waits: look again.
	Changed() <-chan struct{}
}

// Tx is a transaction on the terminal's input. The human's keys of its time are
// kept and follow when it ends.
type Tx interface {
	Write(ctx context.Context, p []byte) (int, error)
	// Held tells how many bytes of the human's wait, and since when.
	Held() (n int, since time.Time)
	// TakeBack takes back what the agent has not read, up to n bytes, and tells
	// how many those were.
	TakeBack(n int) (got int, err error)
	End() error
}

// Message is one message in the three parts that are typed. Of a command the
// body alone is typed, as it is, and runs.
type Message struct {
	ID, Header, Body, Footer string
	Command                  bool
}

// Mailbox is where messages wait.
type Mailbox interface {
	// Next is the message to deliver next, nil when none waits, and when to ask
	// again because one would expire; zero: only a change can matter.
	Next(now time.Time) (*Message, time.Time)
	// Take begins an attempt; false when the message is not waiting any more.
	Take(id string) bool
	// Wanted says whether somebody asked for the message to be cancelled.
	Wanted(id string) bool
	// Commit says that Enter is about to be pressed: from here on it is too
	// late to cancel. When it is false, Enter must not be pressed.
	Commit(id string) bool
	// End ends the attempt.
	End(id string, r Result)
}

// Log is the agent's own log.
type Log interface {
	// Took says whether the log shows the message in a turn.
	Took(id string) bool
}

// Status is how an attempt ended.
type Status string

const (
	Delivered Status = "delivered"
	Failed    Status = "failed"    // it did not arrive and will not
	Doubtful  Status = "unknown"   // it may have arrived; nobody types it again
	Withdrawn Status = "withdrawn" // nothing of it is left at the agent: it waits again
)

// Evidence is what proves a delivery, in the words of the wire protocol.
type Evidence string

const (
	Turn      Evidence = "turn"
	Submitted Evidence = "submitted"
	Echoed    Evidence = "echo"
	Consumed  Evidence = "consumed"
)

// Result is the end of an attempt. Code and Cause tell why, unless delivered.
type Result struct {
	Status   Status
	Evidence Evidence
	Code     string
	Cause    string
}

// Hold is why waiting messages wait, in the words of the wire protocol; empty
// when nothing holds them.
type Hold string

const (
	ForReady   Hold = "ready"
	ForHuman   Hold = "human"
	ForDraft   Hold = "draft"
	ForDialog  Hold = "dialog"
	ForTurn    Hold = "turn"
	ForStopped Hold = "stopped"
)

// Report is what the loop knows after each look.
type Report struct {
	Verdict ready.Verdict
	Hold    Hold
	Draft   bool
	Accepts bool // text that is typed now would stand in a composer, or at a prompt
}

// humanRest is how long the human must not have typed before we do.
const humanRest = time.Second

// looks is the least time between two looks while nothing waits for them: an
// agent that prints without pause must not cost a judgement a read.
const looks = 10 * time.Millisecond

// Injector delivers the messages of one mailbox to one agent.
type Injector struct {
	Profile  *profile.Profile
	Terminal Terminal
	Mailbox  Mailbox
	Mail     <-chan struct{} // wakes: the mailbox changed
	Log      Log             // nil: the agent keeps none
	Heard    <-chan struct{} // wakes: the agent's own word or its log changed; may be nil
	Gone     <-chan struct{} // closed when the agent has exited; may be nil
	Report   func(Report)    // called in the loop, must be quick

	looked    time.Time
	read      time.Time // since when the agent is seen to have read all
	wasReady  bool
	lastBusy  time.Time
	lastInput time.Time
	submitted time.Time
	stopped   time.Time // when the agent was last seen stopped in an attempt
	fresh     string    // the row up to the cursor at the newest prompt, before any key
	sigil     string    // how the rows of prompts end, by the first one
	stranded  *attempt  // typed, not submitted, and a dialog came in between
	comeBack  struct {  // the message that was last withdrawn
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
		look := in.look()
		v, again := in.judge(look)
		hold, rest := in.hold(look, v)
		in.Report(Report{v, hold, in.drafted(look), in.accepts(look, v)})
		m, expiry := in.Mailbox.Next(look.Facts.Now)
		switch {
		case in.stranded != nil:
			in.resume(ctx, look, hold)
			again = sooner(again, rest)
		case m != nil && hold == "":
			in.deliver(ctx, *m)
			again = time.Nanosecond
		case m != nil:
			again = sooner(again, rest)
		}
		if look.Facts.Exited {
			return ErrExited
		}
		if !expiry.IsZero() {
			again = sooner(again, max(expiry.Sub(look.Facts.Now), time.Nanosecond))
		}
		if err := in.wait(ctx, again, m != nil); err != nil {
			return err
		}
	}
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
	case <-in.Terminal.Changed():
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
	l := in.Terminal.Look()
	in.readFor(l)
	in.looked = l.Facts.Now
	l.Facts.WasReady, l.Facts.LastBusy, l.Facts.Submitted = in.wasReady, in.lastBusy, in.submitted
	l.Facts.LastInput = in.lastInput
	if l.Draft.Enter.After(in.lastInput) {
		l.Facts.LastInput = l.Draft.Enter
	}
	l.Facts.Dialog, l.Facts.Working, l.Facts.Composer = l.Dialog, l.Working, l.Box.Visible
	l.Facts.AtPrompt = in.typesAtPrompt(l) || l.Facts.AtPrompt && in.atPrompt(l)
	if l.Facts.Raw && !l.Facts.AtPrompt {
		l.Facts.Dialog = cmp.Or(l.Dialog, l.Menu)
	}
	return l
}

// judge asks for the verdict and remembers what later verdicts stand on.
func (in *Injector) judge(l Look) (ready.Verdict, time.Duration) {
	v, again := in.Profile.Rules.Judge(l.Facts)
	switch {
	case v.State == ready.Ready:
		in.wasReady = true
	case (v.State == ready.Busy || v.State == ready.Blocked) && !v.Settling:
		in.lastBusy = l.Facts.Now
	}
	return v, again
}

// hold says what keeps a message from being typed now, and after how long to
// ask again where only time changes that.
func (in *Injector) hold(l Look, v ready.Verdict) (Hold, time.Duration) {
	switch v.State {
	case ready.Ready:
	case ready.Blocked:
		return ForDialog, 0
	case ready.Stopped:
		return ForStopped, 0
	case ready.Busy:
		return ForTurn, 0
	default:
		return ForReady, 0
	}
	if l.Box.Foreign || in.drafted(l) && in.stranded == nil {
		return ForDraft, 0
	}
	if !l.Facts.AtPrompt && in.Profile.Quote.Inert() {
		return ForReady, 0 // its line is not a prompt, so a message might not be inert there
	}
	if !l.Draft.Boundary {
		return ForHuman, 0
	}
	if last := later(l.Draft.LastKey, l.Brought); !last.IsZero() {
		if left := humanRest - l.Facts.Now.Sub(last); left > 0 {
			return ForHuman, left
		}
	}
	if l.Unread > 0 {
		return ForReady, unreadRest
	}
	if last := later(l.Draft.LastKey, l.Brought); !last.Before(l.Facts.LastOutput) && !last.IsZero() && l.Facts.Now.Sub(in.read) < settled {
		return ForHuman, unreadRest // a draft may be about to show
	}
	return "", 0
}

// unreadRest is when to ask again whether the agent has read what was typed.
const unreadRest = 50 * time.Millisecond

// readFor keeps the moment from which the agent is seen to have read all. Looks
// that lie far apart do not count: something may have been unread in between.
func (in *Injector) readFor(l Look) {
	if l.Unread > 0 || l.Facts.Now.Sub(in.looked) > 2*unreadRest {
		in.read = l.Facts.Now
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// drafted says whether the human has unsent text. A composer on the screen
// knows best. A prompt is compared with itself before any key. Elsewhere it is
// what was typed since the last Enter, if it left a trace before the cursor or
// the terminal keeps the line until Enter.
func (in *Injector) drafted(l Look) bool {
	if l.Facts.Exited {
		return false
	}
	if in.Profile.Composer != nil {
		return l.Box.Text != ""
	}
	if !l.Facts.Raw && l.Draft.Text != "" {
		return true
	}
	if l.Facts.AtPrompt && in.typedSince(l) && (l.Line != in.fresh || l.After != "") {
		return true // also what came without being typed: history, completion, a paste
	}
	return l.Facts.Raw && l.Draft.Shown(l.Before)
}

func (in *Injector) accepts(l Look, v ready.Verdict) bool {
	if in.Profile.Composer != nil {
		return l.Box.Visible && !l.Box.Foreign && v.State != ready.Blocked
	}
	return v.State == ready.Ready
}

func sooner(a, b time.Duration) time.Duration {
	if a <= 0 {
		return b
	}
	if b <= 0 {
		return a
	}
	return min(a, b)
}
