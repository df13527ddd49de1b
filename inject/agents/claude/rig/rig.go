// Package rig is how tests start Claude Code.
package rig

import (
	_ "embed"
	"path/filepath"
	"regexp"
	"strings"

	"relay-pty/inject/agents/rig"
)

//go:embed pins.json
var pinned []byte

const (
	state    = ".claude.json" // what Claude Code has asked its user
	settings = ".claude/settings.json"
)

// All are the releases that are pinned. Everything was measured with the first, of which the user's
// guide speaks.
func All() (list []rig.Agent) {
	for _, pin := range rig.Pins(pinned) {
		list = append(list, Release(pin.Version))
	}
	return list
}

// Release is any release. $RELAY_CLAUDE replaces the first that is pinned.
func Release(version string) rig.Agent {
	pin, variable := rig.Pins(pinned)[0], "RELAY_CLAUDE"
	if version != pin.Version {
		variable += "_" + strings.ReplaceAll(version, ".", "_")
	}
	pin.Version = version
	return rig.Agent{
		Profile: "claude", Pin: pin, Variable: variable,
		Args:     []string{"--permission-mode", "default"},
		Wire:     "messages",
		Idle:     "❯\u00a0\n",
		Question: "Do you want to proceed?",
		Ask:      "AskUserQuestion",
		Settle:   func(h rig.Home, env []string) ([]string, error) { return settle(h, env, version) },
		Unwrap:   func(text string) string { return stopped.ReplaceAllString(text, "") },
		Composes: true,
		Vim:      rig.Edits(settings, func(v rig.Object) { v["editorMode"] = "vim" }),
		Tools:    rig.Stdio(state),
		Looks:    looks,
		Hasty:    hasty,
		Startups: []rig.Startup{
			{Name: "theme", Text: "Choose the text style", Change: rig.Edits(state, func(v rig.Object) { delete(v, "hasCompletedOnboarding"); delete(v, "theme") })},
			{Name: "trust", Text: "Accessing workspace:", Change: rig.Edits(state, func(v rig.Object) { delete(v, "projects") })},
			{Name: "API key", Text: "Do you want to use this API key?", Change: rig.Edits(state, func(v rig.Object) { delete(v, "customApiKeyResponses") })},
		},
	}
}

// hasty has it try once more, and wait for an answer for three seconds.
func hasty(_ rig.Home, env []string) ([]string, error) {
	return append(env, "CLAUDE_CODE_MAX_RETRIES=1", "API_TIMEOUT_MS=3000"), nil
}

// stopped is what an Esc in a dialog leaves before the next prompt.
var stopped = regexp.MustCompile(`^\[Request interrupted by user(?: for tool use)?\]\n*`)

// settle leaves nothing to ask and nothing to update.
func settle(h rig.Home, env []string, version string) ([]string, error) {
	env = append(env,
		"ANTHROPIC_BASE_URL="+h.Base, "ANTHROPIC_API_KEY=dummy",
		"CLAUDE_CODE_TMPDIR="+filepath.Join(filepath.Dir(h.Path), "t"), // it does not heed TMPDIR
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "IS_SANDBOX=1")
	if err := h.Write(settings, rig.Object{}); err != nil {
		return nil, err
	}
	trusted := rig.Object{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true, "projectOnboardingSeenCount": 5, "allowedTools": []string{}}
	return env, h.Write(state, rig.Object{
		"hasCompletedOnboarding": true, "lastOnboardingVersion": version, "theme": "dark", "numStartups": 20, "autoUpdates": false,
		"customApiKeyResponses": rig.Object{"approved": []string{"dummy"}, "rejected": []string{}}, "hasSeenTasksHint": true, "effortCalloutDismissed": true,
		"projects": rig.Object{h.CWD: trusted},
	})
}
