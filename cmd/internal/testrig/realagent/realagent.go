// Package realagent sets up the agents of package agentrig for tests.
package realagent

import (
	"os"
	"slices"
	"strings"
	"testing"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/fakemodel"
	"relay-pty/cmd/internal/testrig"
)

// Tried are those of the agents that this run tries: one release of each, and in `make prove` every
// one. $RELAY_AGENTS names the kinds, separated by spaces, when not all are to be tried.
func Tried(agents ...agentrig.Agent) []agentrig.Agent {
	if kinds := strings.Fields(os.Getenv("RELAY_AGENTS")); len(kinds) > 0 {
		agents = slices.DeleteFunc(agents, func(a agentrig.Agent) bool { return !slices.Contains(kinds, a.Profile) })
	}
	if testrig.Proving() {
		return agents
	}
	return slices.CompactFunc(agents, func(a, b agentrig.Agent) bool { return a.Profile == b.Profile })
}

// Agent is one with a home and a model API of its own, ready to be started.
type Agent struct {
	agentrig.Agent
	API  *fakemodel.Server
	Argv []string
	Env  []string // besides the test's own
	Dir  string   // it works here; its home is beside
}

// Find is the path of the agent's program. The test is skipped if this run does not try that agent.
// Without the program it fails or is skipped, as testrig.Require has it.
func Find(t testing.TB, a agentrig.Agent) string {
	t.Helper()
	switch {
	case testing.Short():
		t.Skipf("NOT RUN with -short: %s", a.Name())
	case len(Tried(a)) == 0:
		t.Skipf("NOT RUN: %s: RELAY_AGENTS names others", a.Name())
	}
	path, err := a.Find()
	testrig.Require(t, a.Name(), err)
	return path
}

// SetUp makes the home of an agent that Find finds, with the changes, in dir.
func SetUp(t testing.TB, a agentrig.Agent, dir string, changes ...agentrig.Change) Agent {
	t.Helper()
	path := Find(t, a)
	api, err := a.API()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { api.Close() }) // the listener is gone either way
	env, cwd, err := a.Prepare(dir, api.URL(), changes...)
	if err != nil {
		t.Fatal(err)
	}
	return Agent{a, api, a.Argv(path), env, cwd}
}
