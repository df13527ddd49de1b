// Package programs runs the fake agents on the terminal of their process. Package agents describes
// them.
package programs

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"relay-pty/cmd/internal/testrig/agents"
)

// Run runs the named agent on stdin and stdout, with the logs and the socket that the environment
// names, and returns its exit status. Run does not return when the agent becomes another program.
func Run(name string) int {
	if err := run(name); err != nil {
		fmt.Fprintf(os.Stderr, "fake agent %s: %v\n", name, err)
		return 1
	}
	return 0
}

func run(name string) error {
	k := &kit{ready: make(chan struct{}), again: make(chan struct{}), calls: make(chan call)}
	if s := os.Getenv(agents.EnvConf); s != "" {
		if err := k.conf.Change([]byte(s)); err != nil {
			return fmt.Errorf("%s: %w", agents.EnvConf, err)
		}
	}
	for path, f := range map[string]**os.File{os.Getenv(agents.EnvLog): &k.bytes, os.Getenv(agents.EnvEvents): &k.events} {
		if path == "" {
			continue
		}
		var err error
		if *f, err = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
			return err
		}
	}
	if path := os.Getenv(agents.EnvControl); path != "" {
		if err := k.listen(path); err != nil {
			return err
		}
	}
	go k.await()
	if err := k.start(name); err != nil {
		return err
	}
	k.restore()
	if k.done && k.conf.ExitTo != "" {
		return become(k.conf.ExitTo)
	}
	return nil
}

// start runs the agent until it quits or its terminal is gone.
func (k *kit) start(name string) error {
	c := &k.conf
	switch name {
	case "slow":
		c.ReadBytes, c.ReadMS, c.PaintMS = cmp.Or(c.ReadBytes, 1), cmp.Or(c.ReadMS, 2), cmp.Or(c.PaintMS, 20)
		return k.compose()
	case "composer":
		return k.compose()
	case "liar":
		k.stalled = true
		if c.Canonical {
			return k.line()
		}
		return k.compose()
	case "line":
		return k.line()
	case "deaf":
		k.stalled = true
		return k.deaf()
	case "echo":
		return k.echo()
	}
	return errors.New("no such agent")
}

// become replaces the process by a program, on the same terminal, without the agent's own
// variables and with the prompt "$ ". It returns errors only.
func become(path string) error {
	vars := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "RELAY_FAKE_") || strings.HasPrefix(v, "PS1=") || strings.HasPrefix(v, "ENV=")
	})
	return syscall.Exec(path, []string{filepath.Base(path)}, append(vars, "PS1=$ "))
}

// raw hands over every byte of the terminal as it comes. Unread input stays.
func (k *kit) raw() (err error) {
	k.found, err = term.MakeRaw(tty)
	return err
}

// restore brings the terminal's settings back as raw found them; a terminal that is gone stays so.
func (k *kit) restore() {
	if k.found != nil {
		term.Restore(tty, k.found)
	}
}

// print drops errors: when the terminal is gone, the next read says so.
func (k *kit) print(s string) { os.Stdout.WriteString(s) }

// event logs an event. A log that cannot be written makes the test that reads it fail.
func (k *kit) event(kind, text string) {
	line, err := json.Marshal(agents.Event{At: time.Now().UnixNano(), Kind: kind, Text: text})
	if err == nil {
		k.events.Write(append(line, '\n'))
	}
}
