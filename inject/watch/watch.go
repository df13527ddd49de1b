// Package watch sees the agent over time: what one look shows, what a look means after those before
// it, and what of the human is on the screen that we must not touch. It types nothing.
package watch

import (
	"cmp"
	"time"

	"relay-pty/inject/draft"
	"relay-pty/inject/profile"
	"relay-pty/inject/prompt"
	"relay-pty/inject/ready"
	"relay-pty/inject/sight"
	"relay-pty/inject/turn"
	"relay-pty/protocol"
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
	Settles     time.Duration // the same where a line program may be about to wait at its prompt
}

// Watch is what the looks so far have shown, as far as later verdicts stand on it, and what was
// typed last.
type Watch struct {
	Profile     *profile.Profile
	Last        Look      // the look before this one
	Ready       time.Time // when the agent was last ready; zero: never
	Rests       time.Time // since when it is ready; zero: it is not
	Busy        time.Time // when it last worked, or asked something
	Stopped     time.Time // when it was last seen stopped
	Input       time.Time // when we last typed
	Submitted   time.Time // when it was last given something to do
	Halted      time.Time // when we last interrupted it
	Modal       bool      // its composer was seen in a mode as vim's INSERT
	Restored    bool      // a draft was brought back, and the human has not pressed Enter since
	Unsent      string    // the draft as it was last seen …
	UnsentSince time.Time // … and since when it is so

	since   time.Time // since when it is what it is; zero: always
	read    time.Time // since when the agent is seen to have read all
	took    time.Time // since when it is seen to have read what we interrupted it with; zero: it has not
	heard   time.Time // when it painted after that; zero: not yet
	returns bool      // what the composer, which was empty then, comes to hold is a prompt given back
	leaving time.Time // when the text that the human submitted was last seen in the composer
	left    time.Time // the human's Enter whose text has left it: what stands there now is new
	dialog  time.Time // since when a dialog is there, and no composer
	typed   string    // what we typed last
	strays  turn.Strays
	prompts prompt.Watch
	unfelt  Look      // of a line whose editor did something else with a key than to show it …
	tried   time.Time // … when; zero: there is none
}

// Ours is what we have typed and what may stand in the composer.
type Ours struct {
	Begun func(shown string) bool // reports whether a text is a part of it; nil: nothing was typed
	Typed string                  // what is being typed, among which strays may stand; "": nothing is
}

// Types remembers a text that is about to be typed.
func (w *Watch) Types(text string) {
	w.typed = text
	w.strays.Remember(text)
}

// Becomes says that the agent is another one from now on, whose prompts are not known yet.
func (w *Watch) Becomes(now time.Time) {
	w.Ready, w.prompts, w.since = time.Time{}, prompt.Watch{}, now
}

// HumanRest is how long the human must not have typed before we do. Rest is how long what shows, or
// does not, must last to prove anything. UnreadRest is when to ask again whether the agent has read
// what was typed.
const (
	HumanRest  = time.Second
	Rest       = 300 * time.Millisecond
	UnreadRest = 50 * time.Millisecond
)

// See adds to a look what only looks over time tell.
func (w *Watch) See(l *Look, ours Ours) {
	if ours.Begun != nil && l.Typed.Visible && ours.Begun(l.Typed.Text) {
		l.Box, l.Dialog = l.Typed, "" // what we typed is no dialog
	}
	w.doubt(l)
	w.overlook(l, ours.Typed)
	// Looks that lie far apart do not count: something may have been unread in between.
	if l.Unread > 0 || l.Facts.Now.Sub(w.Last.Facts.Now) > 2*UnreadRest {
		w.read = l.Facts.Now
	}
	if w.took.IsZero() && l.Unread <= 0 {
		w.took = l.Facts.Now
	}
	if w.heard.IsZero() && !w.took.IsZero() && l.Facts.LastOutput.After(w.took) {
		w.heard = l.Facts.Now
	}
	if l.Facts.Stopped || w.Last.Facts.Stopped {
		w.Stopped = l.Facts.Now
	}
	if w.Last.Queued && !l.Queued {
		w.Submitted = l.Facts.Now // by the agent itself
	}
	f := &l.Facts
	f.WasReady, f.LastBusy, f.LastInput = !w.Ready.IsZero(), w.Busy, ready.Later(w.Input, l.Draft.Enter)
	f.Submitted = ready.Later(w.Submitted, w.sent(*l))
	f.Dialog, f.Working, f.Composer = l.Dialog, l.Working || l.Queued, l.Box.Visible
	if l.Box.Foreign {
		f.Mode = l.Box.Mode
	}
	f.MaybeDialog, f.Rows, f.Mark = l.MaybeDialog, l.Rows, l.Mark
	w.Restored, w.Modal = w.Restored && l.Draft.Begun, w.Modal || l.Inserts
	looksSo := f.AtPrompt
	if f.AtPrompt = w.atPrompt(*l); looksSo && !f.AtPrompt && !f.Raw && l.ReadPlace == "" {
		l.Settles = UnreadRest
	}
	if f.Raw && !f.AtPrompt {
		f.Dialog = cmp.Or(l.Dialog, l.Menu)
	}
	last := &w.Last.Facts
	f.Lost = ready.Since(last.Lost, w.Profile.Composer != nil && !f.Composer, f.Now)
	f.Asked = ready.Since(last.Asked, f.Dialog != "", f.Now)
	f.Worked = ready.Since(last.Worked, f.Working, f.Now)
	w.Last = *l
}

