package agents

import (
	"cmp"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"relay-pty/cmd/internal/testrig/agents/compose"
)

const (
	defaultBusy = 150 * time.Millisecond
	frameEvery  = 120 * time.Millisecond // of the spinner
	escWait     = 50 * time.Millisecond  // a lone ESC is the key after so long
	queuedGhost = "Press up to edit queued messages"
)

var spinner = []string{"·", "✢", "*", "✶", "✻", "✽"}

// composer owns all state in one loop; only its input waits in a goroutine.
type composer struct {
	env   *environment
	in    *input
	edit  compose.Editor
	keys  compose.Decoder
	view  compose.View
	paint painter
	busy  *time.Timer // end of the turn; nil while idle or without end

	current string   // the message of the running turn
	queue   []string // submitted while busy
	draft   string   // as last logged
	frame   int
	quits   int  // C-c or C-d on an empty box in a row
	escs    int  // Esc in a row
	stalled bool // not reading
	done    bool
}

func runComposer(e *environment) error {
	fd := int(e.in.Fd())
	old, err := term.MakeRaw(fd)
	if err != nil {
		return err
	}
	defer term.Restore(fd, old)
	c := &composer{env: e, in: newInput(fd), view: compose.View{Ghost: e.conf.Ghost}}
	c.paint = painter{out: e.out, alt: e.conf.AltScreen}
	if err := c.size(); err != nil {
		return err
	}
	c.paint.start(!e.conf.NoPaste)
	defer c.paint.stop()
	c.say(cmp.Or(e.conf.Greeting, "fake composer"))
	c.title()
	e.log.event(KindStart, "")
	err = c.loop()
	e.log.event(KindExit, "")
	return err
}

func (c *composer) loop() error {
	winch := make(chan os.Signal, 1)
	signal.Notify(winch, syscall.SIGWINCH)
	ticks := time.NewTicker(frameEvery)
	defer ticks.Stop()
	for !c.done {
		var readable <-chan struct{}
		if !c.stalled {
			readable = c.in.ready
		}
		var lone, turn <-chan time.Time
		if c.keys.Pending() {
			lone = time.After(escWait)
		}
		if c.busy != nil {
			turn = c.busy.C
		}
		var tick <-chan time.Time
		if c.view.Mode == compose.Busy || c.env.conf.Spin {
			tick = ticks.C
		}
		select {
		case <-readable:
			p, err := c.in.read()
			if err != nil {
				return nil // the terminal hung up
			}
			c.env.log.read(p)
			c.handle(c.keys.Feed(p))
		case <-lone:
			c.handle(c.keys.Flush())
		case <-turn:
			c.endTurn(true)
		case <-tick:
			c.tick()
		case <-winch:
			if err := c.size(); err != nil {
				return err
			}
		case call := <-c.env.calls:
			call.answer <- c.obey(call.cmd)
			<-call.told // before an exit
		}
	}
	return nil
}

func (c *composer) size() error {
	cols, rows, err := term.GetSize(int(c.env.out.Fd()))
	if err != nil {
		return err
	}
	c.view.Rows, c.view.Cols = rows, cols
	c.paint.resized(rows, cols)
	c.draw()
	return nil
}

func (c *composer) handle(events []compose.Event) {
	for _, ev := range events {
		c.event(ev)
	}
	if t := c.edit.Text(); t != c.draft {
		c.draft = t
		c.env.log.event(KindDraft, t)
	}
	c.draw()
}

func (c *composer) event(ev compose.Event) {
	c.view.Hint = ""
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
	case ev.Key == compose.Enter:
		c.enter()
	case ev.Key == compose.Esc:
		c.escape()
	case ev.Key == compose.Interrupt, ev.Key == compose.EndOfInput:
		c.quit(ev.Key)
	case ev.Key == compose.FocusIn, ev.Key == compose.FocusOut:
		c.view.Unfocused = ev.Key == compose.FocusOut
	default:
		c.edit.Press(ev.Key)
	}
}

// answer is what keys do while a dialog is open: as in Claude, Enter and 1
// accept at once, Esc cancels, nothing else does anything.
func (c *composer) answer(ev compose.Event) {
	switch {
	case ev.Key == compose.Enter, ev.Text == "1" && !ev.Paste:
		c.env.log.event(KindAnswer, cmp.Or(ev.Text, "Enter"))
	case ev.Key == compose.Esc:
		c.env.log.event(KindCancel, "dialog")
	default:
		c.env.log.event(KindIgnored, ev.Text)
		return
	}
	c.view.Mode = compose.Idle
	if c.current != "" {
		c.endTurn(true)
	}
	c.title()
}

