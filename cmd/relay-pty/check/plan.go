package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"

	"relay-pty/inject/profile"
)

// Config says what is held against what.
type Config struct {
	Profile *profile.Profile // nil: the command's; without one, every one of which a command is installed
	Overlay []byte           // the JSON from which Profile was made; nil: it is a built-in one
	Command []string         // how the agent is started; none: the profile's command in PATH
	Self    string           // relay-pty itself, for the promise that a message arrives
	Out     io.Writer
}

// Run checks and tells one line a promise. It says whether all hold; an error is
// ours, or ctx's cause. Some have a Hint.
func Run(ctx context.Context, cfg Config) (bool, error) {
	plans, err := plan(cfg)
	if err != nil {
		return false, err
	}
	all := true
	for _, p := range plans {
		holds, err := runOne(ctx, p)
		if err != nil {
			return false, err
		}
		all = all && holds
	}
	return all, nil
}

// absent says that there is no agent to check, and what to do.
type absent struct{ what, hint string }

func (a absent) Error() string { return a.what }

// Hint is the way out.
func (a absent) Hint() string { return a.hint }

func plan(cfg Config) ([]Config, error) {
	switch {
	case cfg.Profile != nil && len(cfg.Command) == 0:
		if cfg.Command = installed(cfg.Profile); cfg.Command == nil {
			return nil, absent{"no command of profile " + cfg.Profile.Name + " is installed", "name one: relay-pty --check-profile AGENT -- COMMAND"}
		}
	case cfg.Profile != nil:
	case len(cfg.Command) > 0:
		cfg.Profile = profile.For(cfg.Command...)
	default:
		return planAll(cfg)
	}
	path, err := exec.LookPath(cfg.Command[0])
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return nil, absent{fmt.Sprintf("no command %s", cfg.Command[0]), "it may take its whole path"}
	}
	if path, err = filepath.Abs(path); err != nil { // it runs in another directory
		return nil, err
	}
	cfg.Command = append([]string{path}, cfg.Command[1:]...)
	return []Config{cfg}, nil
}

// planAll tells of the profiles whose agents are not installed; some profiles are
// for no command in particular.
func planAll(cfg Config) (plans []Config, err error) {
	for _, name := range profile.Names() {
		one := cfg
		one.Profile, _ = profile.Named(name)
		one.Command = installed(one.Profile)
		if one.Command != nil {
			plans = append(plans, one)
		} else if commands := one.Profile.Commands; len(commands) > 0 {
			fmt.Fprintf(cfg.Out, "%s: not installed: no %s in PATH\n", name, strings.Join(commands, ", "))
		}
	}
	if plans == nil {
		return nil, absent{"no agent is installed", "put one into PATH, or name its command: relay-pty --check-profile -- /path/to/claude"}
	}
	return plans, nil
}

// installed is the first command of the profile that is in PATH.
func installed(p *profile.Profile) []string {
	for _, command := range p.Commands {
		if path, err := exec.LookPath(command); err == nil {
			return []string{path}
		}
	}
	return nil
}
