package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/realagent"
	"relay-pty/cmd/internal/testrig/term"
)

// TestProveAgentsPutToSleep: at a Ctrl-Z an agent puts itself to sleep, the shell has its terminal,
// and messages wait for the agent's waking. Those of the others do not sleep: Gemini CLI takes a
// sleep that the kernel denied for a nap.
func TestProveAgentsPutToSleep(t *testing.T) {
	eachAgent(t, func(t *testing.T, a agentrig.Agent) {
		if a.Profile != "claude" && a.Profile != "codex" {
			return
		}
		dir := scratch(t)
		real := realagent.SetUp(t, a, dir)
		words := []string{"exec", binary(t), "--name", "alice", "--socket", filepath.Join(dir, "s"), "--agent", a.Profile, "--"}
		for _, word := range real.Argv {
			words = append(words, "'"+strings.ReplaceAll(word, "'", `'\''`)+"'")
		}
		must(t, os.WriteFile(filepath.Join(dir, "agent"), []byte(strings.Join(words, " ")), 0o600))
		s := &stage{t: t, home: dir, wrapped: true}
		s.Term = testrig.StartTerm(t, term.Options{
			Argv: []string{"bash", "--norc", "--noprofile", "-i"}, Dir: real.Dir, Answers: true, Rows: 40, Cols: 120,
			Env: append(slices.Clone(real.Env), "XDG_RUNTIME_DIR="+dir, "XDG_STATE_HOME="+dir, "PS1=$ "),
		})
		s.sees(ps1)
		s.types("stty -a >" + filepath.Join(dir, "outside") + "\r")
		s.sees(ps1)
		s.types("sh " + filepath.Join(dir, "agent") + "\r")
		w := s.connects(filepath.Join(dir, "s"))
		w.state("ready")
		b, err := os.ReadFile(filepath.Join(dir, "relay", "agents", "alice.json"))
		must(t, err)
		var listed struct{ PID int }
		must(t, json.Unmarshal(b, &listed))
		must(t, os.WriteFile(filepath.Join(dir, "pids"), fmt.Appendf(nil, "0 %d", listed.PID), 0o600))
		for _, round := range []string{"1", "2"} {
			s.mark = len(s.Output())
			s.suspends(5 * time.Second) // just begun on a loaded machine, it may take longer than is waited for it
			w.isStopped(round)
			s.types("fg\r")
			w.delivers("waits"+round, "submitted", "turn")
			w.state("ready")
		}
		s.mark = len(s.Output())
		s.suspends(5 * time.Second)
		wrapper := s.process()
		s.types("kill %1\r")
		s.gone(wrapper)
		s.isTold("Exit 143")
		s.types("stty -a >" + filepath.Join(dir, "afterwards") + "\r")
		s.sees(ps1)
		if now, before := s.holds("afterwards"), s.holds("outside"); now != before {
			t.Errorf("the terminal is left as\n%s\nit was\n%s", now, before)
		}
	})
}
