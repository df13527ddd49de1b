// Package figures carries what tests have shown to the tables of testdata/evidence.md: `make prove`
// names a file, and each test appends a line of JSON to it.
package figures

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"testing"
)

// EnvFile names the file that figures are appended to. Without it they stand in the test's log
// alone.
const EnvFile = "RELAY_FIGURES"

// Figure is one row of a table: what was tried, and what it showed; or, with an agent, how many of
// how many messages held with that agent in a situation.
type Figure struct {
	What      string `json:"what,omitempty"`
	Shown     string `json:"shown,omitempty"`
	Agent     string `json:"agent,omitempty"`
	Situation string `json:"situation,omitempty"`
	Held      int    `json:"held,omitempty"`
	Of        int    `json:"of,omitempty"`
}

// Shown reports what a test has shown, unless the test has failed.
func Shown(t testing.TB, what, format string, args ...any) {
	t.Helper()
	add(t, Figure{What: what, Shown: fmt.Sprintf(format, args...)})
}

// Held reports how many of n messages held with an agent in a situation, unless the test has
// failed.
func Held(t testing.TB, agent, situation string, held, n int) {
	t.Helper()
	add(t, Figure{Agent: agent, Situation: situation, Held: held, Of: n})
}

func add(t testing.TB, f Figure) {
	t.Helper()
	if t.Failed() {
		return
	}
	line, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("FIGURE %s", line)
	path := os.Getenv(EnvFile)
	if path == "" {
		return
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = file.Write(append(line, '\n')) // at once, for packages append side by side
		file.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Read returns the figures of a file, in the order in which they were reported; none where the file
// does not exist.
func Read(path string) (all []Figure, err error) {
	file, err := os.Open(path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var f Figure
		if err := json.Unmarshal(lines.Bytes(), &f); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, f)
	}
	return all, lines.Err()
}
