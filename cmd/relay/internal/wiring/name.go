package wiring

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"relay-pty/inject/agents"
	"relay-pty/protocol"
)

// maxStem is how much of a command's name becomes an agent's, in bytes: a number follows.
const maxStem = 48

// Name makes a name for the agent that a command starts, from the program that it comes to run:
// claude, or claude-2 where taken reports that an agent of that name runs.
func Name(argv []string, taken func(name string) (bool, error)) (string, error) {
	stem := stemOf(filepath.Base(agents.Open(argv...).Argv[0]))
	for n := 1; ; n++ {
		name := stem
		if n > 1 {
			name = fmt.Sprintf("%s-%d", stem, n)
		}
		if protocol.ValidName(name) != nil { // reserved
			continue
		}
		if held, err := taken(name); err != nil || !held {
			return name, err
		}
	}
}

// switches are the flags of relay-pty that take no value.
var switches = []string{"--headless", "--ephemeral", "--allow-command", "--json-output"}

// Named takes the agent's name out of what stands before the -- of a command line, wherever it is
// among relay-pty's flags; "" for none. Of several words that may be it, none is.
func Named(args []string) (name string, flags []string, err error) {
	valued := false // the flag before takes it as its value
	for _, arg := range args {
		flag := !valued && strings.HasPrefix(arg, "-")
		if flag || valued {
			flags = append(flags, arg)
			valued = flag && !strings.Contains(arg, "=") && !slices.Contains(switches, arg)
			continue
		}
		if name != "" {
			return "", nil, fmt.Errorf("two names, %s and %s: an agent has one, and its command stands behind --", name, arg)
		}
		if err := protocol.ValidName(arg); err != nil {
			return "", nil, fmt.Errorf("the name: %w", err)
		}
		name = arg
	}
	return name, flags, nil
}

// stemOf is what of a program's name may stand in an agent's.
func stemOf(program string) string {
	stem := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
			return r
		}
		return -1
	}, program)
	if stem = strings.TrimLeft(stem, "._-"); stem == "" {
		return "agent"
	}
	return stem[:min(len(stem), maxStem)]
}
