package inject

import (
	"cmp"
	"context"
	"strings"
	"time"

	"relay-pty/inject/draft"
	"relay-pty/inject/profile"
	"relay-pty/inject/prompt"
	"relay-pty/inject/ready"
	"relay-pty/inject/sight"
	"relay-pty/inject/turn"
)

// Look is everything that can be seen of the agent at one moment.
type Look struct {
	sight.Sight
	Facts       ready.Facts // the loop adds WasReady, LastBusy, LastInput and Submitted
	Draft       draft.State
	DialogAfter time.Duration // after which what may be a dialog is one; 0: nothing may be, or it is
	ReadPlace   string        // where a line program waits in a read for more; "": in none, or nothing tells
	Echo        bool          // the terminal echoes what is typed
	Unread      int           // bytes typed that the agent has not read; -1: not known
	Flushed     time.Time     // when the agent last threw away what it had not read; zero: never
	Brought     time.Time     // when keys that had been kept were last typed; zero: never
	Again       time.Duration // when to look again if nothing changes; 0: never
}

// Agent is the wrapped program and its terminal.
type Agent interface {
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
	// Pass types what the human's terminal has answered to the agent's queries.
	Pass(ctx context.Context) error
	// Held tells how many bytes of the human's wait, and since when.
	Held() (n int, since time.Time)
	// TakeBack takes back what the agent has not read, up to n bytes, and tells
	// how many those were.
	TakeBack(n int) (got int, err error)
	End() error
}

// memory is what the looks so far have shown, as far as later verdicts stand on it, and what was
// typed last.
type memory struct {
	last        Look      // the look before this one
	read        time.Time // since when the agent is seen to have read all
	stopped     time.Time // when the agent was last seen stopped
	ready       time.Time // when it was last ready; zero: never
	busy        time.Time // when it last worked, or asked something
	input       time.Time // when we last typed
	submitted   time.Time // when it was last given something to do
	leaving     time.Time // when the text that the human submitted was last seen in the composer
	left        time.Time // the human's Enter whose text has left it: what stands there now is new
	dialog      time.Time // since when a dialog is there, and no composer
	halted      time.Time // when we last interrupted the agent
	modal       bool      // its composer was seen in a mode as vim's INSERT
	restored    bool      // a draft was brought back, and the human has not pressed Enter since
	unsent      string    // the draft as it was last seen …
	unsentSince time.Time // … and since when it is so
	typed       string    // what we typed last
	strays      strays
}

// step is one round of the loop: what it found, and what follows from that.
type step struct {
	Look
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
	m := &in.memory
	s.halted = s.Facts.Stopped || m.last.Facts.Stopped
	s.read = s.Unread < m.last.Unread
	in.see(&s.Look)
	in.watchDraft(s.Look)
	s.verdict, s.again = in.judge(s.Look)
	in.learn(s)
	b, expiry := in.Mailbox.Next(s.Facts.Now)
	s.next = b
	hold, rest := in.holds(s)
	s.hold = hold
	in.report(s, rest)
	_, back := in.shouldRestore(s)
	s.again = sooner(s.again, back)
	if b != nil || in.at(behind) != nil || in.at(givenBack) != nil || in.unshown(s.Look) {
		s.again = sooner(sooner(s.again, rest), s.Look.Again)
	}
	if !expiry.IsZero() {
		s.again = sooner(s.again, max(expiry.Sub(s.Facts.Now), time.Nanosecond))
	}
	return s
}

// see adds to a look what only the loop knows.
func (in *Injector) see(l *Look) {
	m := &in.memory
	if a := cmp.Or(in.typing(), in.at(behind)); a != nil && l.Typed.Visible && a.Begun(l.Typed.Text) {
		l.Box, l.Dialog = l.Typed, "" // what we typed is no dialog
	}
	in.doubt(l)
	in.overlook(l)
	// Looks that lie far apart do not count: something may have been unread in between.
	if l.Unread > 0 || l.Facts.Now.Sub(m.last.Facts.Now) > 2*unreadRest {
		m.read = l.Facts.Now
	}
	if l.Facts.Stopped || m.last.Facts.Stopped {
		m.stopped = l.Facts.Now
	}
	if m.last.Queued && !l.Queued {
		m.submitted = l.Facts.Now // by the agent itself
	}
	f := &l.Facts
	f.WasReady, f.LastBusy, f.LastInput = !m.ready.IsZero(), m.busy, ready.Later(m.input, l.Draft.Enter)
	f.Submitted = ready.Later(m.submitted, in.sent(*l))
	f.Dialog, f.Working, f.Composer = l.Dialog, l.Working || l.Queued, l.Box.Visible
	f.MaybeDialog, f.Rows = l.MaybeDialog, l.Rows
	m.restored, m.modal = m.restored && l.Draft.Begun, m.modal || l.Inserts
	f.AtPrompt = in.atPrompt(*l)
	if f.Raw && !f.AtPrompt {
		f.Dialog = cmp.Or(l.Dialog, l.Menu)
	}
	m.last = *l
}

// How long a dialog must stand where no composer shows. Half a repaint looks so, with anything that
// was ever said; what we typed last is the likeliest.
const (
	glimpse     = 50 * time.Millisecond
	glimpseOurs = proofRest
)

