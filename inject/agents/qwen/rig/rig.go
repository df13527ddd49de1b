// Package rig is how tests start Qwen Code.
package rig

import (
	_ "embed"

	"relay-pty/inject/agents/rig"
)

//go:embed pins.json
var pinned []byte

// All is Qwen Code, in two processes rather than three.
func All() []rig.Agent {
	return []rig.Agent{{
		Profile: "qwen", Pin: rig.Pins(pinned)[0], Variable: "RELAY_QWEN",
		Node:     true,
		Wire:     "chat",
		Idle:     ">   Type your message",
		Question: "Allow execution of",
		Settle:   settle,
		Unwrap:   rig.Files,
		Longest:  32 << 10,
		Tools:    rig.Stdio(settings),
	}}
}

const settings = ".qwen/settings.json"

func settle(h rig.Home, env []string) ([]string, error) {
	env = append(env, "OPENAI_API_KEY=x", "OPENAI_BASE_URL="+h.Base+"/v1", "OPENAI_MODEL=fake-model", "QWEN_CODE_NO_RELAUNCH=true")
	return env, h.Write(settings, rig.Object{
		"security":    rig.Object{"auth": rig.Object{"selectedType": "openai"}, "folderTrust": rig.Object{"enabled": false}},
		"general":     rig.Object{"enableAutoUpdate": false},
		"privacy":     rig.Object{"usageStatisticsEnabled": false},
		"ui":          rig.Object{"enableFollowupSuggestions": false, "hideTips": true, "showScrollbar": false},
		"memory":      rig.Object{"enableManagedAutoMemory": false, "enableManagedAutoDream": false},
		"tools":       rig.Object{"approvalMode": "default", "useRipgrep": false},
		"permissions": rig.Object{"allow": []string{"Bash(sleep *)"}},
	})
}
