package agents

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"relay-pty/inject/profile"
	"relay-pty/protocol/process"
)

// Foreign says why a process is not of the session whose token it has, "" if nothing tells against
// it. line is the process and what it descends from, env its environment, and job the background
// session that the agent's own has become, "" if it is none. Anything that got the token may use
// it, also what outlived the shell that started it; but an agent's daemon got it from whoever
// started the daemon, and hands it to the sessions of all others.
func Foreign(line []process.Process, env []string, job string) string {
	for _, p := range all {
		if p.Shared == nil {
			continue
		}
		switch name := path.Base(variable(env, p.Shared.Job)); {
		case name == ".": // it has none
		case name == job:
			return ""
		default:
			return foreign(p, "session "+name)
		}
		if at := slices.IndexFunc(line, func(is process.Process) bool { return p.Shared.Serves(is.Argv) }); at >= 0 {
			return foreign(p, fmt.Sprintf("process %d", line[at].PID))
		}
	}
	return ""
}

func foreign(p *profile.Profile, which string) string {
	return fmt.Sprintf("this is part of a %s of %s (%s), which others share: %s; to act as a script, unset RELAY_AGENT RELAY_TOKEN RELAY_SOCKET",
		p.Shared.What, p.Title, which, p.Shared.Instead)
}

// Left reports whether a process with that environment was left behind by the agent's session,
// which has become a background one: what it reads, nobody hears of.
func Left(env []string, job string) bool {
	belongs := func(p *profile.Profile) bool { return p.Shared != nil && path.Base(variable(env, p.Shared.Job)) == job }
	return job != "" && !slices.ContainsFunc(all, belongs)
}

// variable is the value of a variable, "" if env has none of that name.
func variable(env []string, name string) string {
	for _, kv := range env {
		if value, ok := strings.CutPrefix(kv, name+"="); ok && name != "" {
			return value
		}
	}
	return ""
}
