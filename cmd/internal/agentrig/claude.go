package agentrig

import (
	"regexp"
	"strings"

	"relay-pty/cmd/internal/fakemodel"
	"relay-pty/cmd/internal/scratch"
)

// ClaudeNow is the release that everything was measured with and that the user's guide speaks of;
// $RELAY_CLAUDE replaces it.
const ClaudeNow = "2.1.329"

// Claude is a release of Claude Code.
func Claude(version string) Agent {
	variable := "RELAY_CLAUDE"
	if version != ClaudeNow {
		variable += "_" + strings.ReplaceAll(version, ".", "_")
	}
	return Agent{
		Profile: "claude", Version: version, variable: variable,
		packed: "claude-code-" + platform(), program: "claude",
		args:     []string{"--permission-mode", "default"},
		wire:     fakemodel.Messages,
		question: "Do you want to proceed?",
		settle: func(h home, _ []string) ([]string, error) {
			env, _, err := scratch.Claude(h.dir, h.baseURL, version)
			return env, err
		},
		unwrap: claudeUnwrap, composes: true,
		vim: claudeVim, tools: claudeTools,
		startups: []Startup{
			{"theme", "Choose the text style", ClaudeTheme},
			{"trust", "Accessing workspace:", ClaudeTrust},
			{"API key", "Do you want to use this API key?", ClaudeKey},
		},
	}
}

// claudeStopped is what an Esc in a dialog leaves before the next prompt.
var claudeStopped = regexp.MustCompile(`^\[Request interrupted by user(?: for tool use)?\]\n*`)

func claudeUnwrap(text string) string {
	return fakemodel.Unwrap(claudeStopped.ReplaceAllString(text, ""))
}

// ClaudeTheme makes Claude Code begin with the choice of a theme.
func ClaudeTheme(h home, env []string) ([]string, error) {
	return env, h.edit(".claude.json", func(v obj) { delete(v, "hasCompletedOnboarding"); delete(v, "theme") })
}

// ClaudeTrust makes Claude Code ask whether the directory is trusted.
func ClaudeTrust(h home, env []string) ([]string, error) {
	return env, h.edit(".claude.json", func(v obj) { delete(v, "projects") })
}

// ClaudeKey makes Claude Code ask whether to use the key of the environment.
func ClaudeKey(h home, env []string) ([]string, error) {
	return env, h.edit(".claude.json", func(v obj) { delete(v, "customApiKeyResponses") })
}

func claudeVim(h home, env []string) ([]string, error) {
	return env, h.edit(".claude/settings.json", func(v obj) { v["editorMode"] = "vim" })
}

func claudeTools(argv []string) Change {
	return func(h home, env []string) ([]string, error) {
		return env, h.edit(".claude.json", func(v obj) { v["mcpServers"] = stdio(argv) })
	}
}
