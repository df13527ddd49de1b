// Package rig is how tests start the Gemini CLI.
package rig

import (
	_ "embed"
	"path/filepath"

	"relay-pty/inject/agents/rig"
)

//go:embed pins.json
var pinned []byte

// All is Google's Gemini CLI, in one process: by default it starts itself again.
func All() []rig.Agent {
	return []rig.Agent{{
		Profile: "gemini", Pin: rig.Pins(pinned)[0], Variable: "RELAY_GEMINI",
		Node:     true,
		Wire:     "gemini",
		Idle:     ">   Type your message",
		Question: "Allow execution of",
		Recall:   "\x10",
		Settle:   settle,
		Vim:      rig.Edits(settings, func(v rig.Object) { v["general"].(rig.Object)["vimMode"] = true }),
		Tools:    rig.Stdio(settings),
		Looks:    looks,
		Hasty:    hasty,
		Unwrap:   rig.Files,
		Startups: []rig.Startup{
			{Name: "trust", Text: "Do you trust the files in this folder?", Change: rig.Edits(settings, func(v rig.Object) { v["security"].(rig.Object)["folderTrust"] = rig.Object{"enabled": true} })},
			{Name: "login", Text: "How would you like to authenticate", Change: rig.Edits(settings, func(v rig.Object) { delete(v["security"].(rig.Object), "auth") })},
		},
	}}
}

const settings = ".gemini/settings.json"

// policy lets it sleep unasked, as other agents do.
const policy = `[[rule]]
toolName = "run_shell_command"
commandPrefix = "sleep"
decision = "allow"
priority = 100
`

func settle(h rig.Home, env []string) ([]string, error) {
	env = append(env, "GEMINI_API_KEY=dummy", "GOOGLE_GEMINI_BASE_URL="+h.Base, "GEMINI_CLI_NO_RELAUNCH=true")
	if err := h.Write(".gemini/policies/rig.toml", policy); err != nil {
		return nil, err
	}
	return env, h.Write(settings, rig.Object{
		"security":  rig.Object{"auth": rig.Object{"selectedType": "gemini-api-key"}, "folderTrust": rig.Object{"enabled": false}},
		"general":   rig.Object{"disableAutoUpdate": true, "disableUpdateNag": true, "enableAutoUpdate": false, "enableAutoUpdateNotification": false},
		"privacy":   rig.Object{"usageStatisticsEnabled": false},
		"telemetry": rig.Object{"enabled": false},
		"ide":       rig.Object{"hasSeenNudge": true, "enabled": false},
		"ui":        rig.Object{"hideTips": true},
	})
}

// hasty has it try nothing again without asking, and wait for an answer for three seconds: that is
// an experiment of its makers', with this number. By default it tries again without end where a
// server is in trouble, and shows nothing of that.
func hasty(h rig.Home, env []string) ([]string, error) {
	const file = ".gemini/experiments.json"
	err := h.Write(file, rig.Object{"flags": []rig.Object{{"flagId": 45773134, "intValue": "3"}}})
	if err != nil {
		return nil, err
	}
	return rig.Set(settings, rig.Object{"general.maxAttempts": 1, "ui.errorVerbosity": "full"})(h, append(env, "GEMINI_EXP="+filepath.Join(h.Path, file)))
}
