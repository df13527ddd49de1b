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

// TestNameAmongFlags: the agent's name may stand in front of relay-pty's flags, behind them or
// among them.
func TestNameAmongFlags(t *testing.T) {
	for line, want := range map[string]struct{ name, flags, err string }{
		"":                                   {},
		"alice":                              {name: "alice"},
		"alice --headless --size 80x24":      {"alice", "--headless --size 80x24", ""},
		"--headless alice":                   {"alice", "--headless", ""},
		"--draft-timeout 30s":                {flags: "--draft-timeout 30s"},
		"--draft-timeout 30s alice":          {"alice", "--draft-timeout 30s", ""},
		"--draft-timeout=30s alice":          {"alice", "--draft-timeout=30s", ""},
		"--size 80x24 alice --ephemeral":     {"alice", "--size 80x24 --ephemeral", ""},
		"--headless --prompt-pattern ^-$ a1": {"a1", "--headless --prompt-pattern ^-$", ""},
		"alice bob":                          {err: "two names, alice and bob: an agent has one, and its command stands behind --"},
		"a/b":                                {err: "the name: "},
		"--headless human":                   {err: "the name: "},
	} {
		name, flags, err := Named(strings.Fields(line))
		if name != want.name || strings.Join(flags, " ") != want.flags || (err == nil) != (want.err == "") || err != nil && !strings.HasPrefix(err.Error(), want.err) {
			t.Errorf("%q: %q, %q, %v; want %+v", line, name, flags, err, want)
		}
	}
}
