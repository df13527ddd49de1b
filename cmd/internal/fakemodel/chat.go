package fakemodel

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"
)

// Chat is the wire of OpenCode 1.18.33: OpenAI's chat completions as a stream.
func Chat(s *Server, w http.ResponseWriter, r Request) error {
	switch {
	case r.Method == "GET":
		return whole(w, 200, obj{"object": "list", "data": []obj{}})
	case r.Method == "POST" && strings.HasSuffix(r.URL.Path, "/chat/completions"):
		return s.chat(w, r)
	}
	return refuse(w, 404, "no such route")
}

func (s *Server) chat(w http.ResponseWriter, r Request) error {
	var req chatRequest
	if err := json.Unmarshal(r.Body, &req); err != nil {
		return refuse(w, 400, err.Error())
	}
	reply := func(rep Reply) error {
		out := &sse{ctx: r.Context(), w: w}
		return out.speak(&chatSpeaker{out: out, id: id("chatcmpl")}, rep)
	}
	if len(req.Tools) == 0 { // it names a session
		return reply(Say("Fake session"))
	}
	return s.take(r, req.turn(), reply)
}

type chatRequest struct {
	Tools    []json.RawMessage `json:"tools"`
	Messages []chatMessage     `json:"messages"`
}

type chatMessage struct {
	Role    string `json:"role"`
	Content texts  `json:"content"`
}

// turn picks what is new: everything after the last message of the model.
func (r chatRequest) turn() Turn {
	var t Turn
	for _, m := range since(r.Messages, func(m chatMessage) bool { return m.Role == "assistant" }) {
		switch m.Role {
		case "tool":
			t.Results = append(t.Results, strings.Join(m.Content, "\n"))
		case "user":
			for _, text := range m.Content {
				t.say(unremind(text), []string{"<system-reminder>"})
			}
		default:
			t.System = append(t.System, m.Content...)
		}
	}
	return t
}

// unremind takes off what OpenCode wraps around a user's text that waited while
// it worked.
func unremind(text string) string {
	const before, after = "<system-reminder>\nThe user sent the following message:\n", "\n\nPlease address this message and continue with your tasks.\n</system-reminder>"
	rest, begins := strings.CutPrefix(text, before)
	inner, ends := strings.CutSuffix(rest, after)
	if begins && ends {
		return inner
	}
	return text
}

type chatSpeaker struct {
	out *sse
	id  string
}

func (s *chatSpeaker) chunk(delta obj, finish any) {
	s.out.event("", obj{"id": s.id, "object": "chat.completion.chunk", "created": 1, "model": "fake-model",
		"choices": []obj{{"index": 0, "delta": delta, "finish_reason": finish}}})
}

func (s *chatSpeaker) begin()            { s.chunk(obj{"role": "assistant", "content": ""}, nil) }
func (s *chatSpeaker) open()             {}
func (s *chatSpeaker) delta(text string) { s.chunk(obj{"content": text}, nil) }

func (s *chatSpeaker) end(_ string, tool *Tool) {
	finish := "stop"
	if tool != nil {
		finish = "tool_calls"
		s.chunk(obj{"tool_calls": []obj{{"index": 0, "id": id("call"), "type": "function", "function": obj{"name": cmp.Or(tool.Name, "bash"), "arguments": marshal(tool.input())}}}}, nil)
	}
	s.chunk(obj{}, finish)
	s.out.event("", obj{"id": s.id, "object": "chat.completion.chunk", "created": 1, "model": "fake-model", "choices": []obj{},
		"usage": obj{"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}})
	s.out.raw("", "[DONE]")
}
