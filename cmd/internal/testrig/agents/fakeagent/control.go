package fakeagent

import (
	"bufio"
	"encoding/json"
	"errors"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"relay-pty/cmd/internal/testrig/agents"
)

const maxCommand = 4 << 20 // bytes, as a line

// Call is a command on its way to the agent's loop.
type Call struct {
	cmd    agents.Command
	answer chan agents.State
	told   chan struct{} // closed once the answer was written
}

// state is what every agent can tell; p adds its own.
func (k *Kit) state(p Program) agents.State {
	st := agents.State{
		OK: true, Mode: "idle", Swallow: k.Conf.Swallow, Flushed: k.flushes, Read: k.Log.total(), Unread: k.TTY.Unread(),
		Stalled: k.Stalled, Frozen: k.Conf.Frozen, Pid: os.Getpid(), Group: unix.Getpgrp(), Foreground: k.TTY.Foreground(),
		Env: map[string]string{},
	}
	st.Size.Rows, st.Size.Cols = k.TTY.Size()
	st.Canonical, st.Echo = k.TTY.Settings()
	for _, name := range append([]string{"RELAY_AGENT", "RELAY_SOCKET", "RELAY_TOKEN"}, k.Conf.Env...) {
		if v, ok := os.LookupEnv(name); ok {
			st.Env[name] = v
		}
	}
	if p != nil {
		p.Report(&st)
	}
	if k.child != nil {
		st.Mode, st.Child = "edit", k.child.cmd.Process.Pid
	}
	return st
}

// serveControl takes commands until the process ends; those it cannot answer
// itself it passes to k.calls, which the agent's loop reads.
func (k *Kit) serveControl(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	ln, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go k.serveConn(conn)
		}
	}()
	return nil
}

func (k *Kit) serveConn(conn net.Conn) {
	defer conn.Close()
	enc := json.NewEncoder(conn)
	sc := bufio.NewScanner(conn)
	sc.Buffer(nil, maxCommand)
	for sc.Scan() {
		var c agents.Command
		st, told := agents.State{OK: true}, func() {}
		switch bad := json.Unmarshal(sc.Bytes(), &c); {
		case bad != nil:
			st = agents.State{Error: bad.Error()}
		case c.Cmd == "wait":
			k.Log.wait(c.Text, c.N)
		case c.Cmd == "bytes":
			k.Log.waitBytes(c.N)
		case c.Cmd == "unread":
			k.waitUnread(c.N)
		case k.calls != nil:
			in := Call{cmd: c, answer: make(chan agents.State, 1), told: make(chan struct{})}
			k.calls <- in
			st, told = <-in.answer, func() { close(in.told) }
		case c.Cmd == "state":
			st = k.state(nil)
		default:
			st = agents.State{Error: "this agent takes no such command"}
		}
		err := enc.Encode(st)
		told()
		if err != nil {
			return
		}
	}
}

// waitUnread looks again and again: nothing tells how much is unread.
func (k *Kit) waitUnread(n int) {
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	for k.TTY.Unread() < n {
		<-look.C
	}
}
