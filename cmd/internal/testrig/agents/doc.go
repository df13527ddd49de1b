// Package agents holds small programs that stand in for agent CLIs, in tests
// and in the demo. Run runs one on the process's own terminal:
//
//	composer  a raw-mode chat composer in the image of Claude Code's
//	line      a canonical-mode program: a prompt, a line, an answer
//	echo      raw mode, every byte comes straight back
//
// They are set up by environment variables, so that they can be re-execs of
// any binary that calls Run: RELAY_FAKE_AGENT names the program,
// RELAY_FAKE_CONF holds a Config as JSON, RELAY_FAKE_LOG names a file to which
// every byte read is appended, RELAY_FAKE_EVENTS one for Event lines, and
// RELAY_FAKE_CONTROL the Unix socket on which the composer takes Commands.
package agents

import (
	"encoding/json"
	"fmt"
	"os"
)

// The names of the environment variables.
const (
	EnvAgent   = "RELAY_FAKE_AGENT"
	EnvConf    = "RELAY_FAKE_CONF"
	EnvLog     = "RELAY_FAKE_LOG"
	EnvEvents  = "RELAY_FAKE_EVENTS"
	EnvControl = "RELAY_FAKE_CONTROL"
)

// Config scripts an agent. The zero value is a well-behaved one.
type Config struct {
	Greeting string `json:"greeting,omitempty"` // printed at start, verbatim
	Prompt   string `json:"prompt,omitempty"`   // of line; default "> "
	// BusyMS is how long the composer is busy with a message; 0 means 150.
	// "BUSY n" in a message sets it for that message.
	BusyMS int `json:"busy_ms,omitempty"`
	// Reply is the answer to every message; empty means "ACK n bytes". {n}
	// stands for the length in bytes, {id} and {from} for those of a relay
	// header, when the message has one.
	Reply string `json:"reply,omitempty"`
	// Marks are the answers to messages with the words "MARK name".
	Marks map[string]string `json:"marks,omitempty"`

	AltScreen bool   `json:"alt_screen,omitempty"` // composer: full screen instead of inline
	Spin      bool   `json:"spin,omitempty"`       // composer: paints something while idle too
	Ghost     string `json:"ghost,omitempty"`      // composer: dim text in an empty box
	NoPaste   bool   `json:"no_paste,omitempty"`   // composer: never asks for bracketed paste
}

// Run runs the named agent on stdin and stdout and returns its exit status.
func Run(name string) int {
	env, err := setup(name)
	if err != nil {
		return fail(name, err)
	}
	defer env.log.close()
	if path := os.Getenv(EnvControl); path != "" {
		if err := env.serveControl(path); err != nil {
			return fail(name, err)
		}
		defer os.Remove(path)
	}
	switch name {
	case "composer":
		err = runComposer(env)
	case "line":
		err = runLine(env)
	case "echo":
		err = runEcho(env)
	default:
		err = fmt.Errorf("no such agent")
	}
	if err != nil {
		return fail(name, err)
	}
	return 0
}

func fail(name string, err error) int {
	fmt.Fprintf(os.Stderr, "fake agent %s: %v\n", name, err)
	return 1
}

// environment is what every agent needs.
type environment struct {
	conf    Config
	log     *journal
	in, out *os.File
	calls   chan call // to the composer's loop; nil in other agents
}

func setup(name string) (*environment, error) {
	e := &environment{in: os.Stdin, out: os.Stdout}
	if s := os.Getenv(EnvConf); s != "" {
		if err := json.Unmarshal([]byte(s), &e.conf); err != nil {
			return nil, fmt.Errorf("%s: %w", EnvConf, err)
		}
	}
	log, err := openJournal(os.Getenv(EnvLog), os.Getenv(EnvEvents))
	if err != nil {
		return nil, err
	}
	e.log = log
	if name == "composer" {
		e.calls = make(chan call)
	}
	return e, nil
}
