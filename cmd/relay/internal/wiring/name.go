package wiring

import (
	"fmt"
	"path/filepath"
	"strings"

	"relay-pty/inject/profile"
	"relay-pty/protocol"
)

// maxStem is how much of a command's name becomes an agent's, in bytes: a number follows.
const maxStem = 48

// Name makes a name for the agent that a command starts, from the program that it comes to run:
// claude, or claude-2 where taken reports that an agent of that name runs.
func Name(argv []string, taken func(name string) (bool, error)) (string, error) {
	stem := stemOf(filepath.Base(profile.Open(argv...).Argv[0]))
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
