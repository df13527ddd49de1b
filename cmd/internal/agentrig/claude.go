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

// claudeState is the file in which Claude Code keeps what it has asked its user.
const claudeState = ".claude.json"

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
		vim:   edits(".claude/settings.json", func(v obj) { v["editorMode"] = "vim" }),
		tools: claudeTools,
		startups: []Startup{
			{"theme", "Choose the text style", edits(claudeState, func(v obj) { delete(v, "hasCompletedOnboarding"); delete(v, "theme") })},
			{"trust", "Accessing workspace:", edits(claudeState, func(v obj) { delete(v, "projects") })},
			{"API key", "Do you want to use this API key?", edits(claudeState, func(v obj) { delete(v, "customApiKeyResponses") })},
		},
	}
}

// claudeStopped is what an Esc in a dialog leaves before the next prompt.
var claudeStopped = regexp.MustCompile(`^\[Request interrupted by user(?: for tool use)?\]\n*`)

func claudeUnwrap(text string) string {
	return fakemodel.Unwrap(claudeStopped.ReplaceAllString(text, ""))
}

func claudeTools(argv []string) Change {
	return edits(claudeState, func(v obj) { v["mcpServers"] = stdio(argv) })
}
