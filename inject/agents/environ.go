package agents

import (
	"slices"
	"strings"
)

// Environ is the environment of a command that is started in env: without the marks that a session
// of any agent leaves to what it starts, for a nested agent would take itself for a part of that
// session and keep no log; and with what keeps each agent where we can follow it, unless env
// has that variable already. once says that the command does one thing and ends, so that nothing is
// added.
func Environ(env []string, once bool) []string {
	kept := slices.DeleteFunc(slices.Clone(env), marked)
	for _, p := range all {
		name, _, _ := strings.Cut(p.Sets, "=")
		set := func(kv string) bool { return strings.HasPrefix(kv, name+"=") }
		if p.Sets != "" && !once && !slices.ContainsFunc(kept, set) {
			kept = append(kept, p.Sets)
		}
	}
	return kept
}

// marked reports whether a variable is a mark of any agent's session.
func marked(kv string) bool {
	for _, p := range all {
		for mark := range strings.FieldsSeq(string(p.Marks)) {
			start, open := strings.CutSuffix(mark, "*")
			if kv == mark || open && strings.HasPrefix(kv, start) || strings.HasPrefix(kv, mark+"=") {
				return true
			}
		}
	}
	return false
}
