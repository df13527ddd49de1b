// Package sabotage builds wrappers that break a promise, each in one way, to see that
// the books of a run tell it. The source stays as it is: the changes are an overlay of
// the build.
package sabotage

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Edit replaces a piece of a source file, which must be in it exactly once.
type Edit struct {
	File     string // from the module's root
	Old, New string
}

// Sabotage is a wrapper that breaks a promise.
type Sabotage struct {
	Name  string
	Edits []Edit
	// CaughtBy are the invariants of package books of which one must be found broken.
	CaughtBy []string
	Fails    string // what the run itself may fail with instead: those who follow events notice some things first
	Provoke  Provoke
}

// Provoke is what a run needs for the breach to show; see storm.Config. Zero counts are
// the test's own.
type Provoke struct {
	Programs []string // one agent of each
	Kinds    []string
	Faults   int
	Messages int
	Typing   bool
}

// Overlay writes the changed files into dir, and the overlay file that names them. An
// edit that does not fit the source is an error: the source has moved on.
func (s Sabotage) Overlay(root, dir string) (string, error) {
	changed := map[string]string{}
	for _, e := range s.Edits {
		path := filepath.Join(root, e.File)
		text, seen := changed[path]
		if !seen {
			b, err := os.ReadFile(path)
			if err != nil {
				return "", err
			}
			text = string(b)
		}
		if n := strings.Count(text, e.Old); n != 1 {
			return "", fmt.Errorf("sabotage %q: %s has %d times, want once:\n%s", s.Name, e.File, n, e.Old)
		}
		changed[path] = strings.Replace(text, e.Old, e.New, 1)
	}
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for path, text := range changed {
		file := filepath.Join(dir, fmt.Sprintf("%d-%s", len(overlay.Replace), filepath.Base(path)))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return "", err
		}
		overlay.Replace[path] = file
	}
	b, err := json.Marshal(overlay)
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "overlay.json")
	return file, os.WriteFile(file, b, 0o600)
}

// Root is the directory of the module that the working directory is in.
func Root() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}

// Build builds the wrapper as users get it, with the sabotage, and returns its path in dir.
func Build(dir string, s Sabotage) (bin string, err error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	overlay, err := s.Overlay(root, dir)
	if err != nil {
		return "", err
	}
	cmd := exec.Command("make", "-s", "-C", root, "build", "BIN="+dir)
	cmd.Env = append(os.Environ(), strings.TrimSpace("GOFLAGS="+os.Getenv("GOFLAGS")+" -overlay="+overlay))
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("sabotage %q: build: %w\n%s", s.Name, err, out)
	}
	return filepath.Join(dir, "relay-pty"), nil
}
