package agentrig

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"

	"relay-pty/cmd/internal/fakemodel"
)

// OpenCode is OpenCode with its package for plugins in its home: without it, it
// waits for a registry.
func OpenCode() Agent {
	return Agent{
		Profile: "opencode", Version: openCodeVersion, variable: "RELAY_OPENCODE",
		packed: "opencode", program: "bin/opencode",
		wire:     fakemodel.Chat,
		Question: "Permission required",
		settle:   openCodeSettle,
		Tools:    openCodeTools,
		unwrap:   func(text string) string { return afterChip.ReplaceAllString(text, "$1") },
	}
}

// afterChip is the blank that OpenCode itself puts behind a paste which became a
// chip: at the end of a text, or before the footer of a message.
var afterChip = regexp.MustCompile(` (\s*\n\[end |$)`)

const (
	openCodeVersion = "1.18.33"
	openCodeConfig  = ".config/opencode"
)

func openCodeSettle(h home, env []string) ([]string, error) {
	env = append(env, "COLORTERM=truecolor", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1")
	err := h.write(openCodeConfig+"/opencode.json", obj{
		"autoupdate": false, "share": "disabled", "model": "fake/fake-model", "small_model": "fake/fake-model",
		"enabled_providers": []string{"fake"},
		"permission":        obj{"bash": obj{"*": "allow", "touch *": "ask"}},
		"provider": obj{"fake": obj{
			"npm": "@ai-sdk/openai-compatible", "name": "fake",
			"models":  obj{"fake-model": obj{"name": "Fake", "limit": obj{"context": 200000, "output": 8000}}},
			"options": obj{"baseURL": h.baseURL + "/v1", "apiKey": "x"},
		}},
	})
	if err != nil {
		return nil, err
	}
	return env, openCodePlugin(h)
}

func openCodeTools(argv ...string) Change {
	server := obj{"type": "local", "command": argv, "enabled": true}
	return edits(openCodeConfig+"/opencode.json", func(v obj) { v["mcp"] = obj{"rig": server} })
}

// openCodePlugin puts the package for plugins there as OpenCode itself does at the first start in a
// home. It looks whether the lock names what package.json does; where it does not, it asks the
// registry and unpacks 5000 files beside its work, at every first start.
func openCodePlugin(h home) error {
	wants := obj{"dependencies": obj{"@opencode-ai/plugin": openCodeVersion}}
	lock := obj{"lockfileVersion": 3, "packages": obj{"": wants}}
	err := errors.Join(h.write(openCodeConfig+"/package.json", wants), h.write(openCodeConfig+"/package-lock.json", lock))
	if err != nil {
		return err
	}
	from, err := cached("opencode-plugin-"+openCodeVersion, "")
	if err != nil {
		return err
	}
	return os.CopyFS(filepath.Join(h.path, openCodeConfig, "node_modules", "@opencode-ai", "plugin"), os.DirFS(from))
}
