package agentrig

import (
	"path/filepath"
	"regexp"
	"strings"

	"relay-pty/cmd/internal/fakemodel"
)

// ClaudeNow is the release that everything was measured with and that the user's guide speaks of;
// $RELAY_CLAUDE replaces it.
const ClaudeNow = "2.1.329"

const (
	claudeState    = ".claude.json" // what Claude Code has asked its user
	claudeSettings = ".claude/settings.json"
)

// Claude is a release of Claude Code.
func Claude(version string) Agent {
	variable := "RELAY_CLAUDE"
	if version != ClaudeNow {
		variable += "_" + strings.ReplaceAll(version, ".", "_")
	}
	return Agent{
		Profile: "claude", Version: version, variable: variable,
		packed: "claude-code-" + platform(), program: "claude",
		Args:     []string{"--permission-mode", "default"},
		wire:     fakemodel.Messages,
		Question: "Do you want to proceed?",
		settle:   func(h home, env []string) ([]string, error) { return claudeSettle(h, env, version) },
		unwrap:   func(text string) string { return fakemodel.Unwrap(claudeStopped.ReplaceAllString(text, "")) },
		Composes: true,
		Vim:      edits(claudeSettings, func(v obj) { v["editorMode"] = "vim" }),
		Tools:    stdio(claudeState),
		Startups: []Startup{
			{"theme", "Choose the text style", edits(claudeState, func(v obj) { delete(v, "hasCompletedOnboarding"); delete(v, "theme") })},
			{"trust", "Accessing workspace:", edits(claudeState, func(v obj) { delete(v, "projects") })},
			{"API key", "Do you want to use this API key?", edits(claudeState, func(v obj) { delete(v, "customApiKeyResponses") })},
		},
	}
}

// claudeStopped is what an Esc in a dialog leaves before the next prompt.
var claudeStopped = regexp.MustCompile(`^\[Request interrupted by user(?: for tool use)?\]\n*`)

// claudeSettle leaves nothing to ask and nothing to update.
func claudeSettle(h home, env []string, version string) ([]string, error) {
	env = append(env,
		"ANTHROPIC_BASE_URL="+h.baseURL, "ANTHROPIC_API_KEY=dummy",
		"CLAUDE_CODE_TMPDIR="+filepath.Join(filepath.Dir(h.path), "t"), // it does not heed TMPDIR
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "IS_SANDBOX=1")
	if err := h.write(claudeSettings, obj{}); err != nil {
		return nil, err
	}
	trusted := obj{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true, "projectOnboardingSeenCount": 5, "allowedTools": []string{}}
	return env, h.write(claudeState, obj{
		"hasCompletedOnboarding": true, "lastOnboardingVersion": version, "theme": "dark", "numStartups": 20, "autoUpdates": false,
		"customApiKeyResponses": obj{"approved": []string{"dummy"}, "rejected": []string{}}, "hasSeenTasksHint": true, "effortCalloutDismissed": true,
		"projects": obj{h.cwd: trusted},
	})
}
