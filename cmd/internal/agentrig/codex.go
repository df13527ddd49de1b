package agentrig

import (
	"encoding/json"
	"fmt"
	"strings"

	"relay-pty/cmd/internal/fakemodel"
)

// Codex is OpenAI's Codex CLI. Without its daemon nothing outlives the test.
func Codex() Agent {
	return Agent{
		Profile: "codex", Version: "0.169.0", variable: "RELAY_CODEX",
		packed: "codex", program: "vendor/*/bin/codex",
		Args:     []string{"--no-daemon"},
		wire:     fakemodel.Responses,
		Question: "Would you like to run the following command?",
		settle:   codexSettle,
		Vim:      codexVim,
		Tools:    codexTools,
		Startups: []Startup{
			{"trust", "Trust this folder?", codexTrust},
			{"hooks", "Hooks need review", codexHooks},
			{"login", "Sign in with ChatGPT", codexLogin},
		},
	}
}

const codexConfig = `model = "fake-model"
model_provider = "fake"
check_for_update_on_startup = false
[model_providers.fake]
name = "fake"
base_url = "%s/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
[analytics]
enabled = false
[notice]
hide_full_access_warning = true
`

func codexSettle(h home, env []string) ([]string, error) {
	return append(env, "FAKE_KEY=x"), codexTrusts(h, "")
}

// codexTrusts writes the settings, in which the directory is trusted, and more behind them.
func codexTrusts(h home, more string) error {
	trust := fmt.Sprintf("[projects.%q]\ntrust_level = \"trusted\"\n", h.cwd)
	return h.write(".codex/config.toml", fmt.Sprintf(codexConfig, h.baseURL)+trust+more)
}

func codexVim(h home, env []string) ([]string, error) {
	return env, codexTrusts(h, "[tui]\nvim_mode_default = true\n")
}

func codexTools(argv ...string) Change {
	return func(h home, env []string) ([]string, error) {
		args, err := json.Marshal(argv[1:]) // an array of strings is written the same in TOML
		if err != nil {
			return nil, err
		}
		return env, codexTrusts(h, fmt.Sprintf("[mcp_servers.rig]\ncommand = %q\nargs = %s\n", argv[0], args))
	}
}

// codexTrust makes Codex ask whether the directory is trusted.
func codexTrust(h home, env []string) ([]string, error) {
	return env, h.write(".codex/config.toml", fmt.Sprintf(codexConfig, h.baseURL))
}

// codexHooks makes Codex ask for a review of hooks that it does not know yet.
func codexHooks(h home, env []string) ([]string, error) {
	hook := obj{"type": "command", "command": "true"}
	return env, h.write(".codex/hooks.json", obj{"hooks": obj{"Stop": []obj{{"hooks": []obj{hook}}}}})
}

// codexLogin makes Codex ask how to sign in.
func codexLogin(h home, env []string) ([]string, error) {
	config := strings.Replace(fmt.Sprintf(codexConfig, h.baseURL), `env_key = "FAKE_KEY"`, "requires_openai_auth = true", 1)
	return env, h.write(".codex/config.toml", config)
}
