package agents

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net"
)

// Command is one line that an agent takes on its control socket. It is
// answered with a State, once it took effect and, in a composer, what it
// changed was painted; "wait", "bytes" and "unread" with OK alone.
//
// All agents; echo and the child of "edit" know the first four only:
//
//	wait     answers when N events of kind Text were logged since the start
//	bytes    answers when N bytes were read since the start
//	unread   answers when N bytes or more wait unread in the terminal
//	state    changes nothing
//	set      changes the knobs of Config that the object Set names
//	stall    stops reading the terminal, as a stalled event loop does;
//	resume   reads again, all that waits in one read
//	read     the same as resume, for deaf and liar, which start stalled
//	flush    drops what is unread, with TCSAFLUSH
//	edit     hands the terminal to a child that reads all and shows it on the
//	         alternate screen, see Config.EditorGroup; answers when it is there
//	done     ends the child and takes the terminal back, with TCSAFLUSH; the
//	         child's C-x does the same
//	stop     stops itself with SIGSTOP, after the answer; another sends SIGCONT
//	shell    execs Text, Config.ExitTo or /bin/sh in its place: same process,
//	         same terminal, its settings restored
//	quit     exits with status 0
//	say      prints Text, in a composer above the box
//
// Composers:
//
//	dialog   opens the permission dialog; Text is the command it asks about
//	busy     is busy for MS; 0: until "idle"
//	idle     ends the turn now
//	ghost    sets the text of the empty box
//	lie      shows Text as if it had been typed or, where it is empty, taken
//
// Line programs:
//
//	ask      asks the question Text: "yn", Continue? [y/N]; "password", with
//	         echo off; "key", Press any key, for one byte; else Text itself
//	lie      prints Text and a new prompt, as if Text had been read
type Command struct {
	Cmd  string `json:"cmd"`
	Text string `json:"text,omitempty"`
	MS   int    `json:"ms,omitempty"`
	N    int    `json:"n,omitempty"`
	Set  any    `json:"set,omitempty"`
}

// State is the answer to a Command.
type State struct {
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
	// Mode is idle, busy, dialog or picker of a composer, idle or ask of a
	// line program, and edit of both while a child has the terminal.
	Mode    string   `json:"mode"`
	Draft   string   `json:"draft"`           // a composer's text, chips expanded
	Stash   string   `json:"stash,omitempty"` // the draft that was set aside
	Queued  []string `json:"queued,omitempty"`
	Offers  []string `json:"offers,omitempty"` // entries of the open picker
	Swallow int      `json:"swallow"`          // Config.Swallow as it stands
	// Swallowed is how many Enters did nothing, Flushed how often unread input
	// was dropped, Read how many bytes were read since the start.
	Swallowed int `json:"swallowed"`
	Flushed   int `json:"flushed"`
	Read      int `json:"read"`
	// Unread is how many bytes wait in the terminal, in canonical mode those
	// of whole lines: what was written to its other side arrives a little later.
	Unread  int  `json:"unread"`
	Stalled bool `json:"stalled"`
	Frozen  bool `json:"frozen"`

	Size      Size `json:"size"` // as the agent knows it
	Canonical bool `json:"canonical"`
	Echo      bool `json:"echo"`
	Pid       int  `json:"pid"`
	Group     int  `json:"group"` // the agent's process group
	// Foreground is the group that has the terminal, Child the child's pid
	// while it has it.
	Foreground int `json:"foreground"`
	Child      int `json:"child,omitempty"`
	// Env holds RELAY_AGENT, RELAY_SOCKET, RELAY_TOKEN and the variables of
	// Config.Env, as far as they are set.
	Env map[string]string `json:"env,omitempty"`
}

// Size is a terminal's.
type Size struct {
	Rows int `json:"rows"`
	Cols int `json:"cols"`
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
