package watch

import (
	"time"

	"relay-pty/inject/ready"
	"relay-pty/inject/turn"
)

// ChangeRest is how long what a composer shows must rest to be what a key has done.
const ChangeRest = 60 * time.Millisecond

// Change is what becomes of a composer by a key.
type Change struct {
	was, now glimpsed
	gone     time.Time // since when it is empty
	rests    time.Time // since when it is another one than before, and the same since
}

// glimpsed is a composer as far as keys that clear change it: the cursor tells of empty lines.
type glimpsed struct {
	text, line string
	row        int
}

func glimpseOf(l Look) glimpsed { return glimpsed{l.Box.Text, l.Line, l.Row} }

// ChangeFrom is what becomes of the composer from that look on.
func ChangeFrom(l Look) *Change { return &Change{was: glimpseOf(l), now: glimpseOf(l)} }

// Before is the text that stood there before the key.
func (c *Change) Before() string { return c.was.text }

// Cleared is what a key that clears was seen to do.
type Cleared int

const (
	Nothing Cleared = iota
	Some            // text is left, and it is not as it was
	Everything
)

// Did reports whether the composer is seen to be another than before, and rests. While it is
// painted anew it is not seen, and tells nothing.
func (c *Change) Did(w *Watch, l Look, blocked bool) Cleared {
	now := l.Facts.Now
	seen := !blocked && l.Unread <= 0 && (l.Box.Visible || w.Profile.Composer == nil)
	c.gone = ready.Since(c.gone, seen && w.Empty(l), now)
	if is := glimpseOf(l); is != c.now {
		c.now, c.rests = is, time.Time{}
	}
	c.rests = ready.Since(c.rests, seen && c.now != c.was && c.gone.IsZero(), now)
	switch {
	case !c.gone.IsZero() && now.Sub(c.gone) >= Rest:
		return Everything
	case !c.rests.IsZero() && now.Sub(c.rests) >= ChangeRest:
		return Some
	}
	return Nothing
}

// Glance is how the composer looked before a piece was typed, and what was seen of that since.
type Glance struct {
	Look
	read  time.Time // since when the agent has read it
	other time.Time // since when the composer shows something else
}

// Shows reports whether the wait for a piece is over: it shows, or the agent has had its time to
// show it. One that must show is waited for while the composer shows nothing, or a part of it;
// anything else is an altered text. Where a piece has scrolled out of view itself, it was text. Of
// blanks alone a composer shows that the cursor has moved.
func (g *Glance) Shows(p turn.Piece, l Look, must bool) (over, altered bool) {
	now := l.Facts.Now
	if g.read = ready.Since(g.read, l.Unread <= 0 && l.DialogAfter == 0, now); g.read.IsZero() {
		return false, false
	}
	moved := l.Row != g.Row || l.Line != g.Line
	if p.Shows(l.Box.Text) && (moved || !p.Blank()) {
		return true, false
	}
	g.other = ready.Since(g.other, must && l.Box.Visible && l.Box.Top && !p.Begins(l.Box.Text), now)
	altered = !g.other.IsZero() && now.Sub(g.other) >= Rest
	scrolled := l.Box.Visible && !l.Box.Top
	return altered || (!must || scrolled) && now.Sub(g.read) >= Rest, altered
}

// Key is what becomes of a key that is to end a turn.
type Key struct {
	painted time.Time // when the agent had last painted before it
	pressed time.Time
	took    time.Time // since when the agent has read it and shows no mode that was to be left by it
}

// keyGap is how long an agent may take to show that it heard a key.
const keyGap = 300 * time.Millisecond

// Pressed is a key that is typed now.
func Pressed(l Look) *Key { return &Key{painted: l.Facts.LastOutput, pressed: l.Facts.Now} }

// Heard reports whether an agent that is still busy has heard the key: it has rested with it, and
// painted since or had its time to. The next key might mean something else otherwise.
func (k *Key) Heard(l Look, busy bool, rest time.Duration) bool {
	now := l.Facts.Now
	k.took = ready.Since(k.took, l.Unread <= 0 && !l.Inserts, now)
	rested := !k.took.IsZero() && now.Sub(k.took) >= rest
	return rested && busy && (l.Facts.LastOutput.After(k.painted) || now.Sub(k.pressed) >= keyGap+rest)
}
