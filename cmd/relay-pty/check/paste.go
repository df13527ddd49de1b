package check

import (
	"context"
	"fmt"
	"strings"

	"relay-pty/cmd/internal/fakemodel"
)

// Bracketed paste, as xterm defines it.
const (
	pasteOpen  = "\x1b[200~"
	pasteClose = "\x1b[201~"
)

// maxPaste bounds what is pasted where the profile knows no limit, or a large one.
const maxPaste = 20000

// paste judges the size from which a paste is treated as foreign text.
func (c *checker) paste(ctx context.Context) {
	t := c.p.Typing
	if !c.agent.look(c.p).Paste {
		c.skip("paste_limit", "the agent takes no bracketed paste")
		return
	}
	within := min(t.PasteBytes, maxPaste)
	if within == 0 { // no limit is known
		within = maxPaste
	}
	beyond := within + within/4 + 1
	if !c.whole(ctx, words(within)) || beyond <= maxPaste && !c.chip(ctx, words(beyond)) {
		return
	}
	if t.PasteLines > 1 && c.whole(ctx, lines(t.PasteLines)) {
		c.chip(ctx, lines(t.PasteLines+1))
	}
}

// words is n bytes of text on one line.
func words(n int) string {
	return strings.Repeat("pasted ", n/7+1)[:max(n-1, 0)] + "."
}

// lines is n lines.
func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// pasted pastes text and waits for the composer to show something of it.
func (c *checker) pasted(ctx context.Context, text string) (what string) {
	c.write(pasteOpen + text + pasteClose)
	c.agent.steady(ctx, showWait, func() bool { return c.text() != "" || c.outOfView() })
	return fmt.Sprintf("a paste of %d bytes on %d lines", len(text), strings.Count(text, "\n")+1)
}

// showsAll says whether the composer shows text as it is, or its end where it has
// more rows than fit.
func (c *checker) showsAll(text string) bool {
	b := c.agent.look(c.p).Box
	got, want := squeeze(b.Text), squeeze(text)
	return got == want || b.Visible && !b.Top && got != "" && strings.HasSuffix(want, got)
}

// whole judges that a paste within the limit is shown and arrives as it is.
func (c *checker) whole(ctx context.Context, text string) bool {
	what := c.pasted(ctx, text)
	switch {
	case c.outOfView():
		c.skip("paste_limit", what+" scrolls the composer's first row out of view, by which alone it is known")
		c.clean = false
		return false
	case !c.showsAll(text):
		c.bad("paste_limit", "%s, within the limit, shows as %.80q", what, c.text())
		return false
	}
	if c.model == nil {
		c.ok("paste_limit", what+" shows as it is")
		return c.wipe(ctx)
	}
	switch t, arrived := c.enter(ctx); {
	case !arrived:
		return false
	case t.UserText() != text:
		c.bad("paste_limit", "%s, within the limit, arrives as %.80q", what, t.UserText())
		return false
	}
	c.ok("paste_limit", what+" shows and arrives as it is")
	return c.agent.steady(ctx, turnWait, c.idle)
}

// chip judges that a paste beyond the limit shows as something shorter: then it
// is foreign text, and the profile is right to type header and footer.
func (c *checker) chip(ctx context.Context, text string) bool {
	what := c.pasted(ctx, text)
	switch shown := c.text(); {
	case shown == "":
		c.bad("paste_limit", "%s does not show", what)
		return false
	case c.showsAll(text):
		c.bad("paste_limit", "%s, beyond the limit, shows as it is: the limit is higher", what)
		return false
	default:
		c.ok("paste_limit", fmt.Sprintf("%s shows as %.60q", what, shown))
	}
	return c.wipe(ctx)
}

// enter presses the key that submits and waits for a turn.
func (c *checker) enter(ctx context.Context) (fakemodel.Turn, bool) {
	n := c.turns()
	c.write(c.p.Typing.Submit)
	if !c.agent.wait(ctx, turnWait, func() bool { return c.turns() > n }) {
		c.bad("submit", "%q did not submit: no turn began", c.p.Typing.Submit)
		return fakemodel.Turn{}, false
	}
	return c.model.Turns()[n], true
}

// send types a message, submits it once the composer shows it and waits for its
// turn.
func (c *checker) send(ctx context.Context, text string) (fakemodel.Turn, bool) {
	if !c.typed(ctx, text) {
		return fakemodel.Turn{}, false
	}
	return c.enter(ctx)
}
