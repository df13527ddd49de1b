package sabotage

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"relay-pty/cmd/internal/testrig"
)

// TestEditsFitTheSource: a sabotage that does not fit any more would prove nothing.
func TestEditsFitTheSource(t *testing.T) {
	t.Parallel()
	root, err := Root()
	must(t, err)
	names, caught := map[string]bool{}, map[string]bool{}
	all := All()
	for _, s := range all {
		caught[s.Name] = len(s.CaughtBy) > 0
	}
	for _, s := range AllNarrow() {
		all, caught[s.Name] = append(all, s.Sabotage), s.Package != "" && s.Test != ""
		if !s.exists(t, root) {
			t.Errorf("%q: there is no %s in %s", s.Name, s.Test, s.Package)
		}
	}
	for _, s := range all {
		if names[s.Name] || !caught[s.Name] || len(s.Edits) == 0 {
			t.Errorf("%q is there twice, or breaks nothing", s.Name)
		}
		names[s.Name] = true
		file, err := s.Overlay(root, t.TempDir())
		if err != nil {
			t.Error(err)
			continue
		}
		compiles(t, s, root, file)
	}
	if len(names) < 10 {
		t.Errorf("%d sabotages, want 10 at least", len(names))
	}
}

// TestSabotageIsCaughtByItsTest: each test that stands for a promise passes, and fails where the
// promise is broken. Few of them run always.
func TestSabotageIsCaughtByItsTest(t *testing.T) {
	root, err := Root()
	must(t, err)
	all := AllNarrow()
	if !testrig.Proving() {
		all = all[1:2]
	}
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			file, err := s.Overlay(root, t.TempDir())
			must(t, err)
			if out, ok := s.passes(t, root, ""); !ok {
				t.Fatalf("%s fails without it:\n%s", s.Test, out)
			}
			out, ok := s.passes(t, root, " -overlay="+file)
			if ok || !strings.Contains(out, "--- FAIL: "+s.Test) {
				t.Errorf("%s does not catch it:\n%s", s.Test, out)
			}
		})
	}
}

// exists says whether the test is in its package.
func (s Narrow) exists(t *testing.T, root string) bool {
	files, err := filepath.Glob(filepath.Join(root, s.Package, "*_test.go"))
	must(t, err)
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		must(t, err)
		return strings.Contains(string(text), "\nfunc "+s.Test+"(t *testing.T)")
	})
}

// passes runs the test with more flags of the build, which the programs that it builds are built
// with, too.
func (s Narrow) passes(t *testing.T, root, flags string) (out string, ok bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-timeout=5m", "-v", "-run=^"+s.Test+"$", "./"+s.Package)
	cmd.Dir, cmd.Env = root, append(os.Environ(), "RELAY_PROVE=", strings.TrimSpace("GOFLAGS="+os.Getenv("GOFLAGS")+flags))
	b, err := cmd.CombinedOutput()
	return string(b), err == nil && strings.Contains(string(b), "--- PASS: "+s.Test)
}

// compiles builds the packages that a sabotage edits.
func compiles(t *testing.T, s Sabotage, root, file string) {
	t.Helper()
	argv := []string{"build", "-o", os.DevNull, "-overlay", file}
	for _, e := range s.Edits {
		argv = append(argv, "./"+filepath.Dir(e.File))
	}
	cmd := exec.Command("go", argv...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", s.Name, err, out)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
