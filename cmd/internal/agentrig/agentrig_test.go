package agentrig

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"relay-pty/cmd/internal/fakemodel"
	"relay-pty/cmd/internal/testrig"
)

// blank takes all that Find looks at out of the environment.
func blank(t *testing.T) {
	for _, v := range []string{"RELAY_E2E", "RELAY_CACHE", "XDG_CACHE_HOME"} {
		t.Setenv(v, "")
	}
	for _, a := range All() {
		t.Setenv(a.Variable, "")
	}
}

// program makes an empty program.
func program(t *testing.T, path string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, nil, 0o700))
}

func TestFindNamesTheWay(t *testing.T) {
	for _, a := range All() {
		tail := filepath.Join(a.Place(), "package", strings.ReplaceAll(a.Runs, "*", "machine"))
		for _, c := range []struct{ name, variable, value, path string }{
			{"its own variable", a.Variable, "/mine", "/mine"},
			{"RELAY_CACHE", "RELAY_CACHE", "/c", "/c/" + tail},
			{"XDG_CACHE_HOME", "XDG_CACHE_HOME", "/x", "/x/relay-pty/" + tail},
			{"HOME", "HOME", "/h", "/h/.cache/relay-pty/" + tail},
		} {
			t.Run(a.Name()+" by "+c.name, func(t *testing.T) {
				dir := t.TempDir()
				blank(t)
				t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
				program(t, filepath.Join(dir, a.Profile)) // on PATH: must not be found
				program(t, filepath.Join(dir, "node"))
				t.Setenv(c.variable, dir+c.value)
				if _, err := a.Find(); err == nil || !strings.Contains(err.Error(), "make agents") && c.variable != a.Variable {
					t.Errorf("absent: got %v, want a hint", err)
				}
				program(t, dir+c.path)
				if got, err := a.Find(); got != dir+c.path || err != nil {
					t.Errorf("got %q, %v; want %q", got, err, dir+c.path)
				}
				must(t, os.Chmod(dir+c.path, 0o600))
				if _, err := a.Find(); err == nil && !a.Node {
					t.Error("a file that is not executable was taken")
				}
			})
		}
	}
}

func TestPrepareLeaksNothing(t *testing.T) {
	_, err := exec.LookPath("git")
	testrig.Require(t, "git", err)
	dir := t.TempDir()
	blank(t)
	secrets := []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "CLAUDE_CODE_SSE_PORT", "CODEX_HOME", "OPENCODE_CONFIG", "GIT_DIR"}
	for _, v := range secrets {
		t.Setenv(v, "secret")
	}
	t.Setenv("RELAY_CACHE", filepath.Join(dir, "cache"))
	program(t, filepath.Join(dir, "cache", "opencode-plugin-"+OpenCode().Version, "package", "package.json"))
	for _, a := range All() {
		t.Run(a.Name(), func(t *testing.T) {
			dir := t.TempDir()
			env, cwd, err := a.Prepare(dir, "http://127.0.0.1:9")
			must(t, err)
			for _, kv := range env {
				k, v, _ := strings.Cut(kv, "=")
				if strings.Contains(v, "secret") || (strings.HasPrefix(k, "XDG_") || strings.HasSuffix(k, "TMPDIR")) && !strings.HasPrefix(v, dir) {
					t.Errorf("leaked %s", kv)
				}
			}
			for _, own := range []string{"HOME=" + filepath.Join(dir, "home"), "TMPDIR=" + filepath.Join(dir, "t")} {
				if !slices.Contains(env, own) {
					t.Errorf("got %q, want %s", env, own)
				}
			}
			if info, err := os.Stat(filepath.Join(dir, "t")); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("its temporary directory: %v, %v", info, err)
			}
			cmd := exec.Command("git", "log", "--oneline")
			cmd.Dir, cmd.Env = cwd, env
			if out, err := cmd.Output(); err != nil || strings.Count(string(out), "\n") != 1 {
				t.Errorf("got commits %q, %v; want one", out, err)
			}
		})
	}
}

// TestAnyReleaseOfClaude: the demo takes the one that is in PATH.
func TestAnyReleaseOfClaude(t *testing.T) {
	blank(t)
	dir := t.TempDir()
	a := Claude("3.0.1")
	path := filepath.Join(dir, a.Place(), "package", "claude")
	program(t, path)
	t.Setenv("RELAY_CACHE", dir)
	if got, err := a.Find(); got != path || err != nil || a.Name() != "claude-3.0.1" || a.Variable != "RELAY_CLAUDE_3_0_1" || !strings.HasSuffix(path, "-3.0.1/package/claude") {
		t.Errorf("got %q, %v, %+v", got, err, a)
	}
}

func TestReceivedIsWhatUsersMeant(t *testing.T) {
	for _, c := range []struct {
		agent Agent
		text  []string
		want  string
	}{
		{Claude(ClaudeNow), []string{"a\n\n<pasted_content id=\"1\">\nb\n</pasted_content id=\"1\">\nc"}, "abc"},
		{Claude(ClaudeNow), []string{"[Request interrupted by user for tool use]\n\na", "b"}, "a\nb"},
		{Claude(ClaudeNow), []string{"[Request interrupted by user for tool use]", "", "a"}, "a"},
		{OpenCode(), []string{" b  "}, " b "},
		{OpenCode(), []string{"[relay m from bob] a \nb \n[end m]"}, "[relay m from bob] a \nb\n[end m]"},
		{Gemini(), []string{"@work.txt or @work"}, "@work or@work"},
		{Gemini(), []string{"see\n @work.txt @work.txt"}, "see@work@work"},
		{Codex(), []string{" a "}, " a "},
		{Gemini(), []string{"a\n"}, "a\n"},
	} {
		if got := c.agent.Received(fakemodel.Turn{Text: c.text}); got != c.want {
			t.Errorf("%s: got %q, want %q", c.agent.Profile, got, c.want)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
