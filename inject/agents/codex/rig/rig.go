// Package rig is how tests start the Codex CLI.
package rig

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"relay-pty/inject/agents/rig"
)

//go:embed pins.json
var pinned []byte

// All is OpenAI's Codex CLI. Without its daemon nothing outlives the test.
func All() []rig.Agent {
	return []rig.Agent{{
		Profile: "codex", Pin: rig.Pins(pinned)[0], Variable: "RELAY_CODEX",
		Args:     []string{"--no-daemon"},
		Wire:     "responses",
		Idle:     "› Ask Codex to do",
		Question: "Would you like to run the following command?",
		Settle:   settle,
		Vim:      vim,
		Tools:    tools,
		Looks:    looks,
		Hasty:    hasty,
		Startups: []rig.Startup{
			{Name: "trust", Text: "Trust this folder?", Change: trust},
			{Name: "hooks", Text: "Hooks need review", Change: hooks},
			{Name: "login", Text: "Sign in with ChatGPT", Change: login},
		},
	}}
}

const config = `model = "fake-model"
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

func settle(h rig.Home, env []string) ([]string, error) {
	return append(env, "FAKE_KEY=x"), trusts(h, "")
}

// trusts writes the settings, in which the directory is trusted, and more behind them.
func trusts(h rig.Home, more string) error {
	trusted := fmt.Sprintf("[projects.%q]\ntrust_level = \"trusted\"\n", h.CWD)
	return h.Write(".codex/config.toml", fmt.Sprintf(config, h.Base)+trusted+more)
}

// hasty has it try once more, and wait for three seconds for what comes next. At a limit it offers
// no other model.
func hasty(h rig.Home, env []string) ([]string, error) {
	file := filepath.Join(h.Path, ".codex/config.toml")
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	more := strings.NewReplacer(
		"[model_providers.fake]\n", "[model_providers.fake]\nrequest_max_retries = 1\nstream_max_retries = 1\nstream_idle_timeout_ms = 3000\n",
		"[notice]\n", "[notice]\nhide_rate_limit_model_nudge = true\n")
	return env, h.Write(".codex/config.toml", more.Replace(string(text)))
}

func vim(h rig.Home, env []string) ([]string, error) {
	return env, trusts(h, "[tui]\nvim_mode_default = true\n")
}

func tools(argv ...string) rig.Change {
	return func(h rig.Home, env []string) ([]string, error) {
		args, err := json.Marshal(argv[1:]) // an array of strings is written the same in TOML
		if err != nil {
			return nil, err
		}
		return env, trusts(h, fmt.Sprintf("[mcp_servers.rig]\ncommand = %q\nargs = %s\n", argv[0], args))
	}
}

// trust makes Codex ask whether the directory is trusted.
func trust(h rig.Home, env []string) ([]string, error) {
	return env, h.Write(".codex/config.toml", fmt.Sprintf(config, h.Base))
}

// hooks makes Codex ask for a review of hooks that it does not know yet.
func hooks(h rig.Home, env []string) ([]string, error) {
	hook := rig.Object{"type": "command", "command": "true"}
	return env, h.Write(".codex/hooks.json", rig.Object{"hooks": rig.Object{"Stop": []rig.Object{{"hooks": []rig.Object{hook}}}}})
}

// login makes Codex ask how to sign in.
func login(h rig.Home, env []string) ([]string, error) {
	text := strings.Replace(fmt.Sprintf(config, h.Base), `env_key = "FAKE_KEY"`, "requires_openai_auth = true", 1)
	return env, h.Write(".codex/config.toml", text)
}
