package watch

import (
	"time"

	"relay-pty/inject/ready"
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
