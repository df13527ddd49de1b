package scratch

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestAllIsBelowTheDirectory: what removes the directory removes all that an agent leaves.
func TestAllIsBelowTheDirectory(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(dir string) (env []string, cwd string, err error)
		want    map[string]string // directories by the variables that name them
	}{
		"plain": {Plain, map[string]string{"HOME": "home", "XDG_RUNTIME_DIR": "run", "TMPDIR": "t"}},
		"claude": {func(dir string) ([]string, string, error) { return Claude(dir, "http://127.0.0.1:9", "1.0.0") },
			map[string]string{"HOME": "home", "XDG_RUNTIME_DIR": "run", "TMPDIR": "t", "CLAUDE_CODE_TMPDIR": "t"}},
	} {
		dir := t.TempDir()
		env, cwd, err := c.prepare(dir)
		if err != nil {
			t.Fatal(err)
		}
		if cwd != filepath.Join(dir, "work") {
			t.Errorf("%s: works in %s, want it below %s", name, cwd, dir)
		}
		for variable, below := range c.want {
			if want := variable + "=" + filepath.Join(dir, below); !slices.Contains(env, want) {
				t.Errorf("%s: %q, want %s", name, env, want)
			}
		}
		for _, below := range []string{"home", "run", "t", "work"} {
			info, err := os.Stat(filepath.Join(dir, below))
			if err != nil || info.Mode() != os.ModeDir|0o700 {
				t.Errorf("%s: %s is %v, %v; want a directory for us alone", name, below, info, err)
			}
		}
	}
}
