package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"relay-pty/inject/profile"
	"relay-pty/inject/ready"
	"relay-pty/inject/sight"
	"relay-pty/inject/turn"
)

// look is what the profile makes of the screen.
func (c *checker) look() sight.Sight { return c.live.look(c.profile) }

// apart is the profile with the marks in rows alone, and with those in the window title alone.
func (c *checker) apart() (inRows, inTitle *profile.Profile) {
	r, t := *c.profile, *c.profile
	r.BusyTitle, r.AskTitle = "", nil
	t.Busy, t.Dialogs = nil, nil
	return &r, &t
}

// works is a condition: p finds a busy mark.
func (c *checker) works(p *profile.Profile) func() bool {
	return func() bool { return c.live.look(p).Working }
}

func not(cond func() bool) func() bool { return func() bool { return !cond() } }

// empty reports whether the composer is in view and shows no text.
func (c *checker) empty() bool {
	b := c.look().Box
	return b.Visible && !b.Foreign && b.Text == ""
}

// idle reports whether the agent stands at an empty composer, by its own word or, where there is
// none, without a busy mark.
func (c *checker) idle() bool {
	if own := c.word(); own != "" && !c.broken("log") && !c.broken("says") {
		return c.empty() && own == ready.Ready
	}
	return c.empty() && (!c.look().Working || c.broken("busy") || c.broken("busy title"))
}

// holds is a condition: the composer shows text, or of text so long that it scrolls inside the
// greater part, its end. Only white space may differ.
func (c *checker) holds(text string) func() bool {
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
	whole := squeeze(text)
	return func() bool {
		b := c.look().Box
		shown := squeeze(b.Text)
		return shown == whole || b.Visible && !b.Top && 2*len(shown) > len(whole) && strings.HasSuffix(whole, shown)
	}
}

// typed types text and needs the composer to show it.
func (c *checker) typed(ctx context.Context, text string) bool {
	c.live.write(text)
	return c.needs(ctx, "prompt", c.holds(text), "the composer shows what is typed", c.profile.Composer.Prompt)
}

// wipe presses the keys that empty the composer, each set only while text is left.
func (c *checker) wipe(ctx context.Context) {
	for _, keys := range c.profile.Typing.Clear {
		if c.look().Box.Text != "" {
			c.live.write(keys)
			c.live.wait(ctx, keyWait, c.empty)
		}
	}
}

// turns is how many turns the model has seen.
func (c *checker) turns() int {
	if c.model == nil {
		return 0
	}
	return len(c.model.Turns())
}

// submitted types a prompt, submits it once the composer shows it, and judges that a turn begins.
func (c *checker) submitted(ctx context.Context, text string) bool {
	t, before := c.profile.Typing, c.turns()
	if !c.typed(ctx, text) {
		return false
	}
	c.live.wait(ctx, t.EnterDelay, func() bool { return false })
	c.live.write(t.Submit)
	return c.needs(ctx, "submit", func() bool { return c.turns() > before }, "the key begins a turn", t.Submit)
}

// word is what the agent itself says of its state, by its terminal or in its log.
func (c *checker) word() ready.State {
	if len(c.profile.Says) > 0 {
		return c.look().Said.State
	}
	if c.live.log != nil && len(c.profile.Log.Words) > 0 {
		c.live.log.Look()
	}
	return c.live.said
}

// says judges the agent's own word, where the profile knows one for that state.
func (c *checker) says(ctx context.Context, want ready.State) {
	p, promise := c.profile, "the agent itself says that it is "+string(want)
	spoken := func() bool { return c.word() == want }
	if slices.ContainsFunc(p.Says, func(s profile.Saying) bool { return s.State == want }) {
		c.expect(ctx, "says", spoken, promise, nil)
	} else if p.Log != nil && len(p.Log.Words) > 0 {
		c.expect(ctx, "log", spoken, promise, p.Log.Words)
	}
}

// atRest judges what the profile makes of an agent to which nobody has typed.
func (c *checker) atRest(ctx context.Context) {
	p := c.profile
	if !c.expect(ctx, "prompt", func() bool { return c.look().Box.Visible }, "the composer is found when idle", p.Composer.Prompt) ||
		!c.expect(ctx, "placeholder", c.empty, "nothing that the composer shows by itself counts as a draft", nil) {
		return
	}
	asks := func(row string) bool {
		return slices.ContainsFunc(p.Dialogs, func(d *profile.Pattern) bool { return d.Match(row) })
	}
	inRows, inTitle := c.apart()
	c.expect(ctx, "busy", not(c.works(inRows)), "no row matches while the agent is idle", p.Busy)
	c.expect(ctx, "busy title", not(c.works(inTitle)), "the window title does not say so while the agent is idle", p.BusyTitle)
	c.expect(ctx, "dialog", func() bool { return c.look().Dialog == "" && !slices.ContainsFunc(c.live.rows(), asks) },
		"no row matches while the agent is idle", p.Dialogs)
}

// draft judges that a draft is read exactly, and the keys that take text of ours back.
func (c *checker) draft(ctx context.Context) {
	const text = "half a draft, ünï: (日本) [x] ->"
	c.live.write(text)
	if !c.expect(ctx, "prompt", func() bool { return c.look().Box.Text == text }, "a draft is read exactly", c.profile.Composer.Prompt) {
		return
	}
	if keys := c.profile.Typing.Clear; len(keys) == 0 {
		c.skip("clear", "the profile has no such keys")
	} else {
		c.wipe(ctx)
		c.expect(ctx, "clear", c.empty, "the keys empty the composer", keys)
	}
}

