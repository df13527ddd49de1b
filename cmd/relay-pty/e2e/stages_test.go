package e2e

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"relay-pty/cmd/internal/testrig/agents"
)

// TestLogTellsTheStages: with --log-level debug the log tells each stage that a message goes
// through, and without it none.
func TestLogTellsTheStages(t *testing.T) {
	t.Parallel()
	for level, want := range map[string][]string{
		"debug": {"opened", "typing", "showing", "confirming", "ended"},
		"info":  nil,
	} {
		t.Run(level, func(t *testing.T) {
			t.Parallel()
			f := startFake(t, "composer", agents.Config{}, "--agent", "claude", "--log-level", level)
			f.state("ready")
			f.inject("m1", "hello")
			f.delivers("m1", "submitted", "turn")
			if got := stagesIn(t, f.log); !slices.Equal(got, want) {
				t.Errorf("the log tells %q, want %q", got, want)
			}
		})
	}
}

// stagesIn are the stages that a log tells.
func stagesIn(t *testing.T, log string) (stages []string) {
	t.Helper()
	file, err := os.Open(log)
	must(t, err)
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var row struct{ Message, To string }
		must(t, json.Unmarshal(lines.Bytes(), &row))
		if row.Message == "stage" {
			stages = append(stages, row.To)
		}
	}
	return stages
}
