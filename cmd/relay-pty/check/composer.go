package check

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"

	"relay-pty/inject/profile"
	"relay-pty/inject/ready"
)

// How long an agent may take, on a loaded machine, to show what was typed, to
// obey a key that may need a second try, and to begin or end a turn.
const (
	showWait = 10 * time.Second
	keyWait  = 2 * time.Second
	turnWait = 15 * time.Second
)

// atRest judges what the profile makes of an agent to which nobody has typed.
func (c *checker) atRest(ctx context.Context) {
	a := c.agent
	v := a.look(c.p)
	if !v.Box.Visible {
		c.bad("prompt", "no row begins with %s, the prompt of an idle composer", c.p.Composer.Prompt)
		return
	}
	c.ok("prompt", "the composer is found when idle")
	if v.Box.Text != "" {
		c.bad("placeholder", "%q, which nobody typed, counts as a draft", v.Box.Text)
		return
	}
	rows, title := c.marksApart()
	switch {
	case a.look(rows).Working:
		c.bad("busy", "a row matches %s while the agent is idle", sources(c.p.Busy))
	case a.look(title).Working:
		c.bad("busy title", "it says busy while the agent is idle")
	default:
		c.ok("busy", "no mark while idle")
	}
	row, found := a.row(c.asks)
	if found || v.Dialog != "" {
		c.bad("dialog", "%q counts as a question while the agent is idle", row+v.Dialog)
	} else {
		c.ok("dialog", "none while idle")
	}
	c.says(ctx, ready.Ready, "idle")
}

// marksApart is the profile with the busy marks in rows alone, and with the one
// in the window title alone.
func (c *checker) marksApart() (rows, title *profile.Profile) {
	r, t := *c.p, *c.p
	r.BusyTitle, t.Busy = "", nil
	return &r, &t
}

// asks says whether a row is one of a dialog.
func (c *checker) asks(row string) bool {
	for _, p := range c.p.Dialogs {
		if p.Match(row) {
			return true
		}
	}
	return false
}

// sources are patterns in a report.
func sources(list []*profile.Pattern) string {
	var out []string
	for _, p := range list {
		out = append(out, p.String())
	}
	return fmt.Sprintf("%q", out)
}

// says judges what the agent's own log says of its state.
func (c *checker) says(ctx context.Context, want ready.State, when string) {
	a := c.agent
	if a.log == nil {
		return
	}
	if a.wait(ctx, keyWait, func() bool { s, _ := a.state(); return s == want }) {
		c.ok("log", "the agent's own word is read while it is "+when)
		return
	}
	_, word := a.state()
	c.bad("log", "the word of its own state that is read in %s while the agent is %s is %q", a.log.dir, when, word)
}

func (c *checker) write(text string) { c.agent.session.Keys([]byte(text)) } // a dead agent shows soon enough

// text is what the composer holds.
func (c *checker) text() string { return c.agent.look(c.p).Box.Text }

func (c *checker) empty() bool {
	b := c.agent.look(c.p).Box
	return b.Visible && b.Text == ""
}

// typed types text and judges that the composer shows it. Only white space may
// differ.
func (c *checker) typed(ctx context.Context, text string) bool {
	c.write(text)
	if c.agent.wait(ctx, showWait, func() bool { return squeeze(c.text()) == squeeze(text) }) {
		return true
	}
	c.misread(text)
	return false
}

func (c *checker) misread(text string) {
	c.bad("prompt", "%q was typed, and the composer is read as %q", text, c.text())
}

// outOfView says whether the composer has scrolled its first row, by which alone
// it is known, out of view: a limit of such profiles, and no fault of its data.
func (c *checker) outOfView() bool {
	return c.p.Composer.More == nil && c.agent.quiet() > idleRest && !c.agent.look(c.p).Box.Visible
}

func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

// wipe presses the keys that empty the composer as an injector would: each as long
// as it takes some of the text, and none once it is empty. Where they do not, the
// next scene starts anew.
func (c *checker) wipe(ctx context.Context) bool {
	if !c.broken["clear"] {
		for _, keys := range c.p.Typing.Clear {
			for pressed, left := false, ""; !pressed || c.text() != left; pressed = true {
				if pressed {
					c.write("\x7f") // what ends a line is in the way of keys that kill one
				}
				left = c.text()
				c.write(keys)
				if c.agent.steady(ctx, keyWait, c.empty) {
					return true
				}
			}
		}
	}
	c.clean = false
	return false
}

// draft judges that what is typed is read exactly.
func (c *checker) draft(ctx context.Context) {
	const text = "half a draft, ünï: (日本) [x] ->"
	c.write(text)
	if !c.agent.wait(ctx, showWait, func() bool { return c.text() == text }) {
		c.misread(text)
		return
	}
	c.ok("prompt", "a draft is read exactly")
	c.wipe(ctx) // judged in a scene of its own
}

// newline judges the key for a new line, and drafts of many rows.
func (c *checker) newline(ctx context.Context) {
	const text = "the first row\nand the second"
	before := c.turns()
	c.write(strings.ReplaceAll(text, "\n", c.p.Typing.Newline))
	c.agent.wait(ctx, showWait, func() bool { return c.text() == text || c.turns() > before })
	switch {
	case c.turns() > before:
		c.bad("newline", "%q submits", c.p.Typing.Newline)
		return
	case c.text() != text:
		c.bad("newline", "%q makes no new line: the composer is read as %q", c.p.Typing.Newline, c.text())
		return
	}
	c.ok("newline", "it begins a new row and submits nothing")
	if c.broken["clear"] {
		c.clean = false
		return
	}
	if !c.wipe(ctx) {
		c.bad("clear", "%q leave %q of two rows in the composer", c.p.Typing.Clear, c.text())
		return
	}
	c.tall(ctx)
}

// tall judges that a draft taller than the composer is read to its end. Each row
// is typed by itself, for a burst of them might be taken for a paste.
func (c *checker) tall(ctx context.Context) {
	text := ""
	for i := range rows - 10 {
		row := fmt.Sprintf("row %d", i+1)
		text += row
		c.write(row + c.p.Typing.Newline)
		if !c.agent.wait(ctx, showWait, func() bool { return c.showsAll(text) || c.outOfView() }) || !c.showsAll(text) {
			if c.outOfView() {
				c.skip("prompt", fmt.Sprintf("a draft of %d rows scrolls the first one out of view, by which alone the composer is known", i+1))
			} else {
				c.misread(text)
			}
			c.clean = false
			return
		}
	}
	c.ok("prompt", "a draft taller than the composer is read to its end")
	c.wipe(ctx) // as above
}

// clear judges the keys that take our own text back.
func (c *checker) clear(ctx context.Context) {
	if len(c.p.Typing.Clear) == 0 {
		c.skip("clear", "the profile has no such keys")
		return
	}
	if !c.typed(ctx, "a message to be taken back") {
		return
	}
	if !c.wipe(ctx) {
		c.bad("clear", "%q leave %q in the composer", c.p.Typing.Clear, c.text())
		return
	}
	c.ok("clear", "the keys empty the composer")
}

// turns is how many turns the model has seen.
func (c *checker) turns() int {
	if c.model == nil {
		return 0
	}
	return len(c.model.Turns())
}
