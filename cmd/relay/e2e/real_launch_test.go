package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/fakemodel"
	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/realagent"
	"relay-pty/cmd/relay/internal/router"
)

// launched are ways to start an agent that do not name it, or name it behind something else. argv
// is the agent's own command line.
var launched = []struct {
	name  string
	agent agentrig.Agent
	waits bool // until it is told to go on
	by    func(dir string, argv []string) ([]string, error)
}{
	{"claude by prefixes", agentrig.Claude(agentrig.ClaudeNow), false, func(_ string, argv []string) ([]string, error) {
		return append([]string{"env", "X=1", "nice", "timeout", "9m"}, argv...), nil
	}},
	{"claude by a shell", agentrig.Claude(agentrig.ClaudeNow), false, func(_ string, argv []string) ([]string, error) {
		return []string{"sh", "-c", "exec " + strings.Join(argv, " ")}, nil
	}},
	{"claude by a script that asks first", agentrig.Claude(agentrig.ClaudeNow), true, func(dir string, argv []string) ([]string, error) {
		text := "#!/bin/sh\necho Wait.\nread -r x <go\n" + strings.Join(argv, " ") + "\necho over\n"
		return []string{filepath.Join(dir, "cc-dev")}, os.WriteFile(filepath.Join(dir, "cc-dev"), []byte(text), 0o700)
	}},
	{"codex by a script that becomes it", agentrig.Codex(), true, func(dir string, argv []string) ([]string, error) {
		text := "#!/bin/sh\necho Wait.\nread -r x <go\nexec " + strings.Join(argv, " ") + "\n"
		return []string{filepath.Join(dir, "cx")}, os.WriteFile(filepath.Join(dir, "cx"), []byte(text), 0o700)
	}},
	{"opencode by a link", agentrig.OpenCode(), false, func(dir string, argv []string) ([]string, error) {
		return append([]string{filepath.Join(dir, "oc")}, argv[1:]...), os.Symlink(argv[0], filepath.Join(dir, "oc"))
	}},
	{"gemini by its file", agentrig.Gemini(), false, func(_ string, argv []string) ([]string, error) { return argv, nil }},
}

// TestRealAgentIsFoundByWhatRuns: however an agent is started, it is known as what it is before
// anything is typed. A message that was there before is delivered, as the agent's log proves, and
// its marker is heard.
func TestRealAgentIsFoundByWhatRuns(t *testing.T) {
	t.Parallel()
	tried := launched
	if !testrig.Proving() {
		tried = launched[3:4] // what becomes another program while we look
	}
	for _, c := range tried {
		t.Run(c.name, func(t *testing.T) {
			ctx := testrig.Within(t, 6*time.Minute)
			u := newUser(t)
			real := realagent.SetUp(t, c.agent, testrig.Dir(t))
			real.API.Respond(func(fakemodel.Turn) fakemodel.Reply { return fakemodel.Say("Well.\n->relay:human <<<I am here>>>\n") })
			argv, err := c.by(real.Dir, real.Argv)
			must(t, errors.Join(err, syscall.Mkfifo(filepath.Join(real.Dir, "go"), 0o600)))
			u.runs(ctx, "alice", real.Dir, real.Env, append([]string{"--"}, argv...)...)
			u.does(ctx, "send", "alice", "are you there?", "--id", "m-1")
			u.sees(ctx, "the message to wait", func(e router.Event) bool { return e.ID == "m-1" && e.Status == "queued" })
			if c.waits {
				fifo, err := os.OpenFile(filepath.Join(real.Dir, "go"), os.O_RDWR, 0)
				must(t, err)
				defer fifo.Close() // only then what nobody has read is lost
				_, err = fifo.WriteString("go\n")
				must(t, err)
			}
			u.sees(ctx, "the delivery", func(e router.Event) bool { return e.ID == "m-1" && e.Status == "delivered" })
			u.sees(ctx, "the marker", func(e router.Event) bool {
				return e.Type == router.TypeMessage && e.From == "alice" && e.Body == "I am here"
			})
			for _, e := range u.log(ctx) {
				if e.ID == "m-1" && (e.Status == "unknown" || e.Status == "failed" || e.Status == "withdrawn") {
					t.Errorf("the message was %s on its way: %v", e.Status, errors.New(e.Reason))
				}
			}
			if got, want := u.does(ctx, "status", "alice"), c.agent.Profile; !strings.Contains(got, want) {
				t.Errorf("it is not known as %s:\n%s", want, got)
			}
			if turns := real.API.Turns(); len(turns) != 1 || !strings.Contains(c.agent.Received(turns[0]), "are you there?") {
				t.Errorf("the model got %s", fmt.Sprint(turns))
			}
		})
	}
}
