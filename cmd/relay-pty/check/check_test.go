package check

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relay-pty/cmd/internal/fakemodel"
	"relay-pty/inject/profile"
)

// commands makes programs of these names and lets PATH hold them alone.
func commands(t *testing.T, names ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	return dir
}

// TestPlan: what is held against what, by what the user has named and what is installed.
func TestPlan(t *testing.T) {
	dir := commands(t, "claude", "codex", "other")
	named := func(name string) *profile.Profile {
		p, found := profile.Named(name)
		if !found {
			t.Fatalf("no profile %s", name)
		}
		return p
	}
	for _, c := range []struct {
		name  string
		cfg   Config
		want  []string // profile and command
		fails string
		hint  string
		says  string
	}{
		{"nothing named", Config{}, []string{"claude " + dir + "/claude", "codex " + dir + "/codex"}, "", "",
			"gemini: not installed: no gemini in PATH\nopencode: not installed: no opencode in PATH\n"},
		{"a profile", Config{Profile: named("codex")}, []string{"codex " + dir + "/codex"}, "", "", ""},
		{"a command", Config{Command: []string{"claude", "-c"}}, []string{"claude " + dir + "/claude -c"}, "", "", ""},
		{"a command that no profile is for", Config{Command: []string{"other"}}, []string{"generic " + dir + "/other"}, "", "", ""},
		{"both", Config{Profile: named("gemini"), Command: []string{dir + "/other"}}, []string{"gemini " + dir + "/other"}, "", "", ""},
		{"a profile whose command is not installed", Config{Profile: named("gemini")}, nil, "no command of profile gemini is installed", "name one", ""},
		{"a command that there is not", Config{Command: []string{"none"}}, nil, "no command none", "whole path", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			c.cfg.Out = &out
			plans, err := plan(c.cfg)
			if c.fails != "" {
				var none absent
				if !errors.As(err, &none) || none.Error() != c.fails || !strings.Contains(none.Hint(), c.hint) {
					t.Errorf("got %v, want %q and the hint %q", err, c.fails, c.hint)
				}
				return
			}
			var got []string
			for _, p := range plans {
				if p.Profile.Name != "shell" { // whichever shells are installed
					got = append(got, p.Profile.Name+" "+strings.Join(p.Command, " "))
				}
			}
			said := strings.Join(filter(strings.SplitAfter(out.String(), "\n"), "shell: "), "")
			if err != nil || strings.Join(got, "\n") != strings.Join(c.want, "\n") || said != c.says {
				t.Errorf("got %q, %v, told %q; want %q, told %q", got, err, said, c.want, c.says)
			}
		})
	}
	commands(t)
	if _, err := plan(Config{Out: &strings.Builder{}}); err == nil || err.Error() != "no agent is installed" {
		t.Errorf("without any agent: %v", err)
	}
}

func filter(lines []string, without string) (left []string) {
	for _, line := range lines {
		if !strings.HasPrefix(line, without) {
			left = append(left, line)
		}
	}
	return left
}

// judging is a checker without an agent.
func judging(out *strings.Builder) (c *checker, over chan struct{}) {
	over = make(chan struct{})
	p, _ := profile.Named("claude")
	return &checker{Config: Config{Out: out}, p: p, over: over, tally: tally{broken: map[string]bool{}}}, over
}

// TestWhatDependsOnWhatIsBrokenIsNotJudged, nor what needs a model that nobody can speak for.
func TestWhatDependsOnWhatIsBrokenIsNotJudged(t *testing.T) {
	var out strings.Builder
	c, _ := judging(&out)
	plays := func(s scene) string {
		s.alone, s.judges = true, "datum"
		if err := c.judge(t.Context(), s); err != nil {
			t.Error(err)
		}
		return c.said.String()
	}
	holds := func(c *checker, _ context.Context) { c.ok("datum", "it does") }
	if got := plays(scene{run: holds}); got != "ok   datum: it does\n" {
		t.Errorf("told %q", got)
	}
	if got := plays(scene{run: holds, needs: []string{"prompt"}, model: true}); got != "--   datum: not judged: there is no fake model API for this agent\n" {
		t.Errorf("told %q", got)
	}
	if got := plays(scene{run: func(c *checker, _ context.Context) { c.bad("prompt", "%d is wrong", 7) }}); got != "FAIL prompt: 7 is wrong\n" || c.clean {
		t.Errorf("told %q, clean %v", got, c.clean)
	}
	if got := plays(scene{run: holds, needs: []string{"clear", "prompt"}}); got != "--   datum: not judged: it takes prompt, which does not hold\n" {
		t.Errorf("told %q", got)
	}
	c.summary()
	if got := out.String(); got != "claude: 1 of 2 promises do not hold, 2 not judged\n" {
		t.Errorf("in sum: %q", got)
	}
}

// TestNothingIsJudgedAfterTheEnd: what is seen of an agent then is that end.
func TestNothingIsJudgedAfterTheEnd(t *testing.T) {
	var out strings.Builder
	c, over := judging(&out)
	close(over)
	c.bad("prompt", "it is gone")
	if c.said.Len() > 0 {
		t.Errorf("told %q", c.said.String())
	}
}

// TestTextsForPastes have the sizes that are asked for: a limit is held by one more.
func TestTextsForPastes(t *testing.T) {
	for n := range 200 {
		if got := words(n); len(got) != max(n, 1) || strings.Contains(got, "\n") {
			t.Fatalf("%d bytes: %q", n, got)
		}
		if got := lines(n); n > 0 && strings.Count(got, "\n")+1 != n {
			t.Fatalf("%d lines: %q", n, got)
		}
	}
}

// TestModelAnswersWhatIsAsked, and nothing else.
func TestModelAnswersWhatIsAsked(t *testing.T) {
	c := &checker{cwd: "/scratch"}
	asked := func(text string) fakemodel.Reply {
		return c.respond(fakemodel.Turn{Text: []string{"[relay m1] " + text}})
	}
	if r := asked(askLong); len(r.Deltas) != 400 || r.Gap == 0 {
		t.Errorf("at length: %d parts", len(r.Deltas))
	}
	if r := asked(askTool); r.Tool == nil || r.Tool.Command != "touch /scratch/canary" {
		t.Errorf("a tool: %+v", r.Tool)
	}
	if r := asked(askMark); !strings.Contains(strings.Join(r.Deltas, ""), "->relay:bob <<<"+markBody+">>>") {
		t.Errorf("a marker: %q", r.Deltas)
	}
	if r := asked(askNone); strings.Join(r.Deltas, "") != "Yes." {
		t.Errorf("anything else: %q", r.Deltas)
	}
}
