package programs

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"relay-pty/cmd/internal/testrig/agents"
	"relay-pty/cmd/internal/testrig/agents/compose"
)

const frameEvery = 120 * time.Millisecond // of the spinner

var spinner = []string{"·", "✢", "*", "✶", "✻", "✽"}

// press does what a key, typed text or a paste does.
func (c *composer) press(ev compose.Event) {
	c.view.Hint = ""
	if c.view.Dialog != "" {
		c.answer(ev)
		return
	}
	if ev.Key != compose.Esc {
		c.escs = 0
	}
	if ev.Key != compose.Interrupt && ev.Key != compose.EndOfInput {
		c.quits = 0
	}
	switch {
	case ev.Paste:
		c.edit.Paste(ev.Text)
	case ev.Text != "":
		c.edit.Insert(ev.Text)
	case ev.Key == compose.Enter, ev.Key == compose.Tab:
		if offers := c.edit.Offers(c.conf.Picker); len(offers) > 0 {
			c.edit.Choose(offers[0])
			c.event(agents.KindPick, offers[0])
		} else if ev.Key == compose.Enter {
			c.enter()
		}
	case ev.Key == compose.Esc:
		c.escape()
	case ev.Key == compose.Interrupt, ev.Key == compose.EndOfInput:
		c.quit(ev.Key)
	default:
		c.edit.Press(ev.Key)
	}
}

// answer is what keys do while a dialog is open: as in Claude, Enter and 1
// accept at once, Esc cancels, nothing else does anything.
func (c *composer) answer(ev compose.Event) {
	switch {
	case ev.Key == compose.Enter, ev.Text == "1" && !ev.Paste:
		c.event(agents.KindAnswer, cmp.Or(ev.Text, "Enter"))
	case ev.Key != compose.Esc:
		return
	}
	if c.view.Dialog = ""; c.current != "" {
		c.endTurn(true)
	}
}

func (c *composer) enter() {
	text := c.edit.Text()
	if n := c.conf.Swallow; n != 0 {
		c.conf.Swallow = max(n-1, -1)
		c.event(agents.KindSwallow, text)
		return
	}
	if head, ok := strings.CutSuffix(text, `\`); ok {
		c.edit.Put(head + "\n")
		return
	}
	switch text = c.edit.Take(); {
	case text == "":
	case text[0] == '/' || text[0] == '!':
		c.event(agents.KindCommand, text)
		c.screen.add("ran " + text)
	case c.view.Busy:
		c.queue = append(c.queue, text)
		c.event(agents.KindQueued, text)
	default:
		c.begin(text)
	}
}

func (c *composer) escape() {
	c.escs++
	switch {
	case c.view.Busy:
		c.interrupt()
	case c.escs < 2:
		return
	case !c.edit.Empty():
		c.edit.Clear()
	case c.conf.Rewind && c.turns > 0:
		c.ask("rewind")
	}
	c.escs = 0
}

// interrupt ends the turn. Claude hands a message back when its turn has
// printed nothing yet.
func (c *composer) interrupt() {
	if c.conf.ReturnPrompt && c.edit.Empty() {
		c.edit.Put(c.current)
	} else {
		c.screen.add("⎿  Interrupted")
	}
	c.endTurn(false)
}

func (c *composer) quit(k compose.Key) {
	if !c.edit.Empty() {
		if k == compose.Interrupt {
			c.edit.Clear()
			c.view.Hint = "Press Ctrl-C again to exit"
			c.quits = 1
		}
		return
	}
	c.quits++
	c.view.Hint = "Press again to exit"
	if need := cmp.Or(c.conf.QuitKeys, 2); need > 0 && c.quits >= need {
		c.done = true
	}
}

// begin starts a turn with message.
func (c *composer) begin(message string) {
	c.current, c.view.Busy = message, true
	c.turns++
	c.event(agents.KindSubmit, message)
	if ms := cmp.Or(c.conf.BusyMS, 150); ms > 0 {
		c.endAt = time.Now().Add(time.Duration(ms) * time.Millisecond)
	}
	said := c.view.Said(message)
	if c.conf.HistoryTwice {
		said += "\n" + said
	}
	c.screen.add(said)
	c.show()
}

// endTurn prints the answer, unless interrupted, and takes what was queued.
func (c *composer) endTurn(answer bool) {
	c.view.Busy, c.endAt = false, time.Time{}
	if answer && c.current != "" {
		text := c.conf.Answer(c.current)
		c.screen.add("● " + strings.ReplaceAll(text, "\n", "\n  "))
		c.event(agents.KindReply, text)
	}
	c.current = ""
	if len(c.queue) > 0 {
		next := strings.Join(c.queue, "\n")
		c.queue = nil
		c.begin(next)
	}
	c.show()
}

// show paints, at once or as late as Config.PaintMS has it.
func (c *composer) show() {
	if ms := c.conf.PaintMS; ms <= 0 {
		c.paint()
	} else if c.paintAt.IsZero() {
		c.paintAt = time.Now().Add(time.Duration(ms) * time.Millisecond)
	}
}

func (c *composer) paint() {
	v := c.view
	v.Picker = c.edit.Offers(c.conf.Picker)
	title := "✳ fake" // in a dialog, too
	if v.Busy {
		title = []string{"◐", "◑"}[c.frame/8%2] + " fake"
	}
	switch {
	case len(c.queue) > 0:
		v.Ghost = "Press up to edit queued messages"
	case !v.Busy:
		v.Ghost = c.conf.Ghost
	}
	switch {
	case c.escs > 0 && !c.edit.Empty():
		v.Status = "esc again to clear"
	case v.Busy || c.conf.Spin:
		v.Status = fmt.Sprintf("%s Composing… (%d)", spinner[c.frame%len(spinner)], c.frame)
	}
	if c.edit.Stashed() {
		v.Status += " · draft stashed"
	}
	c.paintAt = time.Time{}
	c.screen.paint(title, v.Draw(&c.edit))
}
