package programs

import (
	"cmp"
	"os"
	"os/signal"
	"syscall"
	"time"

	"relay-pty/cmd/internal/testrig/agents"
	"relay-pty/cmd/internal/testrig/agents/compose"
	"relay-pty/cmd/internal/testrig/agents/fakeagent"
	"relay-pty/cmd/internal/testrig/agents/paint"
)

const (
	frameEvery = 120 * time.Millisecond // of the spinner
	escWait    = 50 * time.Millisecond  // a lone ESC is the key after so long
)

// composer owns all state in one loop; only its input waits in a goroutine.
type composer struct {
	env   *fakeagent.Kit
	edit  compose.Editor
	keys  compose.Decoder
	pick  compose.Picker
	view  compose.View
	paint *paint.Painter
	winch chan os.Signal
	busy  *time.Timer // end of the turn; nil while idle or without end
	late  *time.Timer // paint then; nil while nothing waits to be painted

	current   string   // the message of the running turn
	spoke     bool     // the running turn printed something
	turns     int      // so far
	queue     []string // submitted while busy
	draft     string   // as last logged
	frame     int
	quits     int // C-c or C-d on an empty box in a row
	escs      int // Esc in a row
	ignores   int // keys that the open dialog still ignores
	swallowed int // Enters
}

func runComposer(e *fakeagent.Kit) error {
	if err := e.Raw(); err != nil {
		return err
	}
	defer e.Restore()
	c := &composer{env: e, winch: make(chan os.Signal, 1)}
	c.view.Ghost = e.Conf.Ghost
	c.paint = paint.New(e.Out, c.modes())
	signal.Notify(c.winch, syscall.SIGWINCH)
	c.size()
	c.paint.Start()
	defer c.paint.Stop()
	c.title()
	c.say(cmp.Or(e.Conf.Greeting, "fake composer"))
	c.Changed()
	e.Log.Event(agents.KindStart, "")
	err := c.loop()
	e.Log.Event(agents.KindExit, "")
	return err
}

func (c *composer) modes() paint.Modes {
	k := c.env.Conf
	return paint.Modes{
		Alt: k.AltScreen, NoPaste: k.NoPaste, Mouse: k.Mouse, Kitty: k.Kitty, OtherKeys: k.OtherKeys, Redraw: k.Redraw,
	}
}

func (c *composer) loop() error {
	ticks := time.NewTicker(frameEvery)
	defer ticks.Stop()
	for e := c.env; !e.Done; {
		select {
		case <-e.Readable():
			p, err := e.Read()
			if err != nil {
				return nil // the terminal hung up
			}
			c.Take(p)
		case <-e.Paused():
			e.Resume()
		case <-c.lone():
			c.handle(c.keys.Flush())
		case <-at(c.busy):
			c.endTurn(true)
		case <-at(c.late):
			c.paintNow()
		case <-c.moving(ticks):
			c.tick()
		case <-c.winch:
			c.size()
			c.draw()
		case <-e.ChildEnded():
			if err := e.TakeBack(c); err != nil {
				return err
			}
		case call := <-e.Calls():
			e.Serve(call, c)
		}
	}
	return nil
}

// at is nil while there is no timer.
func at(t *time.Timer) <-chan time.Time {
	if t == nil {
		return nil
	}
	return t.C
}

// lone fires when nothing follows an ESC.
func (c *composer) lone() <-chan time.Time {
	if !c.keys.Pending() || c.env.Paused() != nil {
		return nil
	}
	return time.After(escWait)
}

// moving ticks while something on the screen moves by itself.
func (c *composer) moving(ticks *time.Ticker) <-chan time.Time {
	if c.env.Conf.Still || c.view.Mode != compose.Busy && !c.env.Conf.Spin {
		return nil
	}
	return ticks.C
}

func (c *composer) size() {
	c.view.Rows, c.view.Cols = c.env.TTY.Size()
	c.paint.Resize(c.view.Rows, c.view.Cols)
}

func (c *composer) Take(p []byte) { c.handle(c.keys.Feed(p)) }

func (c *composer) handle(events []compose.Event) {
	for _, ev := range events {
		c.event(ev)
		c.interfere()
	}
	if t := c.edit.Text(); t != c.draft {
		c.draft = t
		c.env.Log.Event(agents.KindDraft, t)
	}
	c.draw()
}

// obey carries out a composer's own commands.
func (c *composer) Obey(cmd agents.Command) (bool, error) {
	switch cmd.Cmd {
	case "dialog":
		c.openDialog(cmp.Or(cmd.Text, "touch something"))
	case "busy":
		c.setBusy(time.Duration(cmd.MS) * time.Millisecond)
	case "idle":
		c.endTurn(true)
	case "say":
		c.spoke = true
		c.say(cmd.Text)
	case "ghost":
		c.view.Ghost, c.env.Conf.Ghost = cmd.Text, cmd.Text
	case "lie":
		c.edit.Put(cmd.Text)
	default:
		return false, nil
	}
	return true, nil
}

// changed takes over the knobs and paints what a command did.
func (c *composer) Changed() {
	k := c.env.Conf
	c.paint.Switch(c.modes())
	c.paint.Freeze(k.Frozen)
	c.keys.Extended = k.Kitty > 0 || k.OtherKeys > 0
	c.edit.Chips = k.Chips
	c.pick.Slash, c.pick.At = k.SlashPicker, k.AtPicker
	c.view.Ghost, c.view.Look, c.view.Prompt, c.view.HardWrap = k.Ghost, k.Look, k.Prompt, k.HardWrap
	c.title()
	c.paintNow()
}

func (c *composer) Report(st *agents.State) {
	st.Mode = [...]string{"idle", "busy", "dialog"}[c.view.Mode]
	if c.view.Mode != compose.Dialog {
		if st.Offers = c.pick.Open(&c.edit); len(st.Offers) > 0 {
			st.Mode = "picker"
		}
	}
	st.Draft, st.Stash, st.Queued, st.Swallowed = c.edit.Text(), c.edit.Stash(), c.queue, c.swallowed
	st.Size = agents.Size{Rows: c.view.Rows, Cols: c.view.Cols}
}

// leave gives up the screen and the modes, as Claude does on C-g.
func (c *composer) Leave() error {
	c.paint.Stop()
	c.env.Restore()
	return nil
}

// back paints anew; the size may have changed while the child had the terminal.
func (c *composer) Back() error {
	c.size()
	c.paint.Start()
	c.paintNow()
	return nil
}
