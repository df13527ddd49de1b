package sabotage

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
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
		parses(t, s.Name, file)
		if os.Getenv("RELAY_PROVE") != "" {
			compiles(t, s.Name, root, file)
		}
	}
	if len(names) < 10 {
		t.Errorf("%d sabotages, want 10 at least", len(names))
	}
}

func parses(t *testing.T, name, file string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var overlay struct{ Replace map[string]string }
	if err := json.Unmarshal(b, &overlay); err != nil {
		t.Fatal(err)
	}
	for _, changed := range overlay.Replace {
		if _, err := parser.ParseFile(token.NewFileSet(), changed, nil, 0); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func compiles(t *testing.T, name, root, file string) {
	t.Helper()
	cmd := exec.Command("go", "build", "-overlay", file, "-o", os.DevNull, "./cmd/relay-pty")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", name, err, out)
	}
}
