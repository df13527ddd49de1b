// Package fakeagent is what every fake agent is built on: its knobs and logs, the
// control socket, its terminal as the knobs let it read it, and the commands
// that mean the same to all. Package agents describes them.
package fakeagent

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"relay-pty/cmd/internal/testrig/agents"
	"relay-pty/cmd/internal/testrig/agents/tty"
)

// Kit belongs to the agent's loop; only the control socket's goroutines share
// it, by the logs, the terminal and the calls.
type Kit struct {
	Name    string
	Conf    agents.Config
	Log     *Journal
	In, Out *os.File
	TTY     *tty.Terminal
	Done    bool // the loop is to end
	Stalled bool // the terminal is not read

	input   *tty.Input
	calls   chan Call   // nil when no loop answers them
	pause   *time.Timer // not reading until then
	taken   int         // bytes read since the last flush by FlushBytes
	lines   int         // the same of lines and FlushLines
	flushes int
	child   *child // has the terminal
	become  string // exec this at the end
}

// Program is an agent with a loop. Its methods are called by it.
type Program interface {
	Take(p []byte)                     // what was read; valid until it returns
	Obey(agents.Command) (bool, error) // a command of its own; false: it has none of that name
	Changed()                          // a command was carried out: knobs may be others
	Report(*agents.State)
	Leave() error // the terminal goes to a child
	Back() error  // it is its own again
}

// Run runs an agent on stdin and stdout, with the logs and the socket that the
// environment names. It does not return when the agent becomes another program.
func Run(name string, agent func(*Kit) error) error {
	k := &Kit{Name: name, In: os.Stdin, Out: os.Stdout}
	if s := os.Getenv(agents.EnvConf); s != "" {
		if err := k.Conf.Change([]byte(s)); err != nil {
			return fmt.Errorf("%s: %w", agents.EnvConf, err)
		}
	}
	var err error
	if k.Log, err = openJournal(os.Getenv(agents.EnvLog), os.Getenv(agents.EnvEvents)); err != nil {
		return err
	}
	defer k.Log.close()
	k.TTY = tty.Open(k.In)
	if name != "echo" {
		k.input = tty.NewInput(k.TTY.Fd())
	}
	if name != "echo" && name != Child {
		k.calls = make(chan Call)
	}
	if path := os.Getenv(agents.EnvControl); path != "" {
		if err := k.serveControl(path); err != nil {
			return err
		}
		defer os.Remove(path) // left behind, it hurts nobody
	}
	err = agent(k)
	if k.child != nil {
		k.child.end()
	}
	if err == nil && k.become != "" {
		err = k.exec()
	}
	return err
}

// Loop runs p until Done, or until its input ends or the terminal hangs up.
// At each receive from timer, which may be nil, it calls tick.
func (k *Kit) Loop(p Program, timer <-chan time.Time, tick func()) error {
	for !k.Done {
		select {
		case <-k.Readable():
			b, err := k.Read()
			if err != nil {
				return nil // the end
			}
			p.Take(b)
		case <-k.Paused():
			k.Resume()
		case <-timer:
			tick()
		case <-k.ChildEnded():
			if err := k.TakeBack(p); err != nil {
				return err
			}
		case c := <-k.calls:
			k.Serve(c, p)
		}
	}
	return nil
}

// Readable receives when Read is to be called; it is nil while it must not.
func (k *Kit) Readable() <-chan struct{} {
	if k.Stalled || k.pause != nil || k.child != nil {
		return nil
	}
	return k.input.Ready()
}

// Paused receives when Config.ReadMS is over; call Resume then. It is nil
// while there is no pause.
func (k *Kit) Paused() <-chan time.Time {
	if k.pause == nil {
		return nil
	}
	return k.pause.C
}

// Resume ends a pause.
func (k *Kit) Resume() { k.pause = nil }

