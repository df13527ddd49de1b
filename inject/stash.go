package inject

import (
	"context"
	"strings"
	"time"

	"relay-pty/inject/draft"
	"relay-pty/inject/ready"
	"relay-pty/inject/turn"
	"relay-pty/protocol"
)

// stashed is a text that was set aside for a message.
type stashed struct {
	text      string // as it showed
	typed     string // as the human typed it
	givenBack bool   // it is what the interrupted agent gave back, not the human's
	restored  bool   // it stands in the composer again
	late             // what became of the key if it did not set it aside in time
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

// watchDraft keeps since when the draft is as it is.
func (in *Injector) watchDraft(l Look) {
	if t := in.unsentText(l); t != in.unsent.text {
		in.unsent.text, in.unsent.since = t, l.Facts.Now
	}
	in.watchTardy(l)
	if in.givenBack != "" && (ready.Later(l.Draft.LastKey, l.Brought).After(in.halted) || l.Facts.Exited) {
		in.givenBack = "" // whatever stands there is the human's now
	}
}

// maySetAside reports whether the draft may be set aside for the message, and else
// when to ask again because only time is missing. A shadow and a screen that do
// not agree on what the human typed forbid it: nobody could tell whether all of it
// came back. A prompt that the interrupted agent gave back is no draft of the
// human's: an urgent message sets it aside, and it is submitted again behind that.
func (in *Injector) maySetAside(l Look, b *turn.Batch) (bool, time.Duration) {
	t := in.Profile.Typing
	if b == nil || t.Stash == "" || l.Stashed || in.tardy != nil || in.unsent.text == "" {
		return false, 0
	}
	if in.holdsGivenBack(l) {
		return b.Mode == protocol.ModeUrgent, 0
	}
	if in.DraftTimeout <= 0 {
		return false, 0
	}
	if t.StashLine && (strings.Contains(l.Draft.Text, "\n") || !l.Draft.AtEnd) {
		return false, 0
	}
	if in.Profile.Composer == nil && !l.Facts.Raw {
		return false, 0 // the terminal's own line editor can only throw a line away
	}
	if l.Draft.Against(in.unsent.text, l.Box.Top || in.Profile.Composer == nil) != draft.Agreed {
		return false, 0
	}
	if b.Mode == protocol.ModeUrgent {
		return true, 0
	}
	left := in.DraftTimeout - l.Facts.Now.Sub(ready.Later(in.unsent.since, l.Draft.LastKey))
	return left <= 0, left
}

// setAside presses the agent's own key that sets a draft aside and waits until it is seen to be
// gone: as long as text may take to show, but no longer than the human's keys may wait. A key that
// the agent did not read is taken back. One that it read may act later: see tardy.go.
func (a *attempt) setAside(ctx context.Context, l Look) bool {
	in, t := a.in, a.in.Profile.Typing
	a.stashed = &stashed{text: in.unsentText(l), typed: l.Draft.Text, givenBack: in.holdsGivenBack(l), late: late{pressed: time.Now()}}
	n, err := a.tx.Write(ctx, []byte(t.Stash))
	if err == nil && a.awaitStashed(ctx) {
		in.tellStashed(a, true)
		return true
	}
	if got, err := a.tx.TakeBack(n); err != nil || got < n {
		in.tardy = a
	}
	in.unsent.since = time.Now() // an agent that does not read must not get the key at once again
	return false
}

// awaitStashed waits until the draft is seen to be set aside, and reports whether it is.
func (a *attempt) awaitStashed(ctx context.Context) (is bool) {
	var gone time.Time
	a.in.whileRead(ctx, a.in.Profile.Typing.Echo, func(l Look) (bool, time.Duration) { // is tells why it ends
		v, _ := a.in.judge(l)
		gone = ready.Since(gone, a.in.isStashed(l), l.Facts.Now)
		is = !gone.IsZero() && l.Facts.Now.Sub(gone) >= stashRest
		over, again := a.impatient(l)
		if again = sooner(again, unreadRest); !gone.IsZero() {
			again = stashRest
		}
		return is || over || l.Facts.Exited || v.State == ready.Blocked, again
	})
	return is
}

// isStashed reports whether the composer looks as it does when a draft was set aside.
func (in *Injector) isStashed(l Look) bool {
	return in.empty(l) && l.Unread <= 0 && (in.Profile.Typing.StashShown == nil || l.Stashed)
}

// stashRest is how long the composer must stay empty, or filled again.
const stashRest = 20 * time.Millisecond

// empty reports whether the composer, or the line behind the prompt, is seen empty.
func (in *Injector) empty(l Look) bool {
	if in.Profile.Composer == nil {
		return in.clean(l)
	}
	return l.Box.Visible && l.Box.Text == "" && !l.Box.Blank
}

// bringBack sees to it that what was set aside stands in the composer again.
// Some agents do it by themselves once something was submitted. A key for it is
// pressed only into a composer that is seen empty: with our own text in it, that
// text would take the draft's place.
func (a *attempt) bringBack(ctx context.Context) {
	if a.stashed == nil || a.stashed.restored || a.tx == nil {
		return
	}
	in, keys := a.in, a.backKeys()
	var stands time.Time
	err := in.until(ctx, 2*proofRest, func(l Look) (bool, time.Duration) {
		if keys != "" && in.empty(l) && l.Unread <= 0 {
			a.tx.Write(ctx, []byte(keys)) // what becomes of it is seen
			keys = ""
		}
		is := turn.Same(in.unsentText(l), a.stashed.text)
		stands = ready.Since(stands, is, l.Facts.Now)
		return is && l.Facts.Now.Sub(stands) >= stashRest, stashRest
	})
	if err == nil {
		a.stashed.restored, in.restored = true, true
		in.tellStashed(a, false)
	}
}

// backKeys are what brings the draft back; "": the agent does that by itself.
// Keys that bring it back from behind our message do not where none was
// submitted: then it is typed again.
func (a *attempt) backKeys() string {
	t, submitted := a.in.Profile.Typing, !a.enter.IsZero()
	switch {
	case !t.Retype && t.Unstash == "" && !submitted:
		return t.Stash
	case !t.Retype && submitted:
		return t.Unstash
	case a.in.look().Paste:
		return turn.PasteOpen + a.stashed.typed + turn.PasteClose
	}
	return a.stashed.typed
}

func (in *Injector) tellStashed(a *attempt, set bool) {
	if in.Stashed != nil && !a.stashed.givenBack {
		in.Stashed(a.Turn[0].ID, set)
	}
}
