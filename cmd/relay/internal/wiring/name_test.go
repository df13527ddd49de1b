package wiring

import (
	"errors"
	"strings"
	"testing"

	"relay-pty/protocol"
)

func TestNamesAreMadeFromCommands(t *testing.T) {
	runs := map[string]bool{"claude": true, "claude-2": true, "bash": true}
	taken := func(name string) (bool, error) { return runs[name], nil }
	for line, want := range map[string]string{
		"claude":                "claude-3",
		"env X=1 /opt/claude":   "claude-3",
		"codex resume":          "codex",
		"bash":                  "bash-2",
		"./my agent":            "my",
		"human":                 "human-2",
		"日本":                    "agent",
		"-x":                    "x",
		strings.Repeat("a", 99): strings.Repeat("a", maxStem),
	} {
		got, err := Name(strings.Fields(line), taken)
		if err != nil || got != want || protocol.ValidName(got) != nil {
			t.Errorf("%q: %q, %v, want %q", line, got, err, want)
		}
	}
	fails := errors.New("cannot be read")
	if _, err := Name([]string{"x"}, func(string) (bool, error) { return false, fails }); err != fails {
		t.Errorf("got %v, want %v", err, fails)
	}
}
