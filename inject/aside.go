package inject

import (
	"context"
	"strings"
	"time"

	"relay-pty/inject/draft"
	"relay-pty/inject/ready"
	"relay-pty/inject/turn"
	"relay-pty/inject/watch"
	"relay-pty/protocol"
)

// aside is a text that was set aside for a message.
type aside struct {
	text      string    // as it showed
	typed     string    // as the human typed it
	givenBack bool      // it is what the interrupted agent gave back, not the human's
	restored  bool      // it stands in the composer again
	pressed   time.Time // when the key that sets it aside was typed …
	keys      int       // … of so many bytes
	gone      time.Time // since when it is seen to be set aside though that came late; zero: it is not
	back      time.Time // when it was brought back then; zero: not yet
}

// stashRest is how long the composer must stay empty, or filled again.
const stashRest = 20 * time.Millisecond

// maySetAside reports whether the draft may be set aside for the message, and else
// when to ask again because only time is missing. A shadow and a screen that do
// not agree on what the human typed forbid it: nobody could tell whether all of it
// came back. A prompt that the interrupted agent gave back is no draft of the
// human's: an urgent message sets it aside, and it is submitted again behind that.
func (in *Injector) maySetAside(s step) (bool, time.Duration) {
	t, unsent := in.Profile.Typing, in.seen.Unsent
	if s.next == nil || t.Stash == "" || s.Stashed || in.at(tardy) != nil || unsent == "" {
		return false, 0
	}
	if in.holdsGivenBack(s.Look) {
		return s.next.Mode == protocol.ModeUrgent, 0
	}
	switch {
	case in.DraftTimeout <= 0,
		t.StashLine && (strings.Contains(s.Draft.Text, "\n") || !s.Draft.AtEnd),
		in.Profile.Composer == nil && !s.Facts.Raw, // the terminal's own line editor can only throw a line away
		s.Draft.Against(unsent, s.Box.Top || in.Profile.Composer == nil) != draft.Agreed:
		return false, 0
	case s.next.Mode == protocol.ModeUrgent:
		return true, 0
	}
	left := in.DraftTimeout - s.Facts.Now.Sub(ready.Later(in.seen.UnsentSince, s.Draft.LastKey))
	return left <= 0, left
}

// setAside presses the agent's own key that sets a draft aside.
func (a *attempt) setAside(ctx context.Context, s step) (stage, time.Duration) {
	in := a.in
	a.draft = &aside{text: in.seen.UnsentText(s.Look), typed: s.Draft.Text, givenBack: in.holdsGivenBack(s.Look), pressed: time.Now()}
	n, err := a.term.tx.Write(ctx, []byte(in.Profile.Typing.Stash))
	if a.draft.keys = n; err != nil {
		return a.leaveDraft(), 0
	}
	return stashing, 0
}

// stashing waits until the draft is seen to be gone: as long as text may take to show, but no
// longer than the human's keys may wait.
func (a *attempt) stashing() do {
	var gone time.Time
	return func(ctx context.Context, s step) (stage, time.Duration) {
		gone = ready.Since(gone, a.in.isStashed(s.Look), s.Facts.Now)
		if !gone.IsZero() && s.Facts.Now.Sub(gone) >= stashRest {
			a.in.tellStashed(a, true)
			return a.take(ctx, s)
		}
		impatient, again := a.impatient(s.Look)
		if impatient || s.over || s.Facts.Exited || s.blocked() {
			return a.leaveDraft(), 0
		}
		if !gone.IsZero() {
			return stashing, stashRest
		}
		return stashing, sooner(again, watch.UnreadRest)
	}
}

// leaveDraft leaves the draft where it is. A key that the agent did not read is taken back. One
// that it read may act later.
func (a *attempt) leaveDraft() stage {
	a.in.seen.UnsentSince = time.Now() // an agent that does not read must not get the key at once again
	if got, err := a.term.tx.TakeBack(a.draft.keys); err == nil && got == a.draft.keys {
		return ended
	}
	return tardy
}

// isStashed reports whether the composer looks as it does when a draft was set aside.
func (in *Injector) isStashed(l watch.Look) bool {
	return in.seen.Empty(l) && l.Unread <= 0 && (in.Profile.Typing.StashShown == nil || l.Stashed)
}

// bringBack is the stage that follows: next, or the one that brings back the draft first, if the
// terminal is still ours.
func (a *attempt) bringBack(next stage) stage {
	if a.draft == nil || a.draft.restored || a.term.tx == nil {
		return next
	}
	a.then = next
	return restoring
}

// restoring sees to it that what was set aside stands in the composer again.
// Some agents do it by themselves once something was submitted. A key for it is
// pressed only into a composer that is seen empty: with our own text in it, that
// text would take the draft's place.
func (a *attempt) restoring() do {
	var stands time.Time
	pressed := false
	return func(ctx context.Context, s step) (stage, time.Duration) {
		if !pressed && a.in.seen.Empty(s.Look) && s.Unread <= 0 {
			a.term.tx.Write(ctx, []byte(a.backKeys(s))) // what becomes of it is seen
			pressed = true
		}
		stands = ready.Since(stands, turn.Same(a.in.seen.UnsentText(s.Look), a.draft.text), s.Facts.Now)
		is := !stands.IsZero() && s.Facts.Now.Sub(stands) >= stashRest
		if !is && !s.over {
			return restoring, stashRest
		}
		if is {
			a.draft.restored, a.in.seen.Restored = true, true
			a.in.tellStashed(a, false)
		}
		if a.then != ended {
			a.release()
		}
		return a.then, 0
	}
}

