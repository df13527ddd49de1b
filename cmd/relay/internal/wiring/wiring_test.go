package wiring

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const self = `/opt/the "relay"`

// started is how the agent of a command line is started, for one variable.
func started(t *testing.T, agent, argv, variable string, env ...string) (words []string, value string) {
	t.Helper()
	r := Run{Self: self, Agent: agent, Argv: strings.Fields(argv), Env: env}
	words, env = r.Server()
	r.Env = env
	return words, r.given(variable)
}

func TestServerByWords(t *testing.T) {
	const claude = `--mcp-config={"mcpServers":{"relay":{"type":"stdio","command":"/opt/the \"relay\"","args":["mcp"]}}}`
	const codex = `mcp_servers.relay={command="/opt/the \"relay\"",args=["mcp"],env_vars=["RELAY_AGENT","RELAY_SOCKET","RELAY_TOKEN","XDG_RUNTIME_DIR","XDG_STATE_HOME","XDG_CONFIG_HOME"]}`
	for _, c := range []struct {
		agent, argv string
		want        []string
	}{
		{"", "/bin/claude -c", []string{"/bin/claude", claude, "-c"}},
		{"claude", "claude", []string{"claude", claude}},
		{"", "codex resume", []string{"codex", "-c", codex, "resume"}},
		{"generic", "claude -c", []string{"claude", "-c"}},
		{"mine.json", "claude -c", []string{"claude", "-c"}},
		{"", "npx claude", []string{"npx", "claude", claude}},
		{"", "sh -c claude", []string{"sh", "-c", "claude '" + claude + "'"}},
		{"claude", "cc-dev", []string{"cc-dev"}}, // which may take no words
		{"", "gemini", []string{"gemini"}},
		{"", "cat x", []string{"cat", "x"}},
		{"", "bash", []string{"bash"}},
	} {
		if words, _ := started(t, c.agent, c.argv, ""); !slices.Equal(words, c.want) {
			t.Errorf("%s as %q: got %q, want %q", c.argv, c.agent, words, c.want)
		}
	}
}

func TestServerByAVariable(t *testing.T) {
	const v = "OPENCODE_CONFIG_CONTENT"
	const ours = `"relay":{"command":["/opt/the \"relay\"","mcp"],"type":"local"}`
	for _, c := range []struct{ given, want string }{
		{"", `{"mcp":{` + ours + `}}`},
		{`{"model":"x","n":12345678901234567890}`, `{"mcp":{` + ours + `},"model":"x","n":12345678901234567890}`},
		{`{"mcp":{"mine":{"type":"local"}}}`, `{"mcp":{"mine":{"type":"local"},` + ours + `}}`},
		{`{"mcp":{"relay":{"command":["theirs"]}}}`, `{"mcp":{"relay":{"command":["theirs"]}}}`},
		{`{"mcp":null}`, `{"mcp":{` + ours + `}}`},
		{`{ // a comment
			}`, "{ // a comment\n\t\t\t}"},
		{`[]`, `[]`},
		{`null`, `null`},
	} {
		if _, value := started(t, "", "opencode", v, "X=1", v+"=old", v+"="+c.given); value != c.want {
			t.Errorf("%s: got %s, want %s", c.given, value, c.want)
		}
	}
	if _, value := started(t, "opencode", "npx opencode", v); value != `{"mcp":{`+ours+`}}` {
		t.Errorf("what starts it got %s", value)
	}
	if _, value := started(t, "generic", "opencode", v); value != "" {
		t.Errorf("another kind of agent got %s", value)
	}
}

func TestWhereServersAreRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "managed")
	if exists(file) {
		t.Error("the file is there before it is written")
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if !exists(file) {
		t.Error("the file is not found")
	}
}
