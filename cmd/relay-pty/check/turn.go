package check

import (
	"relay-pty/inject/profile"

	"context"
	"fmt"
	"os"
	"time"

	"relay-pty/inject/ready"
	"relay-pty/parser"
	"relay-pty/parser/transcript"
)

// submit judges that Enter begins a turn with what was typed, once, and that the
// agent's log shows it.
func (c *checker) submit(ctx context.Context) {
	const text = "[relay check-1 from relay-pty] " + askNone
	before := c.turns()
	t, sent := c.send(ctx, text)
	if !sent {
		return
	}
	if !c.agent.steady(ctx, turnWait, c.idle) {
		c.bad("submit", "the composer is not empty again after the turn: %q", c.text())
		return
	}
	if n := c.turns() - before; n != 1 || t.UserText() != text {
		c.bad("submit", "%d turns began, the first with %q", n, t.UserText())
		return
	}
	c.ok("submit", "the message arrives, exact and once")
	if c.agent.log == nil {
		return
	}
	shows := func(e transcript.Entry) bool { return transcript.Accepted(e, "check-1") }
	if !c.agent.logs(ctx, shows) {
		c.bad("log", "the turn does not show in the agent's log in %s", c.agent.log.dir)
		return
	}
	c.ok("log", "the turn shows in the agent's own log")
	c.reply(ctx)
}

// reply judges that markers are read from the agent's log byte for byte.
func (c *checker) reply(ctx context.Context) {
	if _, sent := c.send(ctx, askMark); !sent {
		return
	}
	exact := func(e transcript.Entry) bool {
		for _, f := range transcript.Commands(e) {
			if cmd, ok := f.Item.(parser.Command); ok && cmd.Body == markBody {
				return true
			}
		}
		return false
	}
	if !c.agent.logs(ctx, exact) {
		c.bad("log", "a marker of the reply is not read from the agent's log, or not exactly")
		return
	}
	c.ok("log", "a marker of the reply is read from it byte for byte")
}

// busy judges the marks of a running turn, each kind by itself, and the keys
// that end it.
func (c *checker) busy(ctx context.Context) {
	t, sent := c.send(ctx, askLong)
	if !sent {
		return
	}
	a := c.agent
	rows, title := c.marksApart()
	c.says(ctx, ready.Busy, "busy")
	if a.wait(ctx, 2*keyWait, func() bool { return a.look(rows).Working }) {
		c.ok("busy", "a row matches while a turn runs")
	} else {
		c.bad("busy", "no row matched %s while a turn ran", sources(c.p.Busy))
	}
	switch {
	case c.p.BusyTitle == "":
	case a.wait(ctx, 2*keyWait, func() bool { return a.look(title).Working }):
		c.ok("busy title", "the window title says so while a turn runs")
	default:
		c.bad("busy title", "the window title began with none of %q while a turn ran", c.p.BusyTitle)
	}
	if len(c.p.Typing.Interrupt) == 0 {
		c.skip("interrupt", "the profile has no such keys")
		c.clean = false
		return
	}
	switch {
	case !c.interrupt(ctx, t.N):
		c.bad("interrupt", "%q do not end a running turn", c.p.Typing.Interrupt)
	case !a.steady(ctx, showWait, c.idle):
		c.bad("interrupt", "the agent did not come back to an empty composer; it is read as %q", c.text())
	default:
		c.ok("interrupt", "the keys end a running turn")
	}
}

// interrupt presses the keys that end the turn n.
func (c *checker) interrupt(ctx context.Context, n int) bool {
	over := func() bool { return !c.model.Turns()[n].Open() }
	for _, keys := range c.p.Typing.Interrupt {
		c.write(keys)
		if c.agent.wait(ctx, 2*keyWait, over) {
			return true
		}
	}
	return false
}

// ghost judges that what an empty composer shows by itself is no draft. Agents
// show such text while a message waits for the turn's end.
func (c *checker) ghost(ctx context.Context) {
	t, sent := c.send(ctx, askLong)
	const text = "a message that waits"
	if !sent || !c.typed(ctx, text) {
		return
	}
	c.write(c.p.Typing.Submit)
	a := c.agent
	// All that the composer shows, ghost text or not, once the message has left it.
	all, composer := *c.p, *c.p.Composer
	composer.Placeholder = profile.Nothing
	all.Composer = &composer
	if !a.steady(ctx, showWait, func() bool { return c.empty() && a.look(&all).Box.Text != text }) {
		c.bad("placeholder", "%q, which nobody typed, counts as a draft", c.text())
		return
	}
	if shown := a.look(&all).Box.Text; shown != "" {
		c.ok("placeholder", fmt.Sprintf("%q is no draft", shown))
	} else {
		c.skip("placeholder", "the agent shows none")
	}
	c.clean = c.interrupt(ctx, t.N) // judged in a scene of its own
}

// stash judges that a draft can be set aside for a message, and comes back.
func (c *checker) stash(ctx context.Context) {
	a, t := c.agent, c.p.Typing
	if t.Stash == "" {
		c.skip("stash", "the profile has no such key")
		return
	}
	shows := func() bool {
		_, found := a.row(func(row string) bool { return t.StashShown.Match(row) })
		return found
	}
	if t.StashShown != nil && shows() {
		c.bad("stash_shown", "a row matches %q before anything is set aside", t.StashShown)
		return
	}
	const draft, text = "a draft to be set aside", "a message in between"
	if !c.typed(ctx, draft) {
		return
	}
	c.write(t.Stash)
	if !a.steady(ctx, showWait, c.empty) {
		c.bad("stash", "%q leaves %q in the composer", t.Stash, c.text())
		return
	}
	switch {
	case t.StashShown == nil:
	case a.wait(ctx, keyWait, shows):
		c.ok("stash_shown", "it shows that a draft is set aside")
	default:
		c.bad("stash_shown", "no row matches %q while a draft is set aside", t.StashShown)
	}
	turn, sent := c.send(ctx, text)
	switch {
	case !sent:
	case turn.UserText() != text:
		c.bad("stash", "the draft went along: %q", turn.UserText())
	case !a.steady(ctx, turnWait, func() bool { return c.text() == draft }):
		c.bad("stash", "the draft did not come back after the next message; the composer is read as %q", c.text())
	default:
		c.ok("stash", "a draft is set aside and comes back")
		c.wipe(ctx) // as everywhere
	}
}

// dialog judges that a question of the agent is seen as one. It is answered by
// Esc alone.
func (c *checker) dialog(ctx context.Context) {
	if _, sent := c.send(ctx, askTool); !sent {
		return
	}
	a := c.agent
	var since time.Time // when the agent's own word was that it asks
	a.wait(ctx, turnWait, func() bool {
		if a.log != nil && since.IsZero() {
			if own, _ := a.state(); own == ready.Blocked {
				since = time.Now()
			}
		}
		return a.look(c.p).Dialog != "" || !since.IsZero() && time.Since(since) > keyWait
	})
	asked := a.look(c.p).Dialog
	if asked == "" {
		c.bad("dialog", "no row matches %s while the agent asks for permission", sources(c.p.Dialogs))
		return
	}
	c.ok("dialog", fmt.Sprintf("%q is seen as a question", asked))
	c.says(ctx, ready.Blocked, "asking")
	for range 5 { // keys may be ignored for a dialog's first moments
		c.write("\x1b")
		if a.steady(ctx, keyWait, c.idle) {
			break
		}
	}
	if _, err := os.Stat(c.canary()); err == nil {
		c.bad("dialog", "the tool ran unasked")
	} else if !c.idle() {
		c.bad("dialog", "after Esc the agent is not back at an empty composer")
	}
}
