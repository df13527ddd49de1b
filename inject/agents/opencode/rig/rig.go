// Package rig is how tests start OpenCode.
package rig

import (
	_ "embed"
	"errors"
	"os"
	"path/filepath"
	"regexp"

	"relay-pty/inject/agents/rig"
)

//go:embed pins.json
var pinned []byte

// All is OpenCode with its package for plugins in its home: without it, it
// waits for a registry.
func All() []rig.Agent {
	return []rig.Agent{{
		Profile: "opencode", Pin: rig.Pins(pinned)[0], Variable: "RELAY_OPENCODE",
		Wire:     "chat",
		Idle:     "┃  Build · Fake",
		Question: "Permission required",
		Ask:      "question",
		Settle:   settle,
		Tools:    tools,
		Looks:    looks,
		Hasty:    hasty,
		Unwrap:   func(text string) string { return afterChip.ReplaceAllString(text, "$1") },
	}}
}

// afterChip is the blank that OpenCode itself puts behind a paste which became a
// chip: at the end of a text, or before the footer of a message.
var afterChip = regexp.MustCompile(` (\s*\n\[end |$)`)

const config = ".config/opencode"

func settle(h rig.Home, env []string) ([]string, error) {
	env = append(env, "COLORTERM=truecolor", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1")
	err := h.Write(config+"/opencode.json", rig.Object{
		"autoupdate": false, "share": "disabled", "model": "fake/fake-model", "small_model": "fake/fake-model",
		"enabled_providers": []string{"fake"},
		"permission":        rig.Object{"bash": rig.Object{"*": "allow", "touch *": "ask"}},
		"provider": rig.Object{"fake": rig.Object{
			"npm": "@ai-sdk/openai-compatible", "name": "fake",
			"models":  rig.Object{"fake-model": rig.Object{"name": "Fake", "limit": rig.Object{"context": 200000, "output": 8000}}},
			"options": rig.Object{"baseURL": h.Base + "/v1", "apiKey": "x"},
		}},
	})
	if err != nil {
		return nil, err
	}
	return env, plugin(h)
}

// hasty has it wait for three seconds for what comes next. How often it tries again is no setting.
func hasty(h rig.Home, env []string) ([]string, error) {
	waits := rig.Object{"provider.fake.options.headerTimeout": 3000, "provider.fake.options.chunkTimeout": 3000}
	return rig.Set(config+"/opencode.json", waits)(h, env)
}

func tools(argv ...string) rig.Change {
	server := rig.Object{"type": "local", "command": argv, "enabled": true}
	return rig.Edits(config+"/opencode.json", func(v rig.Object) { v["mcp"] = rig.Object{"rig": server} })
}

// plugin puts the package for plugins there as OpenCode itself does at the first start in a
// home. It looks whether the lock names what package.json does; where it does not, it asks the
// registry and unpacks 5000 files beside its work, at every first start.
func plugin(h rig.Home) error {
	pin := rig.Pins(pinned)[1]
	wants := rig.Object{"dependencies": rig.Object{"@opencode-ai/plugin": pin.Version}}
	lock := rig.Object{"lockfileVersion": 3, "packages": rig.Object{"": wants}}
	err := errors.Join(h.Write(config+"/package.json", wants), h.Write(config+"/package-lock.json", lock))
	if err != nil {
		return err
	}
	from, err := rig.Cached(pin)
	if err != nil {
		return err
	}
	return os.CopyFS(filepath.Join(h.Path, config, "node_modules", "@opencode-ai", "plugin"), os.DirFS(filepath.Dir(from)))
}
