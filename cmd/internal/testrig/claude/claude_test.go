package claude

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestFindNamesTheWay(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("RELAY_E2E", "")
	t.Setenv("PATH", dir) // a claude here must not be found
	write := func(path string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(dir, "claude"))
	tail := filepath.Join(Package()+"-"+Version, "package", "claude")
	for _, c := range []struct {
		name, variable, value, path string
	}{
		{"RELAY_CLAUDE", "RELAY_CLAUDE", dir + "/mine", dir + "/mine"},
		{"RELAY_CACHE", "RELAY_CACHE", dir + "/c", filepath.Join(dir, "c", tail)},
		{"XDG_CACHE_HOME", "XDG_CACHE_HOME", dir + "/x", filepath.Join(dir, "x", "relay-pty", tail)},
		{"HOME", "HOME", dir + "/h", filepath.Join(dir, "h", ".cache", "relay-pty", tail)},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, v := range []string{"RELAY_CLAUDE", "RELAY_CACHE", "XDG_CACHE_HOME"} {
				t.Setenv(v, "")
			}
			t.Setenv(c.variable, c.value)
			if _, err := Find(); err == nil || !strings.Contains(err.Error(), "make agents") && c.variable != "RELAY_CLAUDE" {
				t.Errorf("absent: got %v, want a hint", err)
			}
			write(c.path)
			if got, err := Find(); got != c.path || err != nil {
				t.Errorf("got %q, %v; want %q", got, err, c.path)
			}
			if err := os.Chmod(c.path, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := Find(); err == nil {
				t.Error("a file that is not executable was taken")
			}
		})
	}
}

func TestScriptFetchesTheSameVersion(t *testing.T) {
	b, err := os.ReadFile("../../../../.ci/agents")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), "\nversion="+Version+"\n") {
		t.Errorf("the script does not pin version %s", Version)
	}
}

func TestPrepareLeaksNothing(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "secret")
	t.Setenv("CLAUDE_CODE_SSE_PORT", "1")
	t.Setenv("GIT_DIR", "/nonexistent")
	dir := t.TempDir()
	env, cwd, err := Prepare(dir, "http://127.0.0.1:9")
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range env {
		k, v, _ := strings.Cut(kv, "=")
		if strings.Contains(v, "secret") || k == "CLAUDE_CODE_SSE_PORT" || k == "GIT_DIR" || strings.HasPrefix(k, "XDG_") && !strings.HasPrefix(v, dir) {
			t.Errorf("leaked %s", kv)
		}
	}
	if !slices.Contains(env, "ANTHROPIC_BASE_URL=http://127.0.0.1:9") || !slices.Contains(env, "HOME="+filepath.Join(dir, "home")) {
		t.Errorf("got %q", env)
	}
	cmd := exec.Command("git", "log", "--oneline")
	cmd.Dir, cmd.Env = cwd, env
	if out, err := cmd.Output(); err != nil || strings.Count(string(out), "\n") != 1 {
		t.Errorf("got commits %q, %v; want one", out, err)
	}
}
