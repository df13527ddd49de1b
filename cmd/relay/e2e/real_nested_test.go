package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/fakemodel"
	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/realagent"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/inject/agents"
)

// toolLines are command lines, by profile, with which an agent's model may run a command unasked.
var toolLines = map[string]string{
	"claude": "-p --allowedTools=Bash hello", "codex": "exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox hello",
	"gemini": "-y -p hello", "opencode": "run hello", "qwen": "-y -p hello",
}

// brands begin the names of variables that are an agent's own.
var brands = []string{"CLAUDE", "CODEX", "GEMINI", "OPENCODE", "QWEN", "AI_AGENT", "AGENT"}

// TestRealMarksOfASessionAreKnown: of what an agent adds to the environment of its tools nothing
// that bears its name reaches what runs under a wrapper.
func TestRealMarksOfASessionAreKnown(t *testing.T) {
	t.Parallel()
	for _, a := range realagent.Tried(quickAgents()...) {
		t.Run(a.Name(), func(t *testing.T) {
			t.Parallel()
			ctx := testrig.Within(t, 10*time.Minute)
			real := realagent.SetUp(t, a, testrig.Dir(t))
			file := filepath.Join(real.Dir, "environ")
			real.API.Respond(func(turn fakemodel.Turn) fakemodel.Reply {
				if len(turn.Results) > 0 {
					return fakemodel.Say("It is done.")
				}
				return fakemodel.Bash("env -0 >" + file)
			})
			before := agents.Environ(slices.Concat(os.Environ(), real.Env), true)
			program := real.Argv[:len(real.Argv)-len(a.Args)]
			pipes(ctx, t, real.Dir, before, slices.Concat(program, strings.Fields(toolLines[a.Profile]))...)
			told, err := os.ReadFile(file)
			must(t, err)
			after := strings.Split(string(told), "\x00")
			added := func(kv string) bool {
				return slices.ContainsFunc(brands, func(b string) bool { return strings.HasPrefix(kv, b) }) && !slices.Contains(before, kv)
			}
			if !slices.ContainsFunc(after, added) {
				t.Errorf("it added nothing: the test looks at nothing\n%q", after)
			}
			for _, kv := range agents.Environ(after, true) {
				if added(kv) {
					t.Errorf("%s reaches what it starts", kv)
				}
			}
		})
	}
}

// TestProveNestedAgentIsHeard: Claude Code that the tool of another one starts keeps a transcript,
// so its markers are routed, and each is who it is.
func TestProveNestedAgentIsHeard(t *testing.T) {
	t.Parallel()
	ctx := testrig.Within(t, 3*time.Minute)
	u, a := newUser(t), agentrig.Claude(agentrig.ClaudeNow)
	real := realagent.SetUp(t, a, testrig.Dir(t))
	start := fmt.Sprintf("setsid %s/relay run bob --headless --socket %s/bob -- %s </dev/null >/dev/null 2>&1 &", u.bin, u.dir, real.Argv[0])
	real.API.Respond(func(turn fakemodel.Turn) fakemodel.Reply {
		switch text := a.Received(turn); {
		case strings.Contains(text, "start bob"):
			return fakemodel.Bash(start)
		case strings.Contains(text, "who are you?"):
			return fakemodel.Say("Well.\n->relay:human <<<I am bob>>>\n")
		}
		return fakemodel.Say("It is done.")
	})
	u.runs(ctx, "alice", real.Dir, real.Env, slices.Concat([]string{"--"}, real.Argv, []string{"--allowedTools=Bash"})...)
	u.does(ctx, "send", "alice", "start bob", "--wait=1m")
	u.sees(ctx, "bob to be ready", func(e router.Event) bool { return e.Agent == "bob" && e.State == "ready" })
	u.does(ctx, "send", "bob", "who are you?")
	u.sees(ctx, "bob's marker", func(e router.Event) bool {
		return e.Type == router.TypeMessage && e.From == "bob" && e.To == router.Human && e.Body == "I am bob"
	})
}

// TestProvePrintModeInASessionIsNotHeard: claude -p -c that the tool of a session starts goes on in
// the session's own transcript. Its markers are not the session's.
func TestProvePrintModeInASessionIsNotHeard(t *testing.T) {
	t.Parallel()
	for _, a := range []agentrig.Agent{agentrig.Claude(agentrig.ClaudeNow), agentrig.Claude("2.1.197")} {
		t.Run(a.Name(), func(t *testing.T) {
			t.Parallel()
			ctx := testrig.Within(t, 5*time.Minute)
			u := newUser(t)
			real := realagent.SetUp(t, a, testrig.Dir(t))
			real.API.Respond(func(turn fakemodel.Turn) fakemodel.Reply {
				switch text := a.Received(turn); {
				case strings.Contains(text, "from print mode"):
					return fakemodel.Say("Well.\n->relay:human <<<I am another>>>\n")
				case strings.Contains(text, "begin"):
					return fakemodel.Bash(real.Argv[0] + " -p -c 'from print mode' </dev/null")
				}
				return fakemodel.Say("Well.\n->relay:human <<<I am alice>>>\n")
			})
			u.runs(ctx, "alice", real.Dir, real.Env, slices.Concat([]string{"--"}, real.Argv, []string{"--allowedTools=Bash"})...)
			u.does(ctx, "send", "alice", "begin")
			u.sees(ctx, "alice's marker", func(e router.Event) bool { return e.From == "alice" && e.Body == "I am alice" })
			for _, e := range u.log(ctx) {
				if strings.Contains(e.Body, "I am another") {
					t.Errorf("%s is heard to say %q", e.From, e.Body)
				}
			}
			paths, _ := filepath.Glob(filepath.Join(filepath.Dir(real.Dir), "home/.claude/projects/*/*.jsonl")) // the pattern is sound
			if len(paths) != 1 {
				t.Errorf("what it said stands elsewhere, so nothing was tried: %q", paths)
			}
		})
	}
}
