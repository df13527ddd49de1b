package programs

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"relay-pty/cmd/internal/testrig/agents"
	"relay-pty/cmd/internal/testrig/agents/compose"
)

const (
	defaultBusy = 150 * time.Millisecond
	queuedGhost = "Press up to edit queued messages"
)

var (
	spinner  = []string{"·", "✢", "*", "✶", "✻", "✽"}
	braille  = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴"}
	busyWord = regexp.MustCompile(`\bBUSY (\d+)\b`)
)

// begin starts a turn with message.
func (c *composer) begin(message string) {
	c.current, c.spoke = message, false
	c.turns++
	c.env.Log.Event(agents.KindSubmit, message)
	d := defaultBusy
	if ms := c.env.Conf.BusyMS; ms != 0 {
		d = time.Duration(max(ms, 0)) * time.Millisecond
	}
	if m := busyWord.FindStringSubmatch(message); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			d = time.Duration(n) * time.Millisecond
		}
	}
	c.setBusy(d)
	said := c.view.Said(message)
	if c.env.Conf.HistoryTwice {
		said += "\n" + said
	}
	c.say(said)
}

// setBusy makes the turn end after d; 0: not by itself.
func (c *composer) setBusy(d time.Duration) {
	c.view.Mode = compose.Busy
	c.busy = nil
	if d > 0 {
		c.busy = time.NewTimer(d)
	}
	c.tell("working")
	c.title()
}

// endTurn prints the answer, unless interrupted, and takes what was queued.
func (c *composer) endTurn(answer bool) {
	c.view.Mode, c.busy = compose.Idle, nil
	if answer && c.current != "" {
		text := c.env.Conf.Answer(c.current)
		c.say(c.view.Answer(text))
		c.env.Log.Event(agents.KindReply, text)
	}
	c.current = ""
	c.tell(map[bool]string{true: "done", false: "idle"}[answer])
	if len(c.queue) > 0 {
		next := strings.Join(c.queue, "\n")
		c.queue = nil
		c.begin(next)
		return
	}
	c.env.Log.Event(agents.KindIdle, "")
	c.title()
	c.draw()
}

func (c *composer) tick() {
	c.frame++
	c.title()
	c.draw()
}

// title is the window's: each look's agent has its own.
func (c *composer) title() {
	busy, dialog := c.view.Mode == compose.Busy, c.view.Mode == compose.Dialog
	t := ""
	switch c.view.Look {
	case compose.LookBox:
		t = "◇  Ready (fake)"
		if busy {
			t = "✦  Working… (fake)"
		} else if dialog {
			t = "✋  Action Required (fake)"
		}
	case compose.LookBare:
		t = "fake"
		if busy {
			t = braille[c.frame%len(braille)] + " fake"
		} else if dialog {
			t = "[ ! ] Action Required | fake"
		}
	default:
		t = "✳ fake" // in a dialog, too
		if busy {
			t = []string{"◐", "◑"}[c.frame/8%2] + " fake"
		}
	}
	c.paint.Title(t)
}

// tell tells the state by OSC 7501, as Codex 0.169.0 does.
func (c *composer) tell(state string) {
	if c.env.Conf.OSC7501 {
		name, rest, _ := strings.Cut(state, ":")
		if rest != "" {
			rest = ":" + rest
		}
		c.paint.Signal("\x1b]7501;state=" + name + ":app=codex" + rest + "\x1b\\")
	}
}

func (c *composer) box() compose.Box {
	v := c.view
	v.Ghost, v.Status = "", ""
	if v.Mode == compose.Idle {
		v.Ghost = c.view.Ghost
	}
	if len(c.queue) > 0 {
		v.Ghost = queuedGhost
	}
	if v.Mode == compose.Busy || c.env.Conf.Spin {
		v.Status = c.working()
	}
	if c.escs > 0 && !c.edit.Empty() {
		v.Status = "esc again to clear"
	}
	if c.edit.Stashed() {
		v.Status += " · draft stashed"
	}
	v.Picker = c.pick.Open(&c.edit)
	return v.Draw(&c.edit)
}

// working is the row that moves while a turn runs.
func (c *composer) working() string {
	switch busy := c.view.Mode == compose.Busy; {
	case busy && c.view.Look == compose.LookBox:
		return fmt.Sprintf("%s Thinking... (esc to cancel, %ds)", braille[c.frame%len(braille)], c.frame/8)
	case busy && c.view.Look == compose.LookBare:
		return fmt.Sprintf("• Working (%ds • esc to interrupt)", c.frame/8)
	}
	return fmt.Sprintf("%s Composing… (%d)", spinner[c.frame%len(spinner)], c.frame)
}

// draw paints, at once or as late as Config.PaintMS says.
func (c *composer) draw() {
	if ms := c.env.Conf.PaintMS; ms <= 0 {
		c.paintNow()
	} else if c.late == nil {
		c.late = time.NewTimer(time.Duration(ms) * time.Millisecond)
	}
}

func (c *composer) paintNow() {
	c.late = nil
	c.paint.Paint(c.box())
}

// say puts text above the box.
func (c *composer) say(text string) {
	c.paint.Add(text)
	c.draw()
}
