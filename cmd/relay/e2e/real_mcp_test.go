package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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
	"relay-pty/cmd/internal/testrig/realagent"
	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/router"
)

// toolCaller is an agent whose model calls tools.
type toolCaller struct {
	agentrig.Agent
	namespace, name string                // of a server's tool as the agent calls it for its model
	file            string                // in which its user has an MCP server already; "": another test has that
	own             func(text []byte) any // what is added to it
	flags           []string              // which permit calls
	proves          bool                  // its log has the tools' answers
	strict          bool                  // it refuses wrong arguments itself, and keeps of its settings what it knows
}

// toolCall is a call of a tool, and what its answer must hold.
type toolCall struct {
	server, tool string
	arguments    map[string]any
	want         string
}

// toolCalls are all tools of relay, in the order in which a model calls them; m-late comes
// meanwhile.
var toolCalls = []toolCall{
	{"relay", "send_message", map[string]any{"to": "human", "body": "I am at it"}, `"to":"human","status":"`},
	{"relay", "check_inbox", map[string]any{}, "[relay m-late from human] a late word"},
	{"relay", "respond_direct", map[string]any{"message_id": "m-late", "response": "I have read it"}, `"to":"human","status":"`},
	{"relay", "message_status", map[string]any{"id": "m-late"}, `"status":"replied"`},
	{"relay", "reply_to_caller", map[string]any{"reply_message": "it is done", "correlation_id": "m-1"}, `"to":"human","status":"`},
	{"relay", "list_agents", map[string]any{}, `"you":"alice"`},
	{"relay", "remind_me", map[string]any{"delay": "1h", "message": "look again"}, `"status":"scheduled"`},
	{"relay", "wait_for_events", map[string]any{"after_event_seq": 0, "max_wait_ms": 0, "event_type": "message"}, `"cursor_event_seq":`},
	{"relay", "wait_for_events", map[string]any{"max_wait_ms": 1, "event_type": "message"}, `{"events":[],"cursor_event_seq":`},
	{"relay", "send_message", map[string]any{"to": "human"}, "missing_field: send_message needs body; it takes to, body, "},
}

// lastCall ends a turn: what came with its answer, a refusal, no further call acknowledges. m-last
// comes before it.
var lastCall = toolCall{"relay", "message_status", map[string]any{"id": "m-none"}, "[relay m-last from human] the last word"}

// TestRealAgentsCallTools: an agent that relay run starts has all of its tools, beside the user's
// own server, and no file of the user's changes by that. A message that a tool shows is not typed,
// too, and the agent's log proves one that came with the last call of a turn.
func TestRealAgentsCallTools(t *testing.T) {
	t.Parallel()
	joined := func(added string) func([]byte) any {
		return func(text []byte) any {
			v := map[string]any{}
			if err := errors.Join(json.Unmarshal(text, &v), json.Unmarshal([]byte(added), &v)); err != nil {
				return err
			}
			return v
		}
	}
	const apart = `"-u","RELAY_AGENT","-u","RELAY_SOCKET","-u","RELAY_TOKEN","relay","mcp","--as","mine"]`
	for _, c := range []toolCaller{
		{Agent: agentrig.Codex(), namespace: "mcp__%s", name: "%[2]s", proves: true, file: ".codex/config.toml", own: func(text []byte) any {
			return string(text) + "[mcp_servers.mine]\ncommand = \"relay\"\nargs = [\"mcp\", \"--as\", \"mine\"]\nenv_vars = [\"XDG_RUNTIME_DIR\", \"XDG_STATE_HOME\"]\n"
		}},
		{Agent: agentrig.OpenCode(), name: "%s_%s", file: ".config/opencode/opencode.json", own: joined(
			`{"$schema":"https://opencode.ai/config.json","mcp":{"mine":{"type":"local","command":["env",` + apart + `}}}`)}, // it else adds the first itself
		claudeCalls(agentrig.Claude(agentrig.ClaudeNow)),
		// It takes no server for one run, and takes the token out of its servers' environment.
		{Agent: agentrig.Gemini(), strict: true, name: "mcp_%s_%s", file: ".gemini/settings.json", own: joined(
			`{"mcpServers":{"relay":{"command":"relay","args":["mcp"],"trust":true},"mine":{"command":"env","args":[` + apart + `,"trust":true}}}`)},
		// It takes no server for one run beside the user's, and hides tools by default.
		{Agent: agentrig.Qwen(), strict: true, name: "mcp__%s__%s", file: ".qwen/settings.json", own: joined(`{"mcpServers":{` +
			`"relay":{"command":"relay","args":["mcp"],"trust":true,"alwaysLoadTools":true},` +
			`"mine":{"command":"env","args":[` + apart + `,"trust":true,"alwaysLoadTools":true}}}`)},
	}[:testrig.Runs(1, 5)] { // TestRealHooks has Claude Code call them, too
		t.Run(c.Name(), func(t *testing.T) {
			t.Parallel()
			ctx := testrig.Within(t, 2*time.Minute)
			c.callsTools(ctx, t)
		})
	}
}

// claudeCalls is Claude Code.
func claudeCalls(a agentrig.Agent) toolCaller {
	return toolCaller{Agent: a, name: "mcp__%s__%s", flags: []string{"--allowedTools", "mcp__relay"}, proves: true}
}

