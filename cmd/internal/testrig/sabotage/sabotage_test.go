package sabotage

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// TestEditsFitTheSource: a sabotage that does not fit any more would prove nothing.
func TestEditsFitTheSource(t *testing.T) {
	t.Parallel()
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, s := range All() {
		if names[s.Name] || len(s.CaughtBy) == 0 || len(s.Edits) == 0 {
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

// compiles builds the packages that a sabotage edits.
func compiles(t *testing.T, s Sabotage, root, file string) {
	t.Helper()
	argv := []string{"build", "-overlay", file}
	for _, e := range s.Edits {
		argv = append(argv, "./"+filepath.Dir(e.File))
	}
	cmd := exec.Command("go", argv...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", s.Name, err, out)
	}
}