// Interrupts remembers that a key that is to end the agent's turn is typed now. empty says that the
// composer holds nothing.
func (w *Watch) Interrupts(now time.Time, empty bool) {
	w.Halted, w.took, w.heard, w.returns = now, time.Time{}, time.Time{}, empty && w.Profile.Typing.Returns
}

// Resubmits remembers that Enter is pressed on what the agent gave back. What stands there
// afterwards is a draft.
func (w *Watch) Resubmits(now time.Time) { w.Input, w.returns = now, false }

// Returned reports whether what the composer holds is the prompt that an interrupted agent gave
// back: the human has typed nothing since. It must have stood for a while, for it may be painted in
// parts; else it tells when to ask again.
func (w *Watch) Returned(l Look) (is bool, again time.Duration) {
	if !w.returns || l.Box.Text == "" || !l.Box.Visible || TypedSince(l, w.Halted) {
		return false, 0
	}
	left := Rest - l.Facts.Now.Sub(w.UnsentSince)
	return left <= 0, max(left, 0)
}

// haltAgain is how long the agent may take to heed an interrupt that it has shown to have heard.
const haltAgain = 1200 * time.Millisecond

// MayInterrupt reports whether a key may be typed that ends the agent's turn, and else when to ask
// again: the agent was ready since the last one, or goes on though it has painted after it had read
// that. One that has read it and stands still may do it much later, at once with the next: that
// clears Claude Code's composer, with the human's draft.
func (w *Watch) MayInterrupt(now time.Time) (bool, time.Duration) {
	switch left := haltAgain - now.Sub(w.heard); {
	case w.Halted.IsZero() || w.Halted.Before(w.Ready):
		return true, 0
	case w.heard.IsZero():
		return false, 0
	default:
		return left <= 0, left
	}
}

// How long a dialog must stand where no composer shows. Half a repaint looks so, with anything that
// was ever said; what we typed last is the likeliest.
const (
	glimpse     = 50 * time.Millisecond
	glimpseOurs = Rest
)

// doubt takes a dialog out of a look until it has stood for a while.
func (w *Watch) doubt(l *Look) {
	asks := w.Profile.Composer != nil && !l.Box.Visible && l.Dialog != ""
	w.dialog = ready.Since(w.dialog, asks, l.Facts.Now)
	if !asks {
		return
	}
	rest := glimpse
	if turn.Within(l.Dialog, w.typed) {
		rest = glimpseOurs
	}
	if l.DialogAfter = max(0, rest-l.Facts.Now.Sub(w.dialog)); l.DialogAfter > 0 {
		l.Dialog = ""
	}
}

// sent is when what the human sent last left the composer, or their Enter if it did so at once;
// zero when they sent nothing. A text that stays for long was not sent.
func (w *Watch) sent(l Look) time.Time {
	enter := l.Draft.Sent
	switch {
	case enter.IsZero() || l.Draft.LastKey.After(enter):
	case l.Box.Visible && l.Box.Text == "":
		w.left = enter
	case !w.left.Equal(enter) && l.Facts.Now.Sub(enter) < w.Profile.Typing.Confirm:
		w.leaving = l.Facts.Now
	}
	return ready.Later(enter, w.leaving)
}

// triesAgain is what keeps a turn from its end whose API refuses.
const triesAgain = "its API refuses, and it tries again by itself (relay screen NAME shows when)"

// Judge is the verdict on a look, and when to ask for another one. It is remembered, for later ones
// stand on it. Where there may be a dialog nothing else counts.
func (w *Watch) Judge(l Look) (v ready.Verdict, again time.Duration) {
	if l.DialogAfter > 0 {
		return ready.Verdict{State: ready.Unknown, Confidence: ready.ByGuess, Settling: true, By: protocol.SignDialog}, l.DialogAfter
	}
	v, again = w.Profile.Rules.Judge(l.Facts)
	w.Rests = ready.Since(w.Rests, v.State == ready.Ready, l.Facts.Now)
	if v.State == ready.Busy && l.Tries {
		v.BlockedBy = triesAgain
	}
	switch {
	case v.State == ready.Ready:
		w.Ready = l.Facts.Now
	case (v.State == ready.Busy || v.State == ready.Blocked) && !v.Settling:
		w.Busy = l.Facts.Now
	}
	return v, again
}

// UnsentText is what stands unsent in the composer, or behind the prompt.
func (w *Watch) UnsentText(l Look) string {
	if w.Profile.Composer != nil {
		return l.Box.Text
	}
	if !l.Facts.AtPrompt {
		return ""
	}
	return w.prompts.Text(w.row(l))
}

