// Package e2e runs relay-pty as users get it: around fake agents, around the real ones, and on
// machines that misbehave.
package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/agents"
	"relay-pty/cmd/internal/testrig/scriptcmd"
)

func TestMain(m *testing.M) {
	if name := os.Getenv(agents.EnvAgent); name != "" {
		os.Exit(testrig.RunAgent(name))
	}
	testrig.KnownStart()
	testrig.Choose("^TestScripts$")
	code := m.Run()
	for _, b := range []*build{&plain, &breakable} {
		os.RemoveAll(b.dir) // there is nobody to tell
	}
	os.Exit(code)
}

func TestScripts(t *testing.T) {
	t.Parallel()
	bin := filepath.Dir(binary(t))
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", bin+string(os.PathListSeparator)+env.Getenv("PATH"))
			env.Setenv("XDG_RUNTIME_DIR", env.WorkDir)
			env.Setenv("XDG_STATE_HOME", env.WorkDir)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": scriptcmd.Exits},
	})
}
