// Package realagent sets up the agents of package agentrig for tests.
package realagent

import (
	"testing"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/fakemodel"
	"relay-pty/cmd/internal/testrig"
)

// Agent is one with a home and a model API of its own, ready to be started.
type Agent struct {
	agentrig.Agent
	API  *fakemodel.Server
	Argv []string
	Env  []string // besides the test's own
	Dir  string   // it works here; its home is beside
}

// SetUp makes the home, with the changes, in dir. Without the agent's binary the test fails or is
// skipped, as testrig.Require has it.
func SetUp(t testing.TB, a agentrig.Agent, dir string, changes ...agentrig.Change) Agent {
	t.Helper()
	path, err := a.Find()
	testrig.Require(t, a.Name(), err)
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
