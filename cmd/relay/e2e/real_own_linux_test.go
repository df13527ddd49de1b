package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/fakemodel"
	"relay-pty/cmd/internal/testrig"
)

// hookedReleases are those of Claude Code to try: the newest that is pinned, and at full counts the
// other one, and the one at $RELAY_CLAUDE_NEWEST, which may be newer than any that is pinned.
func hookedReleases(t *testing.T) []agentrig.Agent {
	t.Helper()
	list := []agentrig.Agent{agentrig.Claude(agentrig.ClaudeNow), agentrig.Claude("2.1.197")}[:testrig.Runs(1, 2)]
	path := os.Getenv("RELAY_CLAUDE_NEWEST")
	if path == "" {
		return list
	}
	out, err := exec.Command(path, "--version").Output()
	version, _, ok := strings.Cut(string(out), " ")
	if err != nil || !ok {
		t.Fatalf("%s says that it is %q, %v", path, out, err)
	}
	must(t, os.Setenv("RELAY_CLAUDE_"+strings.ReplaceAll(version, ".", "_"), path)) // nobody else looks for that release
	return append(list, agentrig.Claude(version))
}

// mine is a tool of the user's own MCP server, as the model knows it, and what makes it call it.
const (
	mine     = "mcp__mine__list_agents"
	callMine = "ask the user's own server"
)

// usersOwn gives Claude Code a user who has hooks and an MCP server already.
func usersOwn(t *testing.T, home, relay string) {
	t.Helper()
	note := func(event string) any {
		command := map[string]any{"type": "command", "command": "echo " + event + " >>~/noted"}
		return []any{map[string]any{"hooks": []any{command}}}
	}
	settings := map[string]any{"model": "opus", "permissions": map[string]any{"allow": []string{"mcp__mine"}},
		"hooks": map[string]any{"Stop": note("Stop"), "PostToolUse": note("PostToolUse"), "SessionStart": note("SessionStart")}}
	text, err := json.MarshalIndent(settings, "", "   ")
	if err == nil {
		err = os.WriteFile(filepath.Join(home, ".claude", "settings.json"), text, 0o600)
	}
	must(t, err)
	// It speaks as somebody outside of the agent, which tells its answers from ours.
	server := map[string]any{"type": "stdio", "command": "env", "args": []string{
		"-u", "RELAY_AGENT", "-u", "RELAY_SOCKET", "-u", "RELAY_TOKEN", relay, "mcp", "--as", "mine"}}
	state := filepath.Join(home, ".claude.json")
	v := map[string]any{}
	if text, err = os.ReadFile(state); err == nil {
		err = json.Unmarshal(text, &v)
	}
	v["mcpServers"] = map[string]any{"mine": server}
	if err == nil {
		text, err = json.Marshal(v)
	}
	if err == nil {
		err = os.WriteFile(state, text, 0o600)
	}
	must(t, err)
}

// own is what the user has set: all of the settings byte by byte, and the MCP servers, which stand
// in a file in which Claude Code itself keeps counts.
func (h *hookedClaude) own() string {
	h.t.Helper()
	settings, err := os.ReadFile(filepath.Join(h.home, ".claude", "settings.json"))
	must(h.t, err)
	var state struct {
		Servers json.RawMessage `json:"mcpServers"`
	}
	text, err := os.ReadFile(filepath.Join(h.home, ".claude.json"))
	if err == nil {
		err = json.Unmarshal(text, &state)
	}
	var servers any
	if err == nil {
		err = json.Unmarshal(state.Servers, &servers)
	}
	plain, err2 := json.Marshal(servers)
	if err != nil || err2 != nil {
		h.t.Fatalf("the MCP servers in %s: %v, %v", text, err, err2)
	}
	return string(settings) + "\n" + string(plain)
}

// works checks that the user's own hooks have run at each moment of theirs, and that the model has
// the user's own MCP server.
func (h *hookedClaude) works() {
	h.t.Helper()
	before := len(h.api.Turns())
	h.asks(callMine)
	answered, err := h.api.WaitTurn(h.ctx, func(t fakemodel.Turn) bool { return t.N >= before && len(t.Results) > 0 })
	if told := strings.Join(answered.Results, "\n"); err != nil || !strings.Contains(told, `"you":"mine"`) {
		h.t.Errorf("the user's own MCP server told %q, %v", told, err)
	}
	h.rests()
	turns := h.api.Turns()
	noted, err := os.ReadFile(filepath.Join(h.home, "noted"))
	if err != nil {
		h.t.Error(err)
	}
	tools := 0
	for _, t := range turns {
		tools += len(t.Results)
	}
	for event, least := range map[string]int{"SessionStart": 1, "PostToolUse": tools, "Stop": 1} {
		if n := strings.Count(string(noted), event+"\n"); n < least {
			h.t.Errorf("the user's own hook of %s ran %d times, want %d", event, n, least)
		}
	}
}