// Read takes what the knobs let it take, and logs it. The bytes are valid
// until the next call. An error is the end of the input.
func (k *Kit) Read() ([]byte, error) {
	limit := k.Conf.ReadBytes
	if n := k.Conf.FlushBytes; n > 0 && (limit == 0 || n-k.taken < limit) {
		limit = max(n-k.taken, 1)
	}
	p, err := k.input.Read(limit, k.Log.Read)
	if err != nil {
		return nil, err
	}
	if k.taken += len(p); k.Conf.FlushBytes > 0 && k.taken >= k.Conf.FlushBytes {
		k.Flush()
		k.taken = 0
	}
	if k.Conf.ReadMS > 0 {
		k.pause = time.NewTimer(time.Duration(k.Conf.ReadMS) * time.Millisecond)
	}
	return p, nil
}

// Flush drops what is unread. Should it fail, tests miss the event.
func (k *Kit) Flush() {
	if k.TTY.Change(tty.Flush, func(*tty.Modes) {}) == nil {
		k.flushed()
	}
}

func (k *Kit) flushed() {
	k.flushes++
	k.Log.Event(agents.KindFlush, "")
}

// CountLine counts a line or a submitted message for Config.FlushLines.
func (k *Kit) CountLine() {
	if k.lines++; k.Conf.FlushLines > 0 && k.lines >= k.Conf.FlushLines {
		k.Flush()
		k.lines = 0
	}
}

// Raw makes the terminal raw. Unread input stays, but for Config.FlushStart.
func (k *Kit) Raw() error {
	if !k.Conf.FlushStart {
		return k.TTY.Raw(tty.Now)
	}
	err := k.TTY.Raw(tty.Flush)
	if err == nil {
		k.flushed()
	}
	return err
}

// Restore brings the terminal's settings back as they were found; a terminal
// that is gone stays so.
func (k *Kit) Restore() { k.TTY.Restore(tty.Now) }

// Calls brings commands for Serve.
func (k *Kit) Calls() <-chan Call { return k.calls }

// Serve carries out a command from Calls, answers it, and does what must
// follow the answer.
func (k *Kit) Serve(c Call, p Program) {
	ours, err := p.Obey(c.cmd)
	if !ours {
		err = k.obey(c.cmd, p)
	}
	p.Changed()
	st := k.state(p)
	if err != nil {
		st = agents.State{Error: err.Error()}
	}
	c.answer <- st
	<-c.told // before an exit or a stop
	if c.cmd.Cmd == "stop" && err == nil {
		k.stop()
	}
}

// obey carries out what all agents know.
func (k *Kit) obey(cmd agents.Command, p Program) error {
	switch cmd.Cmd {
	case "state", "stop":
	case "set":
		b, err := json.Marshal(cmd.Set)
		if err != nil {
			return err
		}
		return k.Conf.Change(b)
	case "stall", "resume", "read":
		k.Stalled = cmd.Cmd == "stall"
	case "flush":
		k.Flush()
	case "edit":
		return k.HandOver(p)
	case "done":
		if k.child == nil {
			return errors.New("no child has the terminal")
		}
		return k.TakeBack(p)
	case "shell":
		k.become, k.Done = cmp.Or(cmd.Text, k.Conf.ExitTo, "/bin/sh"), true
	case "quit":
		k.Quit()
	default:
		return errors.New("no command " + strconv.Quote(cmd.Cmd))
	}
	return nil
}

// Quit ends the agent after what it is doing.
func (k *Kit) Quit() { k.become, k.Done = k.Conf.ExitTo, true }

// stop stops the process, as SIGSTOP from anybody does, until a SIGCONT.
func (k *Kit) stop() {
	cont := make(chan os.Signal, 1)
	signal.Notify(cont, syscall.SIGCONT)
	defer signal.Stop(cont)
	k.Log.Event(agents.KindStop, "")
	if err := syscall.Kill(os.Getpid(), syscall.SIGSTOP); err != nil {
		return // tests miss the next event
	}
	<-cont
	k.Log.Event(agents.KindCont, "")
}

// exec makes the process k.become, on the same terminal, without the agent's
// own variables and with the prompt "$ ". It returns errors only.
func (k *Kit) exec() error {
	k.Log.Event(agents.KindExec, k.become)
	var vars []string
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); !strings.HasPrefix(name, "RELAY_FAKE_") && name != "PS1" && name != "ENV" {
			vars = append(vars, v)
		}
	}
	return syscall.Exec(k.become, []string{filepath.Base(k.become)}, append(vars, "PS1=$ "))
}