// row is the row in which the cursor stands.
func (w *Watch) row(l Look) prompt.Row {
	return prompt.Row{
		Line: l.Line, After: l.After, Read: l.Unread <= 0, Edits: l.Facts.Raw, ReadPlace: l.ReadPlace,
		Typed: l.Draft.Begun && (w.Restored || l.Draft.LastKey.After(w.Input)), Ever: l.Draft.LastKey.After(w.since),
	}
}

// atPrompt reports whether the cursor stands at a prompt, or in the human's own
// line behind one.
func (w *Watch) atPrompt(l Look) bool {
	row := w.row(l)
	if l.Draft.Middle {
		return false
	}
	if w.Profile.Composer == nil && w.prompts.Continues(row, l.Draft.Shown(l.Before)) {
		return true
	}
	var continued prompt.Pattern
	if c := w.Profile.Continued; c != nil {
		continued = c
	}
	return l.Facts.AtPrompt && w.prompts.At(row, continued)
}

// Unfelt says that the line editor has now done something else with a key than to show it, on a
// line that looked so.
func (w *Watch) Unfelt(l Look) { w.unfelt, w.tried = l, time.Now() }

// IsUnfelt reports whether that line is as it was, and the human has not touched it since.
func (w *Watch) IsUnfelt(l Look) bool {
	return !w.tried.IsZero() && l.Line == w.unfelt.Line && l.Row == w.unfelt.Row && !TypedSince(l, w.tried)
}

// Clean reports whether the cursor stands at a prompt with nothing after it.
func (w *Watch) Clean(l Look) bool { return l.Facts.AtPrompt && l.After == "" && l.Unread <= 0 }

// Empty reports whether the composer, or the line behind the prompt, is seen empty.
func (w *Watch) Empty(l Look) bool {
	if w.Profile.Composer == nil {
		return w.Clean(l)
	}
	return l.Box.Visible && l.Box.Text == "" && !l.Box.Blank
}

// TypedSince reports whether the human's keys reached the agent after a moment; never after none.
func TypedSince(l Look, since time.Time) bool {
	return !since.IsZero() && ready.Later(l.Draft.LastKey, l.Brought).After(since)
}

// Interrupted reports whether the agent was interrupted after a moment: by us, or by the human,
// whose last key is an Escape.
func (w *Watch) Interrupted(l Look, since time.Time) bool {
	return w.Halted.After(since) || TypedSince(l, since) && l.Draft.LastKey.After(l.Draft.Other)
}

// overlook takes strays out of the composer as it is seen, in two cases: they stand among what we
// type now; or the composer holds nothing else, its beginning is in view, and the human has typed
// nothing. What we type begins with a header, so it is gone when only strays are left.
func (w *Watch) overlook(l *Look, own string) {
	if len(w.strays) == 0 || !l.Box.Visible || l.Draft.MayHold() {
		return
	}
	if rest := w.strays.Without(l.Box.Text, own); own != "" || rest == "" && l.Box.Top {
		l.Box.Text = rest
	}
}

// Quiet reports whether the human is typing, or a draft may be about to show, and
// after how long to ask again.
func (w *Watch) Quiet(l Look) (hold string, again time.Duration) {
	hold, again = w.HumanRests(l)
	if hold == "" && w.Unshown(l) {
		return protocol.WaitsForDraft, l.Again
	}
	return hold, again
}

// HumanRests is the part of quiet that the human's last keys decide, and what the agent has read of
// them.
func (w *Watch) HumanRests(l Look) (hold string, again time.Duration) {
	if !l.Draft.Boundary {
		return protocol.WaitsForHuman, 0
	}
	last := ready.Later(l.Draft.LastKey, l.Brought)
	if left := HumanRest - l.Facts.Now.Sub(last); !last.IsZero() && left > 0 {
		return protocol.WaitsForHuman, left
	}
	if l.Unread > 0 {
		return protocol.WaitsForReady, UnreadRest
	}
	if !last.IsZero() && !last.Before(l.Facts.LastOutput) && l.Facts.Now.Sub(w.read) < Rest {
		return protocol.WaitsForHuman, UnreadRest // a draft may be about to show
	}
	return "", 0
}

// Unshown reports whether an empty composer may be about to show a draft, of which the shadow of
// keys knows. The shadow gives way to the composer after a while.
func (w *Watch) Unshown(l Look) bool {
	b := l.Box
	return w.Profile.Composer != nil && b.Visible && b.Top && b.Text == "" && l.Draft.MayHold()
}

// Drafted reports whether the human has unsent text. A composer on the screen knows best;
// blanks show there by the cursor alone, if at all. A prompt is compared with itself
// before any key. Elsewhere it is what was typed since the last Enter, if it left a
// trace before the cursor or the terminal keeps the line until Enter.
func (w *Watch) Drafted(l Look) bool {
	switch {
	case w.Profile.Composer != nil:
		return l.Box.Text != "" || l.Box.Blank || l.Draft.Blank()
	case !l.Facts.Raw && l.Draft.Text != "", l.Facts.AtPrompt && w.prompts.Changed(w.row(l)):
		return true
	}
	return l.Facts.Raw && l.Draft.Shown(l.Before)
}
