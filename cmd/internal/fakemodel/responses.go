package fakemodel

import (
	"encoding/json"
	"net/http"
	"strings"
)

// Responses is the wire of Codex 0.169.0: OpenAI's Responses API as a stream.
func Responses(s *Server, w http.ResponseWriter, r Request) error {
	switch {
	case r.Method == "GET" && strings.HasSuffix(r.URL.Path, "/models"):
		return whole(w, 200, obj{"object": "list", "data": []obj{}, "models": []obj{}})
	case r.Method == "POST" && strings.HasSuffix(r.URL.Path, "/responses"):
		return s.responses(w, r)
	}
	return refuse(w, 404, "no such route")
}

func (s *Server) responses(w http.ResponseWriter, r Request) error {
	var req responsesRequest
	if err := json.Unmarshal(r.Body, &req); err != nil {
		return refuse(w, 400, err.Error())
	}
	t := req.turn()
	reply := func(rep Reply) error {
		out := &sse{ctx: r.Context(), w: w}
		return out.speak(&responsesSpeaker{out: out, id: id("resp")}, rep)
	}
	if codexTitle(t) {
		return reply(Say(`{"title":"Fake session"}`))
	}
	return s.take(r, t, reply)
}

type responsesRequest struct {
	Input []responsesItem `json:"input"`
}

type responsesItem struct {
	Type    string          `json:"type"`
	Role    string          `json:"role"`
	Content texts           `json:"content"`
	Output  json.RawMessage `json:"output"` // of a tool call: a string or a list of texts
}

// own are the beginnings of what Codex writes into the user's role itself.
var own = []string{"<environment_context>", "<turn_aborted>", "<user_instructions>", "# AGENTS.md instructions", "<hook_prompt"}

// turn picks what is new: everything after the model's last words or call.
func (r responsesRequest) turn() Turn {
	var t Turn
	modelSays := func(it responsesItem) bool {
		return it.Role == "assistant" || it.Type == "function_call" || it.Type == "custom_tool_call" || it.Type == "reasoning"
	}
	for _, it := range since(r.Input, modelSays) {
		switch {
		case strings.HasSuffix(it.Type, "_output"):
			t.Results = append(t.Results, outputText(it.Output))
		case it.Role == "user":
			for _, text := range it.Content {
				t.say(text, own)
			}
		case it.Role != "":
			t.System = append(t.System, it.Content...)
		}
	}
	return t
}

func outputText(raw json.RawMessage) string {
	var list texts
	if json.Unmarshal(raw, &list) != nil {
		return string(raw)
	}
	return strings.Join(list, "\n")
}

// codexTitle says whether a turn is the hidden thread that names the session.
func codexTitle(t Turn) bool {
	return strings.Contains(strings.Join(append(t.System, t.Text...), "\n"), "single-line task title")
}

type responsesSpeaker struct {
	out *sse
	id  string
}

func (s *responsesSpeaker) send(kind string, data obj) {
	data["type"] = kind
	s.out.event(kind, data)
}

func (s *responsesSpeaker) message(content ...obj) obj {
	return obj{"type": "message", "role": "assistant", "id": s.id + "_m", "content": append([]obj{}, content...)}
}

func (s *responsesSpeaker) begin() {
	s.send("response.created", obj{"response": obj{"id": s.id}})
}

func (s *responsesSpeaker) open() {
	s.send("response.output_item.added", obj{"output_index": 0, "item": s.message()})
}

func (s *responsesSpeaker) delta(text string) {
	s.send("response.output_text.delta", obj{"item_id": s.id + "_m", "output_index": 0, "content_index": 0, "delta": text})
}

func (s *responsesSpeaker) end(text string, tool *Tool) {
	s.send("response.output_item.done", obj{"output_index": 0, "item": s.message(obj{"type": "output_text", "text": text})})
	if tool != nil {
		s.send("response.output_item.done", obj{"output_index": 1, "item": codexCall(tool)})
	}
	s.send("response.completed", obj{"response": obj{"id": s.id, "usage": obj{
		"input_tokens": 10, "output_tokens": 10, "total_tokens": 20,
		"input_tokens_details": obj{"cached_tokens": 0}, "output_tokens_details": obj{"reasoning_tokens": 0},
	}}})
}

// codexCall calls Codex's shell tool. What writes asks for more than the sandbox
// gives, which is what makes Codex ask its user.
func codexCall(tool *Tool) obj {
	call := func(name string, args any) obj {
		return obj{"type": "function_call", "id": id("fc"), "call_id": id("call"), "name": name, "arguments": marshal(args)}
	}
	if tool.Name != "" {
		c := call(tool.Name, tool.Arguments)
		c["namespace"] = tool.Namespace
		return c
	}
	args := obj{"cmd": tool.Command, "yield_time_ms": 30000}
	if strings.HasPrefix(tool.Command, "touch ") {
		args["sandbox_permissions"] = "require_escalated"
		args["justification"] = tool.Description
	}
	return call("exec_command", args)
}
