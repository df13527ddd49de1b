package tools

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/router"
)

// ran makes names known as those of agents.
func (r *rig) ran(names ...string) {
	r.t.Helper()
	for _, name := range names {
		e := router.Event{EventID: "up-" + name, Type: router.TypeUp, Agent: name, Timestamp: time.Now().UnixMilli()}
		if err := r.hub.Record(r.t.Context(), e); err != nil {
			r.t.Fatal(err)
		}
	}
}

// TestResources: what a user puts before an agent by its address, and that nothing counts as read
// by it.
func TestResources(t *testing.T) {
	r := newRig(t)
	r.ran("alice", "bob")
	alice := r.caller("alice")
	if _, err := r.api.Send(t.Context(), api.Send{From: "bob", To: "alice", Body: "look at this", ID: "m-x"}); err != nil {
		t.Fatal(err)
	}
	list, err := alice.ListResources(t.Context(), nil)
	templates, err2 := alice.ListResourceTemplates(t.Context(), nil)
	if err != nil || err2 != nil || len(list.Resources) != 3 || len(templates.ResourceTemplates) != 2 {
		t.Fatalf("%v %v: %+v %+v", err, err2, list, templates)
	}
	for uri, want := range map[string]string{
		"relay://agents":             `"name": "bob"`,
		"relay://messages":           `"body": "look at this"`,
		"relay://guide":              "->relay:NAME",
		"relay://messages/m-x":       `"from": "bob"`,
		"relay://messages/%6d-x":     `"from": "bob"`,
		"relay://messages/m-none":    "!not found",
		"relay://agents/carl/screen": "!not found",
		"relay://agents/bob/screen":  "!bob does not run",
		"relay://nothing":            "!not found",
	} {
		got, err := alice.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		if fails, want := strings.HasPrefix(want, "!"), strings.TrimPrefix(want, "!"); fails {
			if err == nil || !strings.Contains(strings.ToLower(err.Error()), want) {
				t.Errorf("%s: %v, want %q", uri, err, want)
			}
			continue
		}
		if err != nil || len(got.Contents) != 1 || !strings.Contains(got.Contents[0].Text, want) {
			t.Errorf("%s: %v, want %q in %+v", uri, err, want, got)
		}
	}
	if _, messages := alice.does("check_inbox", nil, `"messages":1`); !strings.Contains(messages, "look at this") {
		t.Errorf("the message that was looked at no longer waits: %q", messages)
	}
}

func TestPrompts(t *testing.T) {
	r := newRig(t)
	r.ran("alice", "bob", "bert")
	alice := r.caller("alice")
	list, err := alice.ListPrompts(t.Context(), nil)
	if err != nil || len(list.Prompts) != 3 {
		t.Fatalf("%v: %+v", err, list)
	}
	for _, c := range []struct {
		name  string
		given map[string]string
		want  string // in its text; "!": in the refusal
	}{
		{"ask", map[string]string{"agent": "bob", "question": "which port?"}, "this: which port?"},
		{"ask", map[string]string{"agent": "bob"}, "Ask bob with relay's send_message, and wait_seconds 300, what is open"},
		{"ask", map[string]string{"agent": " "}, "!ask needs agent"},
		{"handoff", map[string]string{"agent": "bob"}, "Hand our work over to bob"},
		{"handoff", nil, "!handoff needs agent"},
		{"inbox", nil, "check_inbox"},
		{"dance", nil, "!dance"},
	} {
		got, err := alice.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: c.name, Arguments: c.given})
		if want, fails := strings.CutPrefix(c.want, "!"); fails {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s %v: %v, want %q", c.name, c.given, err, want)
			}
			continue
		}
		if err != nil || len(got.Messages) != 1 || !strings.Contains(got.Messages[0].Content.(*mcp.TextContent).Text, c.want) {
			t.Errorf("%s %v: %v, want %q in %+v", c.name, c.given, err, c.want, got)
		}
	}
	for argument, want := range map[string][]string{"agent": {"bert", "bob"}, "question": {}} {
		got, err := alice.Complete(t.Context(), &mcp.CompleteParams{
			Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: "ask"}, Argument: mcp.CompleteParamsArgument{Name: argument, Value: "b"},
		})
		if err != nil || !slices.Equal(got.Completion.Values, want) {
			t.Errorf("%s: %v %+v, want %q", argument, err, got, want)
		}
	}
}
