package fakeagent

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"relay-pty/cmd/internal/testrig/agents"
	"relay-pty/cmd/internal/testrig/agents/tty"
)

// Child is the agent that "edit" starts, with the descriptors 3, on which it
// says that it is there, and 4, whose end tells it to go.
const Child = "editor-child"

// child is a program that has the agent's terminal.
type child struct {
	cmd   *exec.Cmd
	ended chan struct{}
	hold  *os.File  // it ends when this closes
	modes tty.Modes // the terminal's settings before it came
}

// HandOver starts the child and returns when it has the terminal.
func (k *Kit) HandOver(p Program) error {
	if k.child != nil {
		return errors.New("a child has the terminal already")
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	c := &child{cmd: exec.Command(exe), ended: make(chan struct{})}
	if err := k.TTY.Change(tty.Now, func(m *tty.Modes) { c.modes = *m }); err != nil {
		return err
	}
	if err := p.Leave(); err != nil {
		return err
	}
	c.cmd.Env = childEnv(os.Environ())
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = k.In, k.Out, k.Out
	if k.editorGroup() == agents.OwnGroup {
		c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Foreground: true, Ctty: k.TTY.Fd()}
	}
	if err := c.start(); err != nil {
		return errors.Join(err, k.TTY.TakeForeground(), p.Back())
	}
	k.child = c
	k.Log.Event(agents.KindEdit, strconv.Itoa(c.cmd.Process.Pid))
	return nil
}

func (k *Kit) editorGroup() string {
	switch {
	case k.Conf.EditorGroup != "":
		return k.Conf.EditorGroup
	case k.Name == "composer", k.Name == "slow", k.Name == "liar":
		return agents.SameGroup
	}
	return agents.OwnGroup
}

// childEnv is the agent's environment with the child's own logs and socket.
func childEnv(vars []string) []string {
	var out []string
	for _, v := range vars {
		name, value, _ := strings.Cut(v, "=")
		switch name {
		case agents.EnvAgent:
			v = name + "=" + Child
		case agents.EnvLog, agents.EnvEvents, agents.EnvControl:
			v = name + "=" + value + agents.EditSuffix
		case agents.EnvConf:
			continue
		}
		out = append(out, v)
	}
	return out
}

// start returns when the child says, on its descriptor 3, that it is there.
func (c *child) start() error {
	ready, said, err := os.Pipe()
	if err != nil {
		return err
	}
	defer ready.Close()
	held, hold, err := os.Pipe()
	if err != nil {
		said.Close() // of no use
		return err
	}
	c.hold = hold
	c.cmd.ExtraFiles = []*os.File{said, held} // 3 and 4
	err = c.cmd.Start()
	said.Close()
	held.Close()
	if err != nil {
		hold.Close() // of no use
		return err
	}
	go func() {
		c.cmd.Wait() // its status says nothing
		close(c.ended)
	}()
	if b, err := io.ReadAll(ready); err != nil || len(b) == 0 {
		c.end()
		return errors.Join(errors.New("the child did not start"), err)
	}
	return nil
}

// end makes the child go, if it has not yet.
func (c *child) end() {
	c.hold.Close() // closed already: well
	<-c.ended
}

// ChildEnded is closed once the child is gone, and nil while there is none.
func (k *Kit) ChildEnded() <-chan struct{} {
	if k.child == nil {
		return nil
	}
	return k.child.ended
}

// TakeBack ends the child, if it has not, and brings back the terminal as it
// was, without what was typed meanwhile and read by nobody.
func (k *Kit) TakeBack(p Program) error {
	c := k.child
	c.end()
	k.child = nil
	if err := k.TTY.TakeForeground(); err != nil {
		return err
	}
	if err := k.TTY.Change(tty.Flush, func(m *tty.Modes) { *m = c.modes }); err != nil {
		return err
	}
	k.flushed()
	k.Log.Event(agents.KindBack, "")
	return p.Back()
}
