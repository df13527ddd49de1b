package agents

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
)

// Command is one line that an agent takes on its control socket. It is
// answered with a State, once it took effect and the screen was painted.
// Agents other than composer know "wait" only.
//
//	wait     answers when N events of kind Text were logged since the start
//	dialog   opens the permission dialog; Text is the command it asks about
//	busy     is busy for MS; 0: until "idle"
//	idle     ends the turn now
//	say      prints Text above the box
//	ghost    sets the dim text of the empty box
//	stall    stops reading the terminal, as a stalled event loop does;
//	resume   reads again, all that waits in one read
//	state    changes nothing
//	quit     exits with status 0
type Command struct {
	Cmd  string `json:"cmd"`
	Text string `json:"text,omitempty"`
	MS   int    `json:"ms,omitempty"`
	N    int    `json:"n,omitempty"`
}

// State is the answer to a Command.
type State struct {
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
	Mode  string `json:"mode"`  // idle, busy, dialog
	Draft string `json:"draft"` // chips expanded
	// Unread is how many bytes wait in the terminal: what was written to its
	// other side arrives a little later.
	Unread int `json:"unread"`
}

// call is a Command on its way to the composer's loop.
type call struct {
	cmd    Command
	answer chan State
	told   chan struct{} // closed once the answer was written
}

// serveControl takes commands until the process ends and passes them to
// e.calls, which nobody but the composer reads.
func (e *environment) serveControl(path string) error {
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
			go e.serveConn(conn)
		}
	}()
	return nil
}

func (e *environment) serveConn(conn net.Conn) {
	defer conn.Close()
	enc := json.NewEncoder(conn)
	for sc := bufio.NewScanner(conn); sc.Scan(); {
		var c Command
		var err error
		switch bad := json.Unmarshal(sc.Bytes(), &c); {
		case bad != nil:
			err = enc.Encode(State{Error: bad.Error()})
		case c.Cmd == "wait":
			e.log.wait(c.Text, c.N)
			err = enc.Encode(State{OK: true})
		case e.calls == nil:
			err = enc.Encode(State{Error: "this agent takes no such command"})
		default:
			in := call{cmd: c, answer: make(chan State, 1), told: make(chan struct{})}
			e.calls <- in
			err = enc.Encode(<-in.answer)
			close(in.told)
		}
		if err != nil {
			return
		}
	}
}

// Control sends one command to the agent listening at path and gives it until
// ctx ends to answer.
func Control(ctx context.Context, path string, c Command) (State, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return State{}, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if err := json.NewEncoder(conn).Encode(c); err != nil {
		return State{}, err
	}
	var st State
	if err := json.NewDecoder(conn).Decode(&st); err != nil {
		return State{}, cmp.Or(context.Cause(ctx), err)
	}
	if st.Error != "" {
		return st, errors.New("fake agent: " + st.Error)
	}
	return st, nil
}
