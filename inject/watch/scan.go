package watch

import (
	"time"

	"relay-pty/inject/profile"
	"relay-pty/inject/ready"
	"relay-pty/inject/turn"
)

// Scan proves that a turn stands whole in a composer that shows its end alone, though nothing tells
// that rows are scrolled out of view: such a composer may be lower than is known, or a part of the
// turn may be lost. Keys lead to the beginning of the text and back to its end.
type Scan struct {
	Begins  bool      // the beginning was seen, so the rest is out of view
	stands  time.Time // since when the composer shows the end
	pressed time.Time // when the key that leads to the beginning was; zero: it was not
	back    bool      // the key that leads to the end was pressed, too
}

// Key is what is to be pressed next, "" for nothing. The one that leads back is, in any case.
func (c *Scan) Key(t turn.Turn, keys profile.Typing, l Look) string {
	if keys.Start == "" || t.Command() || c.back {
		return ""
	}
	now, seen := l.Facts.Now, l.Box.Visible && l.Box.Top && l.Unread <= 0
	if c.pressed.IsZero() {
		c.stands = ready.Since(c.stands, seen && t.Stands(l.Box.Text, false), now)
		if c.stands.IsZero() || now.Sub(c.stands) < Rest {
			return ""
		}
		c.pressed = now
		return keys.Start
	}
	c.Begins = seen && t.Starts(l.Box.Text)
	if c.back = c.Begins || now.Sub(c.pressed) >= scanWait; c.back {
		return keys.End
	}
	return ""
}

// scanWait is how long the beginning may take to show.
const scanWait = 5 * Rest