// backKeys are what brings the draft back; "": the agent does that by itself.
// Keys that bring it back from behind our message do not where none was
// submitted: then it is typed again.
func (a *attempt) backKeys(s step) string {
	t, submitted := a.in.Profile.Typing, !a.pressed.at.IsZero()
	switch {
	case !t.Retype && t.Unstash == "" && !submitted:
		return t.Stash
	case !t.Retype && submitted:
		return t.Unstash
	case s.Paste:
		return turn.PasteOpen + a.draft.typed + turn.PasteClose
	}
	return a.draft.typed
}

func (in *Injector) tellStashed(a *attempt, set bool) {
	if in.Stashed != nil && !a.draft.givenBack {
		in.Stashed(a.Turn[0].ID, set)
	}
}

// watchDraft keeps since when the draft is as it is, and what became of those that were moved.
func (in *Injector) watchDraft(l watch.Look) {
	m := &in.seen
	if t := in.seen.UnsentText(l); t != m.Unsent {
		m.Unsent, m.UnsentSince = t, l.Facts.Now
	}
	if a := in.at(tardy); a != nil && in.settled(a, l) {
		in.drop(tardy)
	}
	if l.Facts.Exited || ready.Later(l.Draft.LastKey, l.Brought).After(m.Halted) {
		in.drop(givenBack) // whatever stands there is the human's now
	}
}

// A tardy draft is one whose key to set it aside was read and did not act as long as we waited. The
// key may act later, and then the draft is brought back before anything is typed. That it was the
// key, and not the human, is known by the shadow of the human's keys, which still has the draft.

// settled follows what becomes of a tardy draft, and reports whether it stands there again or the
// human has done something else with it.
func (in *Injector) settled(a *attempt, l watch.Look) bool {
	if l.Unread > 0 || l.Dialog != "" || !l.Box.Visible && in.Profile.Composer != nil || !l.Facts.AtPrompt && in.Profile.Composer == nil {
		return false
	}
	d, shown := a.draft, in.seen.UnsentText(l)
	hidden := in.Profile.Typing.StashShown != nil && !l.Stashed
	switch {
	case turn.Within(d.text, shown):
		d.gone = time.Time{}
		if !d.back.IsZero() {
			in.tellStashed(a, false)
			return true
		}
		// Text behind the draft shows that later keys were read: the one before did nothing.
		return !turn.Same(d.text, shown) || !in.typedStill(l, d)
	case !d.gone.IsZero():
		return watch.TypedSince(l, d.back) || hidden && watch.TypedSince(l, d.pressed)
	case !in.typedStill(l, d):
		return true
	case !hidden:
		d.gone = l.Facts.Now
	}
	return false
}

// typedStill reports whether the draft would stand there if the human's keys alone had been typed.
func (in *Injector) typedStill(l watch.Look, d *aside) bool {
	if d.givenBack {
		return !watch.TypedSince(l, d.pressed)
	}
	return l.Draft.Known && turn.Within(d.typed, l.Draft.Text)
}

// astray reports whether the key that was to set a draft aside has done so late, when we had
// already given up and left the draft in its place.
func (in *Injector) astray() bool {
	a := in.at(tardy)
	return a != nil && !a.draft.gone.IsZero()
}

// shouldRestore reports whether to bring back the draft that went late, and else when to ask again:
// the composer has been empty for a while, and the human rests.
func (in *Injector) shouldRestore(s step) (bool, time.Duration) {
	if !in.astray() || !in.isStashed(s.Look) {
		return false, 0
	}
	d := in.at(tardy).draft
	switch rest := proofRest - s.Facts.Now.Sub(d.gone); {
	case !d.back.IsZero():
		return false, 0
	case s.Draft.Text != "" && s.Draft.Text != d.typed:
		return false, s.Look.Again // the human typed more, which is yet to show
	case s.verdict.State != ready.Ready && (s.verdict.State != ready.Busy || in.Profile.Composer == nil):
		return false, 0
	case rest > 0:
		return false, rest
	}
	hold, again := in.seen.HumanRests(s.Look)
	return hold == "", again
}

// tardy presses the key that brings the draft back, once. Until the draft is seen in the
// composer it holds messages.
func (a *attempt) tardy() do {
	return func(ctx context.Context, s step) (stage, time.Duration) {
		switch yes, again := a.in.shouldRestore(s); {
		case !yes:
			a.release()
			return tardy, again
		case a.term.tx == nil:
			a.open(ctx)
			return tardy, atOnce
		}
		a.draft.back, a.in.seen.Restored = time.Now(), true
		a.in.tellStashed(a, true)
		a.term.tx.Write(ctx, []byte(a.backKeys(s))) // what becomes of it is seen
		a.release()
		return tardy, 0
	}
}
