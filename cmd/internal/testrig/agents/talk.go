package agents

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net"
	"strings"
)

// Command is what an agent is told on its control socket. The answer is a State, once the command
// took effect and, in a composer, what it changed was painted.
//
// All agents:
//
//	state   changes nothing
//	set     changes the fields of Config that the object Set names
//	stall   stops reading the terminal, as a stalled event loop does
//	resume  reads again, all that waits in one read
//	stop    stops the process with SIGSTOP, after the answer; another sends SIGCONT
//	quit    exits with status 0, or becomes Config.ExitTo
//	lie     composers: Text is the draft; line programs: prints Text and a new prompt
//
// Composers:
//
//	dialog  opens the permission dialog; Text is the command it asks about
//	idle    ends the turn now
//	edit    hands the terminal to a child that reads all and shows it on the alternate screen
//	done    ends the child and takes the terminal back
type Command struct {
	Cmd, Text string
	Set       any
}

// State is the answer to a Command.
type State struct {
	Error  string
	Pid    int
	Token  string // its RELAY_TOKEN
	Unread int    // bytes that wait in the terminal, in canonical mode those of whole lines
	Draft  string // a composer's text, chips expanded
}

// Control sends one command to the agent listening at path and gives it until ctx ends to answer.
func Control(ctx context.Context, path string, c Command, st *State) error {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if err = json.NewEncoder(conn).Encode(c); err == nil {
		err = json.NewDecoder(conn).Decode(st)
	}
	if err == nil && st.Error != "" {
		err = errors.New(st.Error)
	}
	if err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	return nil
}

// Event is one line of the event log.
type Event struct {
	At   int64  `json:"at"`             // Unix nanoseconds
	Kind string `json:"kind"`           // see the Kind constants
	Text string `json:"text,omitempty"` // the message or the key
}

// The kinds of events.
const (
	KindStart   = "start"   // ready to be typed at
	KindDraft   = "draft"   // the composer's text changed; Text is all of it
	KindQueued  = "queued"  // Enter while busy
	KindSubmit  = "submit"  // a turn began; Text is what a model would get
	KindSwallow = "swallow" // an Enter did nothing; Text is the draft
	KindCommand = "command" // a line with / or ! was run, not sent: a fault if a message did it
	KindPick    = "pick"    // Enter or Tab chose Text from the picker
	KindReply   = "reply"   // the answer was printed
	KindAnswer  = "answer"  // the dialog was answered "yes", by the key Text
)

// Taken are the texts that Enter took out of a composer, in order, and what happened that nobody
// asked for: commands, choices, answers. Texts that the composer took while the agent was busy come
// a second time, together, when their turn begins.
func Taken(events []Event) (texts []string, unasked []Event) {
	var queued []string
	for _, e := range events {
		switch e.Kind {
		case KindQueued:
			queued = append(queued, e.Text)
			texts = append(texts, e.Text)
		case KindSubmit:
			if len(queued) > 0 && e.Text == strings.Join(queued, "\n") {
				queued = nil
				continue
			}
			texts = append(texts, e.Text)
		case KindCommand, KindAnswer, KindPick:
			unasked = append(unasked, e)
		}
	}
	return texts, unasked
}
