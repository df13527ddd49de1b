package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/fakemodel"
	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/relay/internal/router"
)

// TestRealAgentsCallTools: Claude Code and Codex with relay in their settings as the README has them
// send a message and read one, which is not typed, too. What came with the last call of a turn, a
// refusal, no further call acknowledges: the agent's log proves it.
func TestRealAgentsCallTools(t *testing.T) {
	codexSettings := func(home string) error {
		f, err := os.OpenFile(filepath.Join(home, ".codex", "config.toml"), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = f.WriteString("[mcp_servers.relay]\ncommand = \"relay\"\nargs = [\"mcp\"]\n" +
			"env_vars = [\"RELAY_AGENT\", \"RELAY_SOCKET\", \"RELAY_TOKEN\", \"XDG_RUNTIME_DIR\", \"XDG_STATE_HOME\"]\n")
		return errors.Join(err, f.Close())
	}
	for _, c := range []struct {
		agent           agentrig.Agent
		namespace, name string // of a tool as the agent calls it for its model
		settings        func(home string) error
		flags           []string
	}{
		{agentrig.Claude("2.1.329"), "", "mcp__relay__", nil, []string{
			"--mcp-config", `{"mcpServers":{"relay":{"command":"relay","args":["mcp"]}}}`, "--allowedTools", "mcp__relay",
		}},
		{agentrig.Codex(), "mcp__relay", "", codexSettings, nil},
	} {
		t.Run(c.agent.Name(), func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeoutCause(t.Context(), 2*time.Minute, errors.New("not within 2m"))
			defer cancel()
			u := newUser(t)
			path, err := c.agent.Find()
			testrig.Require(t, c.agent.Name(), err)
			api, err := c.agent.API()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { api.Close() })
			dir := testrig.Dir(t)
			env, cwd, err := c.agent.Prepare(dir, api.URL())
			if err == nil && c.settings != nil {
				err = c.settings(filepath.Join(filepath.Dir(cwd), "home"))
			}
			if err != nil {
				t.Fatal(err)
			}
			env = append(env, "PATH="+u.bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			call := func(tool string, arguments map[string]any) fakemodel.Reply {
				return fakemodel.Call(c.namespace, c.name+tool, arguments)
			}
			var step atomic.Int64
			api.Respond = func(turn fakemodel.Turn) fakemodel.Reply {
				switch step.Add(1) {
				case 1:
					return call("send_message", map[string]any{"to": "human", "body": "I am at it"})
				case 2:
					u.does(ctx, "send", "alice", "a late word", "--id", "m-late", "--until", "queued")
					return call("check_inbox", map[string]any{})
				case 3:
					return call("respond_direct", map[string]any{"message_id": "m-late", "response": "I have read it"})
				case 4: // the turn's last call, which is refused
					u.does(ctx, "send", "alice", "the last word", "--id", "m-last", "--until", "queued")
					return call("message_status", map[string]any{"id": "m-none"})
				}
				return fakemodel.Say("That is all.")
			}
			u.runs(ctx, "alice", cwd, env, slices.Concat([]string{"--agent", c.agent.Profile, "--"}, c.agent.Argv(path), c.flags)...)
			u.does(ctx, "send", "alice", "begin", "--id", "m-1", "--until", "delivered")
			u.sees(ctx, "the answer by a tool", func(e router.Event) bool { return e.Body == "I have read it" && e.ReplyTo == "m-late" })
			u.sees(ctx, "the message to be read", func(e router.Event) bool { return e.ID == "m-late" && e.Status == "delivered" })
			u.sees(ctx, "the log to prove the last", func(e router.Event) bool {
				return e.ID == "m-last" && e.Status == "delivered" && e.Evidence == "turn"
			})
			const last = "[relay m-last from human] the last word"
			told := func(text string) func(fakemodel.Turn) bool {
				return func(t fakemodel.Turn) bool { return strings.Contains(strings.Join(t.Results, "\n"), text) }
			}
			if _, err := api.WaitTurn(ctx, told(last)); err != nil { // the log may be quicker
				t.Errorf("the model is not told the last word: %v", err)
			}
			const header = "[relay m-late from human] a late word"
			answers, typed := "", ""
			for _, turn := range api.Turns() {
				answers += strings.Join(turn.Results, "\n") + "\n"
				typed += turn.UserText()
			}
			if n := strings.Count(answers, last); n != 1 {
				t.Errorf("the last word was told %d times", n)
			}
			if !strings.Contains(answers, `"to":"human","status":"`) || strings.Count(answers, header) != 1 || strings.Contains(typed, header) {
				t.Errorf("the tools told %s\nand typed was %s", answers, typed)
			}
			t.Log(u.does(ctx, "show", "m-late"))
		})
	}
}
