package storm

import (
	"fmt"
	"slices"

	"relay-pty/cmd/internal/testrig/agents"
)

// program is a fake agent and how it is wrapped.
type program struct {
	name  string
	fake  string // in package agents
	conf  agents.Config
	flags []string
	over  string // the overlay, if it is not a profile of the wrapper's
	line  bool
	small bool     // its composer is seen as far as it does not scroll
	modes []string // that messages may have
	share int      // of the messages, against other programs: the slow ones get few
}

// Programs are the names of the agents there are.
func Programs() []string {
	var names []string
	for _, p := range programs() {
		names = append(names, p.name)
	}
	return names
}

const (
	sequential = "sequential"
	important  = "important"
	urgent     = "urgent"
)

const stranger = `{"name":"stranger","prompt":"❯\u00a0","busy":["esc to interrupt"],"dialog":["Do you want to "],"clear":["C-u"],"newline":"C-j"}`

func programs() []program {
	claude := []string{"--agent", "claude"}
	return []program{
		{
			name: "line", fake: "line", line: true, share: 40, modes: []string{sequential, important},
			flags: []string{"--agent", "generic", "--prompt-pattern", "^> $"},
		},
		{
			name: "silent", fake: "line", line: true, share: 16, modes: []string{sequential, important},
			conf: agents.Config{Prompt: "\r"}, flags: []string{"--agent", "generic", "--idle-timeout", "100"},
		},
		{
			name: "composer", fake: "composer", share: 6, modes: []string{sequential, urgent},
			conf: agents.Config{BusyMS: 5, QuitKeys: -1, Still: true}, flags: claude,
		},
		{
			name: "full-screen", fake: "composer", share: 4, modes: []string{sequential},
			conf: agents.Config{BusyMS: 20, QuitKeys: -1, AltScreen: true, Ghost: "Try \"fix the tests\""}, flags: claude,
		},
		{
			name: "stranger", fake: "composer", share: 1, small: true, modes: []string{sequential, important},
			conf: agents.Config{BusyMS: 5, QuitKeys: -1, Ghost: "Ask anything", Chips: "never"}, over: stranger, flags: []string{"--batch-max", "1"},
		},
		{
			name: "slow", fake: "slow", share: 1, modes: []string{sequential},
			conf: agents.Config{BusyMS: 5, QuitKeys: -1, ReadBytes: 16}, flags: claude,
		},
	}
}

// mix is what stands for no choice.
var mix = []string{
	"line", "composer", "silent", "line", "stranger", "line", "line", "full-screen", "line", "slow",
	"line", "line", "composer", "line", "silent", "line", "line", "line", "line", "line",
}

func chosen(names []string) ([]program, error) {
	if names == nil {
		names = mix
	}
	all := programs()
	var out []program
	for _, name := range names {
		at := slices.IndexFunc(all, func(p program) bool { return p.name == name })
		if at < 0 {
			return nil, fmt.Errorf("storm: no program %q", name)
		}
		out = append(out, all[at])
	}
	return out, nil
}
