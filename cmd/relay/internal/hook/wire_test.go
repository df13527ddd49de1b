package hook

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"relay-pty/inject/agents"
)

// hooked is what a command line of Claude Code's sets: its words without the settings, and those.
func hooked(t *testing.T, argv []string) (words string, settings map[string]any) {
	t.Helper()
	at := slices.Index(argv, "--settings")
	if at < 0 {
		return strings.Join(argv, " "), nil
	}
	must(t, json.Unmarshal([]byte(argv[at+1]), &settings))
	return strings.Join(slices.Delete(slices.Clone(argv), at+1, at+2), " "), settings
}

// events lists how many hooks a setting has, by event.
func events(settings map[string]any) string {
	n := map[string]int{}
	hooks, _ := settings["hooks"].(map[string]any)
	for event, list := range hooks {
		n[event] = len(list.([]any))
	}
	return fmt.Sprint(n)
}

func TestWire(t *testing.T) {
	file := filepath.Join(t.TempDir(), "settings.json")
	const users = `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"mine"}]}]},"big":12345678901234567890}`
	must(t, os.WriteFile(file, []byte(users), 0o600))
	const ours = "map[Notification:1 PostToolUse:1 SessionStart:1 Stop:1 UserPromptSubmit:1]"
	const both = "map[Notification:1 PostToolUse:1 SessionStart:1 Stop:2 UserPromptSubmit:1]"
	const older = "map[Notification:1 PostToolUse:1 Stop:1 UserPromptSubmit:1]"
	for _, c := range []struct {
		name        string
		flags, argv string
		words, want string
		version     string
	}{
		{"claude", "", "/bin/claude -c", "/bin/claude --settings -c", ours, ""},
		{"its own profile", "--agent claude", "claude", "claude --settings", ours, ""},
		{"a user's settings", "", "claude -c --settings " + users + " x", "claude -c --settings x", both, ""},
		{"joined to the flag", "", "claude --settings=" + users + " x", "claude --settings x", both, ""},
		{"in a file", "", "claude --settings " + file, "claude --settings", both, ""},
		{"the last of two", "", "claude --settings {} --settings " + file, "claude --settings {} --settings", "", ""},
		{"behind the end of flags", "", "claude -- --settings {}", "claude --settings -- --settings {}", ours, ""},
		{"a release before hooks could wait", "", "claude", "claude --settings", older, "2.1.196 (Claude Code)\n"},
		{"a release that it does not tell", "", "claude", "claude --settings", older, "-"},
		{"a later one", "", "claude", "claude --settings", ours, "3.0.0"},
		{"another agent", "", "codex", "codex", "", ""},
		{"a program", "", "cat --settings {}", "cat --settings {}", "", ""},
		{"another profile", "--batch-max 1 --agent=generic", "claude", "claude", "", ""},
		{"an overlay", "--agent mine.json", "claude", "claude", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			argv := strings.Fields(c.argv)
			got := Wire("/opt/it's/relay", strings.Fields(c.flags), argv, func([]string) string { return cmp.Or(c.version, "2.1.329 (Claude Code)\n") })
			if c.name == "the last of two" {
				if got[2] != "{}" || !strings.Contains(got[4], `"mine"`) || !strings.Contains(got[4], "rewake") {
					t.Errorf("got %q", got)
				}
				return
			}
			if c.want == "" {
				if !slices.Equal(got, argv) {
					t.Errorf("got %q", got)
				}
				return
			}
			words, settings := hooked(t, got)
			if words != c.words || events(settings) != c.want {
				t.Errorf("got %q, %s; want %q, %s", words, events(settings), c.words, c.want)
			}
			if strings.Contains(c.argv, "big") && !strings.Contains(strings.Join(got, " "), `"big":12345678901234567890`) {
				t.Errorf("the user's number is another: %q", got)
			}
			if !strings.Contains(strings.Join(got, " "), `if [ -x '/opt/it'\\''s/relay' ]; then '/opt/it'\\''s/relay' hook claude PostToolUse; fi; exit 0`) {
				t.Errorf("our hook is not there: %q", got)
			}
		})
	}
	for _, odd := range []string{"{", "[]", "null", "nofile.json", `{"hooks":[]}`, `{"hooks":{"Stop":{}}}`} {
		argv := []string{"claude", "--settings", odd}
		if got := Wire("/relay", nil, argv, func([]string) string { return "2.1.329" }); !slices.Equal(got, argv) {
			t.Errorf("%s: got %q", odd, got)
		}
	}
}

// TestABrokenProgramFailsNoTurn: an agent takes a hook that ends with the status 2 for a veto, and
// a Go program that crashes ends so. A program that is killed, replaced or broken says nothing.
func TestABrokenProgramFailsNoTurn(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"crashes":     "#!/bin/sh\necho 'fatal error: newosproc' >&2\nexit 2\n",
		"killed":      "#!/bin/sh\nkill -9 $$\n",
		"cut off":     "\x7fELF(\n",
		"empty":       "",
		"not ours":    "#!/no/such/interpreter\n",
		"is a folder": "/",
		"gone":        "-",
	} {
		t.Run(name, func(t *testing.T) {
			program := filepath.Join(dir, name)
			var err error
			switch text {
			case "-":
			case "/":
				err = os.Mkdir(program, 0o700)
			default:
				err = os.WriteFile(program, []byte(text), 0o700)
			}
			must(t, err)
			for _, event := range []string{"PostToolUse", "UserPromptSubmit", "Stop"} {
				h, _, _ := agents.Hooked("claude", event)
				h.Signal, h.Waits = "turn_end", nil
				line := commands(program, "claude", h)[0].(map[string]any)["command"].(string)
				out, err := exec.Command("/bin/sh", "-c", line).Output()
				if err != nil || len(out) > 0 {
					t.Errorf("%s: %v, and it says %q", event, err, out)
				}
			}
		})
	}
}
