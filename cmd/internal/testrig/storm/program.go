package storm

import (
	"fmt"

	"relay-pty/cmd/internal/testrig/agents"
)

// program is a fake agent and how it is wrapped.
type program struct {
	agent string // in package agents
	line  bool   // it is a line program
	conf  agents.Config
	flags []string
	over  string   // the overlay, if it is not a profile of the wrapper's
	small bool     // its composer is seen as far as it does not scroll
	modes []string // that messages may have
	share int      // of the messages, against other programs: the slow ones get few
}

const (
	sequential = "sequential"
	important  = "important"
	urgent     = "urgent"
)

const stranger = `{"name":"stranger","prompt":"❯\u00a0","busy":["esc to interrupt"],"dialog":["Do you want to "],"clear":["C-u"],"newline":"C-j"}`

var claude = []string{"--agent", "claude"}

var programs = map[string]program{
	"line": {
		share: 40, modes: []string{sequential, important},
		agent: "line", line: true, flags: []string{"--agent", "generic", "--prompt-pattern", "^> $"},
	},
	"silent": {
		share: 16, modes: []string{sequential, important},
		agent: "line", line: true, flags: []string{"--agent", "generic", "--idle-timeout", "100"}, conf: agents.Config{Prompt: "\r"},
	},
	"composer": {
		share: 6, modes: []string{sequential, urgent},
		agent: "composer", flags: claude, conf: agents.Config{BusyMS: 5, QuitKeys: -1, Still: true},
	},
	"full-screen": {
		share: 4, modes: []string{sequential},
		agent: "composer", flags: claude, conf: agents.Config{BusyMS: 20, QuitKeys: -1, AltScreen: true, Ghost: "Try \"fix the tests\""},
	},
	"stranger": {
		share: 1, modes: []string{sequential, important}, small: true, over: stranger,
		agent: "composer", flags: []string{"--batch-max", "1"}, conf: agents.Config{BusyMS: 5, QuitKeys: -1, Ghost: "Ask anything", Chips: "never"},
	},
	"slow": {
		share: 1, modes: []string{sequential},
		agent: "slow", flags: claude, conf: agents.Config{BusyMS: 5, QuitKeys: -1, ReadBytes: 16},
	},
}

// mix is what stands for no choice.
var mix = []string{
	"line", "composer", "silent", "line", "stranger", "line", "line", "full-screen", "line", "slow",
	"line", "line", "composer", "line", "silent", "line", "line", "line", "line", "line",
}

func chosen(names []string) (out []program, err error) {
	if names == nil {
		names = mix
	}
	for _, name := range names {
		p, known := programs[name]
		if !known {
			return nil, fmt.Errorf("storm: no program %q", name)
		}
		out = append(out, p)
	}
	return out, nil
}