func (c *composer) enter() {
	text := c.edit.Text()
	if head, ok := strings.CutSuffix(text, `\`); ok {
		c.edit.Put(head + "\n")
		return
	}
	text = c.edit.Take()
	switch {
	case text == "":
	case text[0] == '/' || text[0] == '!':
		c.env.log.event(KindCommand, text)
		c.say("ran " + text)
	case c.view.Mode == compose.Busy:
		c.queue = append(c.queue, text)
		c.env.log.event(KindQueued, text)
		c.draw()
	default:
		c.begin(text)
	}
}

func (c *composer) escape() {
	switch {
	case c.view.Mode == compose.Busy:
		c.env.log.event(KindCancel, "turn")
		c.say("⎿  Interrupted")
		c.endTurn(false)
	case c.edit.Empty():
	case c.escs == 0:
		c.escs = 1
	default:
		c.escs = 0
		c.edit.Clear()
	}
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
	c.done = c.quits > 1
}

var busyWord = regexp.MustCompile(`\bBUSY (\d+)\b`)

// begin starts a turn with message.
func (c *composer) begin(message string) {
	c.current = message
	c.env.log.event(KindSubmit, message)
	d := defaultBusy
	if c.env.conf.BusyMS > 0 {
		d = time.Duration(c.env.conf.BusyMS) * time.Millisecond
	}
	if m := busyWord.FindStringSubmatch(message); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			d = time.Duration(n) * time.Millisecond
		}
	}
	c.setBusy(d)
	c.say("❯ " + strings.ReplaceAll(message, "\n", "\n  "))
}

// setBusy makes the turn end after d; 0: not by itself.
func (c *composer) setBusy(d time.Duration) {
	c.view.Mode = compose.Busy
	c.busy = nil
	if d > 0 {
		c.busy = time.NewTimer(d)
	}
	c.title()
}

// endTurn prints the answer, unless interrupted, and takes what was queued.
func (c *composer) endTurn(answer bool) {
	c.view.Mode, c.busy = compose.Idle, nil
	if answer && c.current != "" {
		text := c.env.conf.reply(c.current)
		c.say("● " + strings.ReplaceAll(text, "\n", "\n  "))
		c.env.log.event(KindReply, text)
	}
	c.current = ""
	if len(c.queue) > 0 {
		next := strings.Join(c.queue, "\n")
		c.queue = nil
		c.begin(next)
		return
	}
	c.env.log.event(KindIdle, "")
	c.title()
	c.draw()
}

func (c *composer) tick() {
	c.frame++
	if c.frame%8 == 0 {
		c.title()
	}
	c.draw()
}

func (c *composer) title() {
	switch {
	case c.view.Mode != compose.Busy:
		c.paint.title("✳ fake")
	case c.frame/8%2 == 0:
		c.paint.title("◐ fake")
	default:
		c.paint.title("◑ fake")
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
	if v.Mode == compose.Busy || c.env.conf.Spin {
		v.Status = fmt.Sprintf("%s Composing… (%d)", spinner[c.frame%len(spinner)], c.frame)
	}
	if c.escs > 0 {
		v.Status = "esc again to clear"
	}
	if c.edit.Stashed() {
		v.Status += " · draft stashed"
	}
	return v.Draw(&c.edit)
}

func (c *composer) draw() { c.paint.paint(c.box()) }

func (c *composer) say(text string) { c.paint.say(text, c.box()) }

// obey carries out a command from the control socket.
func (c *composer) obey(cmd Command) State {
	st := State{OK: true}
	switch cmd.Cmd {
	case "dialog":
		c.view.Mode, c.view.Command, c.busy = compose.Dialog, cmp.Or(cmd.Text, "touch something"), nil
		c.env.log.event(KindDialog, c.view.Command)
		c.title()
	case "busy":
		c.setBusy(time.Duration(cmd.MS) * time.Millisecond)
	case "idle":
		c.endTurn(true)
	case "say":
		c.say(cmd.Text)
	case "ghost":
		c.view.Ghost = cmd.Text
	case "stall", "resume":
		c.stalled = cmd.Cmd == "stall"
	case "quit":
		c.done = true
	case "state":
	default:
		return State{Error: "no command " + strconv.Quote(cmd.Cmd)}
	}
	c.draw()
	st.Mode = [...]string{"idle", "busy", "dialog"}[c.view.Mode]
	st.Draft, st.Unread = c.edit.Text(), c.in.unread()
	return st
}
