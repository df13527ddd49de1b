package fakemodel

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"
)

// sideTools is the number of tools below which a request is a side question.
// Claude Code offers its model more than ten tools in a turn and none or one
// when it asks for a title.
const sideTools = 3

// Messages is the wire of Claude Code 2.1.x: Anthropic's Messages API.
func Messages(s *Server, w http.ResponseWriter, r Request) error {
	switch {
	case r.Method == "POST" && r.URL.Path == "/v1/messages":
		return s.messages(w, r)
	case r.Method == "POST" && r.URL.Path == "/v1/messages/count_tokens":
		return whole(w, 200, obj{"input_tokens": 10})
	case r.Method == "GET" || r.Method == "HEAD":
		return whole(w, 200, obj{})
	}
	http.NotFound(w, r.Request)
	return nil
}

func (s *Server) messages(w http.ResponseWriter, r Request) error {
	var req messagesRequest
	if err := json.Unmarshal(r.Body, &req); err != nil {
		return refuse(w, 400, err.Error())
	}
	reply := func(rep Reply) error {
		out := &sse{ctx: r.Context(), w: w}
		if !req.Stream {
			if err := out.silence(rep.Think); err != nil {
				return err
			}
			return whole(w, 200, req.message(rep))
		}
		sp := &messagesSpeaker{out, req}
		out.ping = func() { sp.send("ping", obj{}) }
		return out.speak(sp, rep)
	}
	switch {
	case len(req.Tools) >= sideTools:
		return s.take(r, req.turn(), reply)
	case strings.Contains(string(req.System), "isNewTopic"):
		return reply(Say(`{"isNewTopic":false,"title":null}`))
	}
	return reply(Say(`{"title":"Fake session"}`))
}

type messagesRequest struct {
	Model    string            `json:"model"`
	Stream   bool              `json:"stream"`
	System   json.RawMessage   `json:"system"`
	Tools    []json.RawMessage `json:"tools"`
	Messages []message         `json:"messages"`
}

type message struct {
	Role    string `json:"role"`
	Content blocks `json:"content"`
}

// blocks is a message's content; on the wire also a bare string.
type blocks []struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Content texts  `json:"content"` // of a tool_result
}

func (b *blocks) UnmarshalJSON(data []byte) error {
	type list blocks // has no method, or this would never end
	var text string
	if json.Unmarshal(data, &text) == nil {
		data = []byte(marshal([]obj{{"type": "text", "text": text}}))
	}
	return json.Unmarshal(data, (*list)(b))
}

// turn picks what is new: everything after the last message of the model. What Claude Code adds
// as a reminder is left out.
func (r messagesRequest) turn() Turn {
	var t Turn
	for _, m := range since(r.Messages, func(m message) bool { return m.Role == "assistant" }) {
		for _, b := range m.Content {
			switch {
			case b.Type == "tool_result":
				t.Results = append(t.Results, strings.Join(b.Content, "\n"))
			case b.Type != "text":
			case m.Role == "system":
				t.System = append(t.System, b.Text)
			case !strings.HasPrefix(b.Text, "<system-reminder>"):
				t.Text = append(t.Text, b.Text)
			}
		}
	}
	return t
}

// message is a reply in one piece.
func (r messagesRequest) message(rep Reply) obj {
	content := []obj{{"type": "text", "text": strings.Join(rep.Deltas, "")}}
	if rep.Tool != nil {
		content = append(content, rep.Tool.block(rep.Tool.input()))
	}
	return r.answer(content, stopReason(rep.Tool))
}

func (r messagesRequest) answer(content []obj, stop any) obj {
	return obj{"id": id("msg"), "type": "message", "role": "assistant", "model": r.Model, "content": content,
		"stop_reason": stop, "stop_sequence": nil, "usage": obj{"input_tokens": 10, "output_tokens": 1}}
}

func stopReason(tool *Tool) string {
	if tool != nil {
		return "tool_use"
	}
	return "end_turn"
}

func (t *Tool) input() obj {
	if t.Name != "" {
		return t.Arguments
	}
	return obj{"command": t.Command, "description": t.Description}
}

func (t *Tool) block(input obj) obj {
	return obj{"type": "tool_use", "id": id("toolu"), "name": cmp.Or(t.Name, "Bash"), "input": input}
}

type messagesSpeaker struct {
	out *sse
	req messagesRequest
}

func (s *messagesSpeaker) send(kind string, data obj) {
	data["type"] = kind
	s.out.event(kind, data)
}

func (s *messagesSpeaker) begin() {
	s.send("message_start", obj{"message": s.req.answer([]obj{}, nil)})
}

func (s *messagesSpeaker) open() { s.block(0, obj{"type": "text", "text": ""}) }

func (s *messagesSpeaker) block(n int, start obj) {
	s.send("content_block_start", obj{"index": n, "content_block": start})
}

func (s *messagesSpeaker) delta(text string) {
	s.send("content_block_delta", obj{"index": 0, "delta": obj{"type": "text_delta", "text": text}})
}

func (s *messagesSpeaker) end(_ string, tool *Tool) {
	s.send("content_block_stop", obj{"index": 0})
	if tool != nil {
		s.block(1, tool.block(obj{})) // the input follows as deltas
		s.send("content_block_delta", obj{"index": 1, "delta": obj{"type": "input_json_delta", "partial_json": marshal(tool.input())}})
		s.send("content_block_stop", obj{"index": 1})
	}
	s.send("message_delta", obj{"delta": obj{"stop_reason": stopReason(tool), "stop_sequence": nil}, "usage": obj{"output_tokens": 10}})
	s.send("message_stop", obj{})
}
