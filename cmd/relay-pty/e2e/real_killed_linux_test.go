package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/realagent"
	"relay-pty/cmd/internal/testrig/term"
	"relay-pty/pty/screen"
)

// TestProveAgentsOfAKilledWrapper: whatever a real agent has on, nothing of it stays.
func TestProveAgentsOfAKilledWrapper(t *testing.T) {
	eachAgent(t, func(t *testing.T, a agentrig.Agent) {
		dir := scratch(t)
		real := realagent.SetUp(t, a, dir)
		argv := []string{
			"sh", "-c", `"$@"; read _`, "sh", binary(t), "--name", "alice", "--socket", filepath.Join(dir, "s"), "--agent", a.Profile, "--",
		}
		s := &stage{t: t, home: real.Dir, wrapped: true}
		s.Term = testrig.StartTerm(t, term.Options{
			Argv: append(argv, real.Argv...), Dir: real.Dir, Env: append(real.Env, "XDG_RUNTIME_DIR="+dir, "XDG_STATE_HOME="+dir),
		})
		none := func(s *screen.Screen) bool { return s.Traces() == screen.Traces{} }
		must(t, s.WaitScreen(patience(t, "an agent that reads pastes"), func(s *screen.Screen) bool { return s.Modes().BracketedPaste }))
		s.rests() // it may switch on more
		b, err := os.ReadFile(filepath.Join(dir, "relay", "agents", "alice.json"))
		must(t, err)
		var listed struct{ PID int }
		must(t, json.Unmarshal(b, &listed))
		must(t, os.WriteFile(filepath.Join(real.Dir, "pids"), fmt.Appendf(nil, "0 %d", listed.PID), 0o600))
		guardian := s.guards()
		left := ""
		must(t, s.WaitScreen(patience(t, "the screen"), func(s *screen.Screen) bool { left = s.Traces().Undo(); return true }))
		must(t, syscall.Kill(listed.PID, syscall.SIGKILL))
		s.gone(guardian)
		must(t, s.WaitScreen(patience(t, "a screen without traces"), none))
		t.Logf("undone by %q", left)
		must(t, s.Type("\r"))
		_, err = s.Wait(patience(t, "the end of the shell"))
		must(t, err)
	})
}
