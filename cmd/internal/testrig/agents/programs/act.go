package programs

import (
	"cmp"
	"strings"

	"relay-pty/cmd/internal/testrig/agents"
	"relay-pty/cmd/internal/testrig/agents/compose"
)

// event does what a key, typed text or a paste does.
func (c *composer) event(ev compose.Event) {
	c.view.Hint = ""
	if ev.Key == compose.FocusIn || ev.Key == compose.FocusOut {
		c.view.Unfocused = ev.Key == compose.FocusOut
		return
	}
	if c.view.Mode == compose.Dialog {
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
		if !c.choose(ev.Key) && ev.Key == compose.Enter {
			c.enter()
		}
	case ev.Key == compose.Esc:
		c.escape()
	case ev.Key == compose.Interrupt, ev.Key == compose.EndOfInput:
		c.quit(ev.Key)
	case ev.Key == compose.EditDraft:
		c.editDraft()
	default:
		c.edit.Press(ev.Key)
	}
}

// interfere opens the dialog that Config.DialogOn asks for.
func (c *composer) interfere() {
	on, text := c.env.Conf.DialogOn, c.edit.Text()
	if on == "" || text == "" || on != "*" && !strings.Contains(text, on) {
		return
	}
	c.env.Conf.DialogOn = ""
	c.openDialog("touch something")
}

func (c *composer) openDialog(command string) {
	c.view.Mode, c.view.Command, c.view.Rewind, c.busy = compose.Dialog, command, false, nil
	c.dialogOpened(command)
}

func (c *composer) openRewind() {
	c.view.Mode, c.view.Rewind = compose.Dialog, true
	c.dialogOpened("rewind")
}

func (c *composer) dialogOpened(about string) {
	c.ignores = c.env.Conf.DialogIgnores
	c.env.Log.Event(agents.KindDialog, about)
	c.tell("blocked:kind=permission")
	c.title()
}

// answer is what keys do while a dialog is open: as in Claude, Enter and 1
// accept at once, Esc cancels, nothing else does anything; Codex takes a typed
// y, too, and the rest of what came with it goes into the box.
func (c *composer) answer(ev compose.Event) {
	rest, y := strings.CutPrefix(ev.Text, "y")
	y = y && !ev.Paste && c.view.Look == compose.LookBare
	switch {
	case c.ignores > 0:
		c.ignores--
		c.env.Log.Event(agents.KindIgnored, ev.Text)
		return
	case ev.Key == compose.Enter, ev.Text == "1" && !ev.Paste, y:
		c.env.Log.Event(agents.KindAnswer, cmp.Or(ev.Text, "Enter"))
	case ev.Key == compose.Esc:
		c.env.Log.Event(agents.KindCancel, "dialog")
	default:
		c.env.Log.Event(agents.KindIgnored, ev.Text)
		return
	}
	c.view.Mode = compose.Idle
	if c.current != "" {
		c.endTurn(true)
	}
	c.tell("idle")
	c.title()
	if y {
		c.edit.Insert(rest)
	}
}

// choose takes the open list's first entry; false: no list is open.
func (c *composer) choose(compose.Key) bool {
	offers := c.pick.Open(&c.edit)
	if len(offers) == 0 {
		return false
	}
	c.pick.Choose(&c.edit, offers[0])
	c.env.Log.Event(agents.KindPick, offers[0])
	return true
}

func (c *composer) enter() {
	text := c.edit.Text()
	if n := c.env.Conf.Swallow; n != 0 {
		c.env.Conf.Swallow = max(n-1, -1)
		c.swallowed++
		c.env.Log.Event(agents.KindSwallow, text)
		return
	}
	if head, ok := strings.CutSuffix(text, `\`); ok {
		c.edit.Put(head + "\n")
		return
	}
	text = c.edit.Take()
	switch {
	case text == "":
	case text[0] == '/' || text[0] == '!':
		c.env.Log.Event(agents.KindCommand, text)
		c.say("ran " + text)
	case c.view.Mode == compose.Busy:
		c.queue = append(c.queue, text)
		c.env.Log.Event(agents.KindQueued, text)
		c.env.CountLine()
	default:
		c.begin(text)
		c.env.CountLine()
	}
}

func (c *composer) escape() {
	switch {
	case len(c.pick.Open(&c.edit)) > 0:
		c.pick.Close(&c.edit)
		c.env.Log.Event(agents.KindCancel, "picker")
	case c.view.Mode == compose.Busy:
		c.interrupt()
	case c.edit.Empty() && (!c.env.Conf.Rewind || c.turns == 0):
	case c.escs == 0:
		c.escs = 1
	case c.edit.Empty():
		c.escs = 0
		c.openRewind()
	default:
		c.escs = 0
		c.edit.Clear()
	}
}

// interrupt ends the turn. Claude hands a message back when its turn has
// printed nothing yet.
func (c *composer) interrupt() {
	c.env.Log.Event(agents.KindCancel, "turn")
	if c.env.Conf.ReturnPrompt && !c.spoke && c.current != "" && c.edit.Empty() {
		c.edit.Put(c.current)
		c.env.Log.Event(agents.KindReturn, c.current)
	} else {
		c.say("⎿  Interrupted")
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
	if need := cmp.Or(c.env.Conf.QuitKeys, 2); need > 0 && c.quits >= need {
		c.env.Quit()
	}
}

// editDraft hands the terminal to the child as C-g does.
func (c *composer) editDraft() {
	if err := c.env.HandOver(c); err != nil {
		c.view.Hint = err.Error()
	}
}
