package main

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"

	"relay-pty/cmd/relay-pty/agent"
	"relay-pty/inject/agents"
	"relay-pty/inject/profile"
)

// subject is a profile, and the agent that it is held against.
type subject struct {
	profile *profile.Profile
	overlay []byte   // the text of the file that the profile comes from; nil: the profile is built in
	command []string // the program's whole path, and its arguments
}

// choose finds the subjects. name is the value of --agent, or "" for the profile of the command.
// Without a command it is the one in PATH; without either, every agent that is installed.
func choose(name string, command []string, out io.Writer) ([]subject, error) {
	if name == "" && len(command) == 0 {
		return installed(out)
	}
	s := subject{command: command}
	var err error
	if name == "" {
		s.profile = agents.For(command...)
	} else if s.profile, s.overlay, err = agent.Profile(name, command); err != nil {
		return nil, err
	}
	if len(command) == 0 {
		s.command = inPath(s.profile)
	}
	if s.command == nil {
		return nil, hinted{fmt.Errorf("no command of profile %s is installed", s.profile.Name),
			"name one: relay-pty --check-profile AGENT -- COMMAND"}
	}
	path, err := exec.LookPath(s.command[0])
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return nil, hinted{fmt.Errorf("no command %s", s.command[0]), "it may take its whole path"}
	}
	path, err = filepath.Abs(path) // the agent runs in another directory
	s.command = append([]string{path}, s.command[1:]...)
	return []subject{s}, err
}

// installed tells of the profiles whose agents are not installed. Some profiles are for no command
// in particular.
func installed(out io.Writer) (subjects []subject, err error) {
	for _, name := range agents.Names() {
		p, _ := agents.Named(name)
		if command := inPath(p); command != nil {
			subjects = append(subjects, subject{profile: p, command: command})
		} else if len(p.Commands) > 0 {
			fmt.Fprintf(out, "%s: not installed: no %s in PATH\n", name, strings.Join(p.Commands, ", "))
		}
	}
	if subjects == nil {
		err = hinted{errors.New("no agent is installed"),
			"put one into PATH, or name its command: relay-pty --check-profile -- /path/to/claude"}
	}
	return subjects, err
}

// inPath is the first command of the profile that is in PATH; nil when none is.
func inPath(p *profile.Profile) []string {
	for _, command := range p.Commands {
		if path, err := exec.LookPath(command); err == nil {
			return []string{path}
		}
	}
	return nil
}
