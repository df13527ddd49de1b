package inject

import (
	"context"
	"time"

	"relay-pty/inject/ready"
	"relay-pty/inject/turn"
)

// A tardy draft is one whose key to set it aside was read and did not act as long as we waited. The
// key may act later, and then the draft is brought back before anything is typed. That it was the
// key, and not the human, is known by the shadow of the human's keys, which still has the draft.

// late is what became of a key that did not set a draft aside in time.
type late struct {
	pressed time.Time // when it was typed
	gone    time.Time // since when the draft is seen to be set aside all the same; zero: it is not
	back    time.Time // when it was brought back; zero: not yet
}

// watchTardy follows what becomes of a tardy draft, until it stands there again or the human
// has done something else with it.
func (in *Injector) watchTardy(l Look) {
	if in.tardy == nil || l.Unread > 0 || l.Dialog != "" || !l.Box.Visible && in.Profile.Composer != nil ||
		!l.Facts.AtPrompt && in.Profile.Composer == nil {
		return
	}
	d, shown, over := in.tardy.stashed, in.unsentText(l), false
	hidden := in.Profile.Typing.StashShown != nil && !l.Stashed
	switch {
	case turn.Within(d.text, shown):
		if over = !d.back.IsZero(); over {
			in.tellStashed(in.tardy, false)
		}
		// Text behind the draft shows that later keys were read: the one before did nothing.
		over = over || !turn.Same(d.text, shown) || !in.typedStill(l, d)
		d.gone = time.Time{}
	case !d.gone.IsZero():
		over = typedSince(l, d.back) || hidden && typedSince(l, d.pressed)
	case !in.typedStill(l, d):
		over = true
	case !hidden:
		d.gone = l.Facts.Now
	}
	if over {
		in.tardy = nil
	}
}

// typedSince reports whether the human's keys reached the agent after a moment; never after none.
func typedSince(l Look, since time.Time) bool {
	return !since.IsZero() && ready.Later(l.Draft.LastKey, l.Brought).After(since)
}

// typedStill reports whether the draft would stand there if the human's keys alone had been typed.
func (in *Injector) typedStill(l Look, d *stashed) bool {
	if d.givenBack {
		return !typedSince(l, d.pressed)
	}
	return l.Draft.Known && turn.Within(d.typed, l.Draft.Text)
}

// astray reports whether the key that was to set a draft aside has done so late, when we had
// already given up and left the draft in its place.
func (in *Injector) astray() bool { return in.tardy != nil && !in.tardy.stashed.gone.IsZero() }

// shouldRestore reports whether to bring back the draft that went late, and else when to ask again:
// the composer has been empty for a while, and the human rests.
func (in *Injector) shouldRestore(l Look, v ready.Verdict) (bool, time.Duration) {
	if !in.astray() || !in.tardy.stashed.back.IsZero() || !in.isStashed(l) {
		return false, 0
	}
	if t := l.Draft.Text; t != "" && t != in.tardy.stashed.typed {
		return false, l.Again // the human typed more, which is yet to show
	}
	if v.State != ready.Ready && (v.State != ready.Busy || in.Profile.Composer == nil) {
		return false, 0
	}
	if left := proofRest - l.Facts.Now.Sub(in.tardy.stashed.gone); left > 0 {
		return false, left
	}
	hold, again := in.rests(l)
	return hold == "", again
}

// restore presses the key that brings the stashed draft back, once. Until the draft is seen in the
// composer it holds messages.
func (in *Injector) restore(ctx context.Context) {
	tx, err := in.begin(ctx)
	if err != nil {
		return
	}
	defer tx.End() // a terminal that is gone has no keys to bring back
	look := in.look()
	v, _ := in.judge(look)
	if yes, _ := in.shouldRestore(look, v); !yes {
		return
	}
	a := in.tardy
	a.stashed.back, in.restored = time.Now(), true
	in.tellStashed(a, true)
	tx.Write(ctx, []byte(a.backKeys())) // what becomes of it is seen
}