func (c toolCaller) callsTools(ctx context.Context, t *testing.T) {
	u := newUser(t)
	real := realagent.SetUp(t, c.Agent, testrig.Dir(t))
	file := filepath.Join(filepath.Dir(real.Dir), "home", c.file)
	if c.file != "" {
		c.has(t, file)
	}
	before, _ := os.ReadFile(file)
	env := append(real.Env, "PATH="+u.bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	u.runs(ctx, "alice", real.Dir, env, slices.Concat([]string{"--agent", c.Profile, "--"}, real.Argv, c.flags)...)
	c.callsAll(ctx, u, real.API)
	if after, _ := os.ReadFile(file); c.file != "" && !c.strict && !strings.HasPrefix(string(after), string(before)) { // Codex itself notes more there
		t.Errorf("the user's file is %s, and was %s", after, before)
	}
}

// callsAll has the model of an agent that runs, alice, call one tool after the other in a turn.
func (c toolCaller) callsAll(ctx context.Context, u *user, model *fakemodel.Server) {
	t, calls, first := u.t, toolCalls, len(model.Turns())
	t.Helper()
	if c.strict {
		calls = slices.DeleteFunc(slices.Clone(calls), func(call toolCall) bool { return strings.HasPrefix(call.want, "missing_field") })
	}
	if c.file != "" {
		calls = append(slices.Clone(calls), toolCall{"mine", "list_agents", map[string]any{}, `"you":"mine"`})
	}
	if c.proves {
		calls = append(slices.Clone(calls), lastCall)
	}
	var step atomic.Int64
	model.Respond(func(turn fakemodel.Turn) fakemodel.Reply {
		n := int(step.Add(1)) - 1
		if n >= len(calls) {
			return fakemodel.Say("That is all.")
		}
		call := calls[n]
		switch {
		case call.tool == "check_inbox":
			u.does(ctx, "send", "alice", "a late word", "--id", "m-late", "--until", "queued")
		case call.want == lastCall.want:
			u.does(ctx, "send", "alice", "the last word", "--id", "m-last", "--until", "queued")
		case n > 0 && calls[n-1].tool == call.tool: // it goes on where the last one ended
			call.arguments = maps.Clone(call.arguments)
			call.arguments["after_event_seq"] = cursorOf(strings.Join(turn.Results, ""))
		case call.tool == "wait_for_events": // all that follows is in one page
			call.arguments = maps.Clone(call.arguments)
			var late api.Message
			must(t, json.Unmarshal([]byte(u.does(ctx, "show", "m-late", "--json")), &late))
			call.arguments["after_event_seq"] = late.Seq
		}
		return fakemodel.Call(fmt.Sprintf(c.namespace, call.server), fmt.Sprintf(c.name, call.server, call.tool), call.arguments)
	})
	u.does(ctx, "send", "alice", "begin", "--id", "m-1", "--until", "delivered")
	u.sees(ctx, "the answer by a tool", func(e router.Event) bool { return e.Body == "I have read it" && e.ReplyTo == "m-late" })
	u.sees(ctx, "the message to be read", func(e router.Event) bool { return e.ID == "m-late" && e.Status == "delivered" })
	if _, err := model.WaitTurn(ctx, func(t fakemodel.Turn) bool { return t.N == first+len(calls) }); err != nil {
		t.Errorf("%d calls, and a turn with their last answer: %v", len(calls), err)
	}
	if c.proves {
		u.sees(ctx, "the log to prove the last", func(e router.Event) bool {
			return e.ID == "m-last" && e.Status == "delivered" && e.Evidence == "turn"
		})
	}
	c.told(t, calls, model.Turns()[first:])
	t.Log(u.does(ctx, "show", "m-late"))
}

// has gives the agent's user an MCP server.
func (c toolCaller) has(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	switch v := c.own(text).(type) {
	case string:
		text = []byte(v)
	default:
		if text, err = json.Marshal(v); err != nil {
			t.Fatal(err)
		}
	}
	must(t, os.WriteFile(file, text, 0o600))
}

// cursorOf is the cursor that an answer told, however it is wrapped.
func cursorOf(text string) int64 {
	text = strings.ReplaceAll(text, `\"`, `"`)
	var page api.Events
	if at := strings.Index(text, `{"events":`); at < 0 || json.NewDecoder(strings.NewReader(text[at:])).Decode(&page) != nil {
		return -9 // which is refused
	}
	return page.Cursor
}

// told checks what the calls answered, and that the late message came by a tool alone.
func (c toolCaller) told(t *testing.T, calls []toolCall, turns []fakemodel.Turn) {
	t.Helper()
	all, typed := "", ""
	for _, turn := range turns {
		all += strings.Join(turn.Results, "\n") + "\n"
		typed += turn.UserText()
	}
	for n, call := range calls {
		answer := ""
		if n+1 < len(turns) {
			answer = strings.ReplaceAll(strings.Join(turns[n+1].Results, "\n"), `\"`, `"`)
		}
		if !strings.Contains(answer, call.want) {
			t.Errorf("%s of %s answered %.600s, want %s", call.tool, call.server, answer, call.want)
		}
	}
	for _, header := range []string{"[relay m-late from human] a late word", lastCall.want} {
		most := 1
		if header == lastCall.want && !c.proves {
			most = 0
		}
		if strings.Count(all, header) != most || strings.Contains(typed, header) {
			t.Errorf("%s: the tools told %s\nand typed was %s", header, all, typed)
		}
	}
}
