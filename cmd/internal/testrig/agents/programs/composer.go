package programs

import (
	"cmp"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"relay-pty/cmd/internal/testrig/agents"
	"relay-pty/cmd/internal/testrig/agents/compose"
)

// escWait is how long nothing may follow an ESC for it to be the key.
const escWait = 50 * time.Millisecond

type composer struct {
	*kit
	edit   compose.Editor
	keys   compose.Decoder
	view   compose.View
	screen painter
	child  *exec.Cmd // has the terminal

	current string   // the message of the running turn
	turns   int      // so far
	queue   []string // submitted while busy
	draft   string   // as last logged
	quits   int      // C-c or C-d on an empty box in a row
	escs    int      // Esc in a row
	frame   int      // of the spinner

	escAt, endAt, paintAt, frameAt time.Time // when something is due; zero: it is not
}

func (k *kit) compose() error {
	if err := k.raw(); err != nil {
		return err
	}
	c := &composer{kit: k, screen: newPainter(k.conf)}
	c.edit.Whole = k.conf.Chips == "never"
	c.view.Look, c.view.HardWrap = k.conf.Look, k.conf.HardWrap
	c.screen.start()
	defer c.screen.stop()
	c.screen.add(cmp.Or(k.conf.Greeting, "fake composer"))
	c.resized()
	return k.loop(program{c.take, c.obey, c.report, c.due, c.act, c.resized})
}

func (c *composer) resized() {
	c.view.Cols, c.view.Rows, _ = term.GetSize(tty) // a terminal that is gone has no size
	c.screen.resize(c.view.Rows, c.view.Cols)
	c.paint()
}

func (c *composer) due() time.Time {
	if c.conf.Still || !c.view.Busy && !c.conf.Spin {
		c.frameAt = time.Time{}
	} else if c.frameAt.IsZero() {
		c.frameAt = time.Now().Add(frameEvery)
	}
	var first time.Time
	for _, at := range []time.Time{c.escAt, c.endAt, c.paintAt, c.frameAt} {
		if first.IsZero() || !at.IsZero() && at.Before(first) {
			first = at
		}
	}
	return first
}

// over reports whether a moment has come, and forgets it.
func over(at *time.Time) bool {
	if at.IsZero() || time.Now().Before(*at) {
		return false
	}
	*at = time.Time{}
	return true
}

func (c *composer) act() {
	if over(&c.escAt) {
		if unread(tty) > 0 { // what follows is there, but was not read
			c.escAt = time.Now().Add(escWait)
		} else {
			c.handle(c.keys.Flush())
		}
	}
	if over(&c.endAt) {
		c.endTurn(true)
	}
	if over(&c.frameAt) {
		c.frame++
		c.show()
	}
	if over(&c.paintAt) {
		c.paint()
	}
}

func (c *composer) take(p []byte) { c.handle(c.keys.Feed(p)) }

func (c *composer) handle(events []compose.Event) {
	c.escAt = time.Time{}
	if c.keys.Pending() {
		c.escAt = time.Now().Add(escWait)
	}
	for _, ev := range events {
		c.press(ev)
		c.interfere()
	}
	if t := c.edit.Text(); t != c.draft {
		c.draft = t
		c.event(agents.KindDraft, t)
	}
	c.show()
}

// interfere opens the dialog that Config.DialogOn asks for.
func (c *composer) interfere() {
	on, text := c.conf.DialogOn, c.edit.Text()
	if text != "" && on != "" && (on == "*" || strings.Contains(text, on)) {
		c.conf.DialogOn = ""
		c.ask("touch something")
	}
}

// ask opens the dialog about a command.
func (c *composer) ask(command string) {
	c.view.Busy, c.view.Dialog, c.endAt = false, command, time.Time{}
}

func (c *composer) obey(cmd agents.Command) error {
	switch cmd.Cmd {
	case "dialog":
		c.ask(cmd.Text)
	case "idle":
		c.endTurn(true)
	case "lie":
		c.edit.Put(cmd.Text)
	case "edit":
		return c.handOver()
	case "done":
		if err := c.takeBack(); err != nil {
			return err
		}
	default:
		return noCommand(cmd)
	}
	c.paint()
	return nil
}

func (c *composer) report(st *agents.State) { st.Draft = c.edit.Text() }

// editor shows and logs what it reads, on the whole screen; closing fd 3 tells that it is there.
const editor = `stty raw -echo; printf '\033[?1049h\033[2J\033[Hfake editor\r\n'; exec 3>&- tee -a "$0"`

// handOver gives the terminal to a child, as Claude gives it to an editor.
func (c *composer) handOver() error {
	c.screen.stop()
	c.restore()
	there, says, err := os.Pipe()
	if err != nil {
		return err
	}
	defer there.Close()
	cmd := exec.Command("/bin/sh", "-c", editor, os.Getenv(agents.EnvLog)+agents.EditSuffix)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{says}
	if c.conf.EditorGroup {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Foreground: true, Ctty: tty}
	}
	err = cmd.Start()
	says.Close()
	if err != nil {
		return err
	}
	there.Read(make([]byte, 1)) // ends when the child has the terminal, or has ended, which the test sees
	c.child, c.stalled = cmd, true
	return nil
}

// takeBack ends the child and brings the terminal back as it was.
func (c *composer) takeBack() error {
	if c.child == nil {
		return errors.New("no child has the terminal")
	}
	c.child.Process.Kill() // ended already: well
	c.child.Wait()         // killed
	c.child, c.stalled = nil, false
	c.print("\x1b[?1049l")
	signal.Ignore(syscall.SIGTTOU) // it stops a background group that asks
	defer signal.Reset(syscall.SIGTTOU)
	if err := unix.IoctlSetPointerInt(tty, unix.TIOCSPGRP, unix.Getpgrp()); err != nil {
		return err
	}
	c.restore()
	if err := c.raw(); err != nil {
		return err
	}
	c.screen.start()
	c.resized()
	return nil
}
