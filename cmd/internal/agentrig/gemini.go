package agentrig

import (
	"regexp"

	"relay-pty/cmd/internal/fakemodel"
)

// Gemini is Google's Gemini CLI, in one process: by default it starts itself again.
func Gemini() Agent {
	return Agent{
		Profile: "gemini", Version: "0.61.0", variable: "RELAY_GEMINI",
		packed: "gemini", program: "bundle/gemini.js", node: true,
		wire:     fakemodel.Gemini,
		Question: "Allow execution of",
		Recall:   "\x10",
		settle:   geminiSettle,
		Vim:      edits(geminiFile, func(v obj) { v["general"].(obj)["vimMode"] = true }),
		Tools:    stdio(geminiFile),
		unwrap:   func(text string) string { return resolved.ReplaceAllString(text, "@$1") },
		Startups: []Startup{
			{"trust", "Do you trust the files in this folder?", edits(geminiFile, func(v obj) { v["security"].(obj)["folderTrust"] = obj{"enabled": true} })},
			{"login", "How would you like to authenticate", edits(geminiFile, func(v obj) { delete(v["security"].(obj), "auth") })},
		},
	}
}

// resolved is the name of a file as Gemini CLI completes it on its way to the model: of "@work" it
// makes "@work.txt", puts a blank before it, and drops what white space alone parts two of them. So
// white space before a name counts on neither side.
var resolved = regexp.MustCompile(`\s*@(\w+)(?:\.txt)?\b`)

const geminiFile = ".gemini/settings.json"

// geminiPolicy lets it sleep unasked, as other agents do.
const geminiPolicy = `[[rule]]
toolName = "run_shell_command"
commandPrefix = "sleep"
decision = "allow"
priority = 100
`

func geminiSettle(h home, env []string) ([]string, error) {
	env = append(env, "GEMINI_API_KEY=dummy", "GOOGLE_GEMINI_BASE_URL="+h.baseURL, "GEMINI_CLI_NO_RELAUNCH=true")
	if err := h.write(".gemini/policies/rig.toml", geminiPolicy); err != nil {
		return nil, err
	}
	return env, h.write(geminiFile, obj{
		"security":  obj{"auth": obj{"selectedType": "gemini-api-key"}, "folderTrust": obj{"enabled": false}},
		"general":   obj{"disableAutoUpdate": true, "disableUpdateNag": true, "enableAutoUpdate": false, "enableAutoUpdateNotification": false},
		"privacy":   obj{"usageStatisticsEnabled": false},
		"telemetry": obj{"enabled": false},
		"ide":       obj{"hasSeenNudge": true, "enabled": false},
		"ui":        obj{"hideTips": true},
	})
}
