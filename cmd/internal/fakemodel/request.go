package fakemodel

import (
	"encoding/json"
	"slices"
	"strings"
)

// request is what an agent asks, in any of the wires.
type request struct {
	Model    string
	Stream   bool
	Tools    []json.RawMessage
	Messages []entry // Messages, Chat
	Input    []entry // Responses
	Contents []entry // Gemini

	GenerationConfig struct { // Gemini: what the answer must fit
		ResponseJSONSchema, ResponseSchema map[string]any
	}
}

// offers reports whether a tool of that name is among those that the model may call.
func (q request) offers(name string) bool {
	return slices.ContainsFunc(q.Tools, func(tool json.RawMessage) bool {
		var t struct{ Function struct{ Name string } }
		return json.Unmarshal(tool, &t) == nil && t.Function.Name == name
	})
}

// entry is one entry of a conversation.
type entry struct {
	Type, Role string
	Content    content
	Parts      content // Gemini
	Output     content // Responses: of a tool
}

// content is a text or a list of parts; anything else is kept as a text.
type content []part

type part struct {
	Type             string
	Text             *string
	Content          content // Messages: of a tool_result
	FunctionResponse *struct{ Response content }
}

func (c *content) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, (*[]part)(c)) != nil {
		text := string(data)
		json.Unmarshal(data, &text) // not a string: it stays as it is
		*c = content{{Text: &text}}
	}
	return nil
}

func (c content) String() string {
	var texts []string
	for _, p := range c {
		if p.Text != nil {
			texts = append(texts, *p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// byModel reports whether the model said this, or called a tool.
func (e entry) byModel() bool {
	return slices.Contains([]string{"assistant", "model"}, e.Role) ||
		slices.Contains([]string{"function_call", "custom_tool_call", "reasoning"}, e.Type)
}

// turn is what of the conversation follows the model's last words.
func (q request) turn(w Wire) (t Turn) {
	all := slices.Concat(q.Messages, q.Input, q.Contents)
	for i, e := range slices.Backward(all) {
		if e.byModel() {
			all = all[i+1:]
			break
		}
	}
	files := false // the contents of files that a text of Gemini CLI names follow it in parts
	for _, e := range all {
		if e.Role == "tool" || strings.HasSuffix(e.Type, "_output") {
			t.Results = append(t.Results, slices.Concat(e.Content, e.Output).String())
			continue
		}
		for _, p := range slices.Concat(e.Content, e.Parts) {
			switch {
			case p.Type == "tool_result":
				t.Results = append(t.Results, p.Content.String())
			case p.FunctionResponse != nil:
				t.Results = append(t.Results, p.FunctionResponse.Response.String())
			case p.Text == nil || e.Role == "":
			case e.Role != "user":
				t.System = append(t.System, *p.Text)
			default:
				files = (files || strings.HasPrefix(*p.Text, filesBegin)) && !strings.HasPrefix(*p.Text, filesEnd)
				t.hear(*p.Text, files, w)
			}
		}
	}
	return t
}

const (
	reminder   = "<system-reminder>"
	filesBegin = "\n--- Content from referenced files ---"
	filesEnd   = "\n--- End of content ---"
)

// own are the beginnings of what agents write into the user's role themselves.
var own = []string{
	reminder, "<environment_context>", "<turn_aborted>", "<user_instructions>", "# AGENTS.md instructions", "<hook_prompt",
	"<session_context>", "<hook_context>", filesEnd,
}

// hear adds a text of the user's role; one that the agent added goes to System.
func (t *Turn) hear(text string, added bool, w Wire) {
	if w.reminds && strings.HasPrefix(text, reminder) {
		return
	}
	switch text = unremind(text); {
	case added || slices.ContainsFunc(own, func(o string) bool { return strings.HasPrefix(text, o) }):
		t.System = append(t.System, text)
	default:
		t.Text = append(t.Text, text)
	}
}

// unremind takes off what OpenCode wraps around a user's text that waited while it worked.
func unremind(text string) string {
	const before, after = reminder + "\nThe user sent the following message:\n", "\n\nPlease address this message and continue with your tasks.\n</system-reminder>"
	rest, begins := strings.CutPrefix(text, before)
	inner, ends := strings.CutSuffix(rest, after)
	if begins && ends {
		return inner
	}
	return text
}

// aside is the answer to a question beside the conversation; "" to a turn.
func (q request) aside(w Wire, t Turn) string {
	for _, schema := range []obj{q.GenerationConfig.ResponseJSONSchema, q.GenerationConfig.ResponseSchema} {
		if schema != nil {
			return marshal(fitting(schema))
		}
	}
	all := strings.Join(slices.Concat(t.System, t.Text), "\n")
	if len(q.Tools) < w.tools || w.naming != "" && strings.Contains(all, w.naming) {
		return w.title
	}
	return ""
}

// fitting is a value that fits a JSON schema: of several choices the first one.
func fitting(schema obj) any {
	if choices, ok := schema["enum"].([]any); ok && len(choices) > 0 {
		if slices.Contains(choices, any("user")) {
			return "user" // who speaks next: else the model would go on by itself
		}
		return choices[0]
	}
	kind, _ := schema["type"].(string)
	switch strings.ToLower(kind) {
	case "object":
		out := obj{}
		properties, _ := schema["properties"].(obj)
		for name, p := range properties {
			if p, ok := p.(obj); ok {
				out[name] = fitting(p)
			}
		}
		return out
	case "array":
		return []any{}
	case "number", "integer":
		return 1
	case "boolean":
		return false
	}
	return "fake"
}
