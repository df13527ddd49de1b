package e2e

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/fakemodel"
	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/realagent"
	"relay-pty/cmd/internal/testrig/term"
)

// onceLines are command lines, by profile, that do one thing and end: one that asks the model with
// what comes on stdin, and others.
var onceLines = map[string][]string{
	"claude":   {"-p", "-p --bogus", "daemon status", "remote-control"},
	"codex":    {"exec --skip-git-repo-check -", "exec --bogus", "mcp list"},
	"gemini":   {"-p there", "--bogus -p"},
	"opencode": {"run", "run --bogus"},
	"qwen":     {"-p there", "--bogus -p"},
}

// quickAgents are those that start the quickest, and in `make prove` all: OpenCode takes 20 seconds
// of a processor for each command.
func quickAgents() []agentrig.Agent {
	if testrig.Proving() {
		return agentrig.All()
	}
	return []agentrig.Agent{agentrig.Claude(agentrig.ClaudeNow), agentrig.Codex()}
}

// outcome is what a command did.
type outcome struct {
	out    string
	status int
}

// pipes runs a command with a text on stdin, and pipes for its output.
func pipes(ctx context.Context, t *testing.T, dir string, env []string, argv ...string) outcome {
	t.Helper()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env, cmd.Dir = strings.NewReader("hello\n"), &out, &errs, env, dir
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		t.Errorf("%q: %v, %v\n%s%s", argv, err, context.Cause(ctx), &out, &errs)
	}
	return outcome{out.String(), cmd.ProcessState.ExitCode()}
}

// TestRealCommandsThatDoOneThing: what a script runs through pipes ends as it does without us, with
// the same bytes; so do commands that take none of our flags.
func TestRealCommandsThatDoOneThing(t *testing.T) {
	t.Parallel()
	for _, a := range realagent.Tried(quickAgents()...) {
		t.Run(a.Name(), func(t *testing.T) {
			t.Parallel()
			ctx := testrig.Within(t, 10*time.Minute)
			u := newUser(t)
			real := realagent.SetUp(t, a, testrig.Dir(t))
			real.API.Respond(func(fakemodel.Turn) fakemodel.Reply { return fakemodel.Say("It is *4*,  as always.") })
			env := u.with(real.Env)
			program := real.Argv[:len(real.Argv)-len(a.Args)]
			lines := onceLines[a.Profile]
			if !testrig.Proving() {
				lines = lines[:2]
			}
			for n, line := range lines {
				argv := slices.Concat(program, strings.Fields(line))
				bare := pipes(ctx, t, real.Dir, env, argv...)
				if n == 0 && (bare.status != 0 || !strings.Contains(bare.out, "It is *4*,  as always.")) {
					t.Errorf("without us %s %s ends with %d: %q", a.Profile, line, bare.status, bare.out)
				}
				for _, by := range [][]string{{"relay", "run", "p"}, {"relay-pty", "--name", "p"}} {
					by[0] = filepath.Join(u.bin, by[0])
					by = append(by, "--socket", filepath.Join(u.dir, "p"), "--agent", a.Profile, "--")
					if got := pipes(ctx, t, real.Dir, env, slices.Concat(by, argv)...); got != bare {
						t.Errorf("%s … %s: status %d, want %d; output\n%q, want\n%q", filepath.Base(by[0]), line, got.status, bare.status, got.out, bare.out)
					}
				}
			}
		})
	}
}

// TestProvePrintOnATerminal: on a terminal, too, a command that does one thing does it, and one
// whose output goes on to another program leaves the terminal to that.
func TestProvePrintOnATerminal(t *testing.T) {
	t.Parallel()
	a := agentrig.Claude(agentrig.ClaudeNow)
	ctx := testrig.Within(t, 2*time.Minute)
	u := newUser(t)
	real := realagent.SetUp(t, a, testrig.Dir(t))
	real.API.Respond(func(fakemodel.Turn) fakemodel.Reply { return fakemodel.Say("It is 4.") })
	env := u.with(real.Env)
	for line, want := range map[string]string{
		`"$0" run p --socket "$1" -- "$2" -p hello; echo "ended with $?"`:                                                     "ended with 0",
		`"$0" run p --socket "$1" -- "$2" -p hello | (read -r said; stty -a </dev/tty; echo "<$said>"); echo "ended with $?"`: "<It is 4.>",
	} {
		argv := []string{"sh", "-c", line, filepath.Join(u.bin, "relay"), filepath.Join(u.dir, "p"), real.Argv[0]}
		tm := testrig.StartTerm(t, term.Options{Argv: argv, Env: env, Dir: real.Dir, Answers: true})
		if err := errors.Join(tm.WaitText(ctx, "It is 4."), tm.WaitText(ctx, want), tm.WaitText(ctx, "ended with 0")); err != nil {
			t.Errorf("%s: %v\n%s", line, err, tm.Screen())
		}
		if strings.Contains(tm.Screen(), "-icanon") {
			t.Errorf("%s: the terminal is not the next program's\n%s", line, tm.Screen())
		}
	}
}