// doubt takes a dialog out of a look until it has stood for a while.
func (in *Injector) doubt(l *Look) {
	m := &in.memory
	asks := in.Profile.Composer != nil && !l.Box.Visible && l.Dialog != ""
	m.dialog = ready.Since(m.dialog, asks, l.Facts.Now)
	if !asks {
		return
	}
	rest := glimpse
	if turn.Within(l.Dialog, m.typed) {
		rest = glimpseOurs
	}
	if l.DialogAfter = max(0, rest-l.Facts.Now.Sub(m.dialog)); l.DialogAfter > 0 {
		l.Dialog = ""
	}
}

// sent is when what the human sent last left the composer, or their Enter if it did so at once;
// zero when they sent nothing. A text that stays for long was not sent.
func (in *Injector) sent(l Look) time.Time {
	m, enter := &in.memory, l.Draft.Sent
	switch {
	case enter.IsZero() || l.Draft.LastKey.After(enter):
	case l.Box.Visible && l.Box.Text == "":
		m.left = enter
	case !m.left.Equal(enter) && l.Facts.Now.Sub(enter) < in.Profile.Typing.Confirm:
		m.leaving = l.Facts.Now
	}
	return ready.Later(enter, m.leaving)
}

// judge is the verdict on a look, and when to ask for another one. Where there may be a dialog
// nothing else counts.
func (in *Injector) judge(l Look) (ready.Verdict, time.Duration) {
	if l.DialogAfter > 0 {
		return ready.Verdict{State: ready.Unknown, Confidence: ready.ByGuess, Settling: true}, l.DialogAfter
	}
	return in.Profile.Rules.Judge(l.Facts)
}

// learn remembers of a verdict what later ones stand on.
func (in *Injector) learn(s step) {
	switch {
	case s.DialogAfter > 0:
	case s.verdict.State == ready.Ready:
		in.memory.ready = s.Facts.Now
	case s.busy() || s.blocked() && !s.verdict.Settling:
		in.memory.busy = s.Facts.Now
	}
}

// unsentText is what stands unsent in the composer, or behind the prompt.
func (in *Injector) unsentText(l Look) string {
	if in.Profile.Composer != nil {
		return l.Box.Text
	}
	if !l.Facts.AtPrompt {
		return ""
	}
	return in.prompts.Text(in.row(l))
}

// row is the row in which the cursor stands.
func (in *Injector) row(l Look) prompt.Row {
	return prompt.Row{
		Line: l.Line, After: l.After, Read: l.Unread <= 0, Edits: l.Facts.Raw, ReadPlace: l.ReadPlace,
		Typed: l.Draft.Begun && (in.memory.restored || l.Draft.LastKey.After(in.memory.input)), Ever: !l.Draft.LastKey.IsZero(),
	}
}

// atPrompt reports whether the cursor stands at a prompt, or in the human's own
// line behind one.
func (in *Injector) atPrompt(l Look) bool {
	row := in.row(l)
	if in.Profile.Composer == nil && in.prompts.Continues(row, l.Draft.Shown(l.Before)) {
		return true
	}
	var continued prompt.Pattern
	if c := in.Profile.Continued; c != nil {
		continued = c
	}
	return l.Facts.AtPrompt && in.prompts.At(row, continued)
}

// clean reports whether the cursor stands at a prompt with nothing after it.
func (in *Injector) clean(l Look) bool { return l.Facts.AtPrompt && l.After == "" && l.Unread <= 0 }

// empty reports whether the composer, or the line behind the prompt, is seen empty.
func (in *Injector) empty(l Look) bool {
	if in.Profile.Composer == nil {
		return in.clean(l)
	}
	return l.Box.Visible && l.Box.Text == "" && !l.Box.Blank
}

// typedSince reports whether the human's keys reached the agent after a moment; never after none.
func typedSince(l Look, since time.Time) bool {
	return !since.IsZero() && ready.Later(l.Draft.LastKey, l.Brought).After(since)
}

// strays are characters of messages that were typed, parts of which an agent may leave in its
// composer when the text is gone: see profile.Uncertain. Nobody else may have typed them there.
type strays map[rune]bool

// maxStrays bounds them; all of Chinese as people write it is less.
const maxStrays = 8 << 10

// remember takes the characters of a text that is typed now.
func (s *strays) remember(text string) {
	if *s == nil || len(*s) > maxStrays {
		*s = strays{}
	}
	for _, r := range text {
		if profile.Uncertain(r) {
			(*s)[r] = true
		}
	}
}

// without is the text without strays, but for characters of own.
func (s strays) without(text, own string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if s[r] && !strings.ContainsRune(own, r) || own == "" && r == profile.Covered {
			return -1
		}
		return r
	}, text))
}

// overlook takes strays out of the composer as it is seen, in two cases: they stand among what we
// type now; or the composer holds nothing else, its beginning is in view, and the human has typed
// nothing. What we type begins with a header, so it is gone when only strays are left.
func (in *Injector) overlook(l *Look) {
	if len(in.memory.strays) == 0 || !l.Box.Visible || l.Draft.MayHold() {
		return
	}
	own := ""
	if a := in.typing(); a != nil && a.stage != clearing {
		own = a.typed
	}
	if rest := in.memory.strays.without(l.Box.Text, own); own != "" || rest == "" && l.Box.Top {
		l.Box.Text = rest
	}
}