// newline judges the key for a new line.
func (c *checker) newline(ctx context.Context) {
	const text = "the first row\nand the second"
	key, before := c.profile.Typing.Newline, c.turns()
	c.live.write(strings.ReplaceAll(text, "\n", key))
	c.expect(ctx, "newline", func() bool { return c.look().Box.Text == text && c.turns() == before },
		"the key begins a new row and submits nothing", key)
}

// maxPaste bounds what is pasted: a composer shows all of it.
const maxPaste = 2000

// paste judges that a paste within the limit shows as it is, and one beyond as something shorter:
// the agent marks that as foreign text, and the profile is right to have header and footer typed.
func (c *checker) paste(ctx context.Context) {
	limit := c.profile.Typing.PasteBytes
	n := min(cmp.Or(limit, maxPaste), maxPaste)
	for _, n := range []int{n, n + n/4 + 1} {
		text := strings.Repeat("pasted ", n/7+1)[:n-1] + "."
		whole, promise := c.holds(text), fmt.Sprintf("a paste of %d bytes shows as it is", n)
		cond := whole
		if c.profile.Typing.Marked(text, rows) {
			cond = func() bool { return c.look().Box.Text != "" && !whole() }
			promise = fmt.Sprintf("a paste of %d bytes shows as something shorter", n)
		}
		c.live.write(turn.PasteOpen + text + turn.PasteClose)
		if !c.expect(ctx, "paste_limit", cond, promise, limit) {
			return
		}
		c.wipe(ctx)
	}
}

// stash judges that a draft can be set aside, and comes back.
func (c *checker) stash(ctx context.Context) {
	const draft = "a draft to be set aside"
	t := c.profile.Typing
	if t.Stash == "" {
		c.skip("stash", "the profile has no such key")
		return
	}
	stashed := func() bool { return c.look().Stashed }
	if t.StashShown != nil && !c.expect(ctx, "stash_shown", not(stashed), "no row matches while nothing is set aside", t.StashShown) {
		return
	}
	if !c.typed(ctx, draft) {
		return
	}
	c.live.write(t.Stash)
	if !c.expect(ctx, "stash", c.empty, "the key takes a draft out of the composer", t.Stash) {
		return
	}
	if t.StashShown != nil {
		c.expect(ctx, "stash_shown", stashed, "a row matches while a draft is set aside", t.StashShown)
	}
	if t.Unstash == "" { // else its keys step over a message of ours, and there is none
		c.live.write(t.Stash)
		c.expect(ctx, "stash", c.holds(draft), "the draft comes back", t.Stash)
	}
}

// submit judges that what was typed arrives as a turn, once.
func (c *checker) submit(ctx context.Context) {
	const text = "Are you there, and who else is"
	before := c.turns()
	arrived := func() bool { return c.turns() == before+1 && c.model.Turns()[before].UserText() == text }
	if c.submitted(ctx, text) && c.expect(ctx, "submit", c.idle, "the composer is empty again after the turn", nil) {
		c.expect(ctx, "submit", arrived, "what was typed arrives, exact and once", nil)
		c.says(ctx, ready.Ready)
	}
}

// busy judges the marks of a running turn, each kind by itself, and the keys that end it.
func (c *checker) busy(ctx context.Context) {
	p, n := c.profile, c.turns()
	if !c.submitted(ctx, "THINK 200") {
		return
	}
	inRows, inTitle := c.apart()
	c.expect(ctx, "busy", c.works(inRows), "a row matches while a turn runs", p.Busy)
	if p.BusyTitle != "" {
		c.expect(ctx, "busy title", c.works(inTitle), "the window title says so while a turn runs", p.BusyTitle)
	}
	c.says(ctx, ready.Busy)
	if len(p.Typing.Interrupt) == 0 {
		c.skip("interrupt", "the profile has no such keys")
		return
	}
	over := func() bool { return !c.model.Turns()[n].Open() }
	for _, keys := range p.Typing.Interrupt {
		c.live.write(keys)
		if c.live.wait(ctx, keyWait, over) {
			break
		}
	}
	c.expect(ctx, "interrupt", over, "the keys end a running turn", p.Typing.Interrupt)
}

// queued judges that what an empty composer shows by itself is no draft. Agents show such text
// while a message waits for the end of the turn.
func (c *checker) queued(ctx context.Context) {
	if c.submitted(ctx, "SLOW 100") && c.typed(ctx, "a message that waits") {
		c.live.write(c.profile.Typing.Submit)
		c.expect(ctx, "placeholder", c.empty, "nothing counts as a draft while a message waits", nil)
	}
}

// dialog judges that a question of the agent is seen as one. It is answered by Esc alone.
func (c *checker) dialog(ctx context.Context) {
	p, canary := c.profile, c.canary()
	if !c.submitted(ctx, "TOUCH "+canary) {
		return
	}
	asks := func(p *profile.Profile) func() bool { return func() bool { return c.live.look(p).Dialog != "" } }
	inRows, inTitle := c.apart()
	if !c.expect(ctx, "dialog", asks(inRows), "a row matches while the agent asks for permission", p.Dialogs) {
		return
	}
	if p.AskTitle != nil {
		c.expect(ctx, "ask title", asks(inTitle), "the window title says so while the agent asks for permission", p.AskTitle)
	}
	c.says(ctx, ready.Blocked)
	for range 5 { // keys may be ignored for a dialog's first moments
		c.live.write("\x1b")
		if c.live.wait(ctx, keyWait, c.idle) {
			break
		}
	}
	c.expect(ctx, "dialog", c.idle, "after Esc the composer is empty again", p.Dialogs)
	if _, err := os.Stat(canary); err == nil {
		c.bad("dialog", "the tool ran unasked")
	}
}

// canary is a file that nobody may make.
func (c *checker) canary() string { return c.cwd + "/canary" }
