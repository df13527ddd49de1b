package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/agents"
	"relay-pty/cmd/internal/testrig/scriptcmd"
	"relay-pty/cmd/relay-pty/check/program"
)

func TestMain(m *testing.M) {
	if name := os.Getenv(agents.EnvAgent); name != "" {
		os.Exit(testrig.RunAgent(name))
	}
	testscript.Main(suite{m}, map[string]func(){
		"relay-pty":  main,
		program.Name: func() { os.Exit(program.Main(context.Background(), os.Args[1:], os.Stdout, os.Stderr)) },
	})
}

// suite is the tests of the package: what they share is removed at their end.
type suite struct{ *testing.M }

func (s suite) Run() int {
	testrig.KnownStart()
	code := s.M.Run()
	if build.path != "" {
		os.RemoveAll(filepath.Dir(build.path)) // there is nobody to tell
	}
	return code
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("XDG_RUNTIME_DIR", env.WorkDir)
			env.Setenv("XDG_STATE_HOME", env.WorkDir)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": scriptcmd.Exits},
	})
}
