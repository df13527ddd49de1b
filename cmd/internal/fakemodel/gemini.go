package fakemodel

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// Gemini is the wire of Gemini CLI 0.61.0: Google's generateContent.
func Gemini(s *Server, w http.ResponseWriter, r Request) error {
	_, verb, _ := strings.Cut(r.URL.Path, ":")
	switch {
	case r.Method == "GET":
		return whole(w, 200, obj{"models": []obj{}})
	case verb == "countTokens":
		return whole(w, 200, obj{"totalTokens": 10})
	case verb == "generateContent" || verb == "streamGenerateContent":
		return s.gemini(verb == "streamGenerateContent", w, r)
	}
	return refuse(w, 404, "no such route")
}

func (s *Server) gemini(stream bool, w http.ResponseWriter, r Request) error {
	var req geminiRequest
	if err := json.Unmarshal(r.Body, &req); err != nil {
		return refuse(w, 400, err.Error())
	}
	reply := func(rep Reply) error {
		if !stream {
			return whole(w, 200, geminiAnswer(geminiText(strings.Join(rep.Deltas, "")), "STOP"))
		}
		out := &sse{ctx: r.Context(), w: w}
		return out.speak(&geminiSpeaker{out}, rep)
	}
	if schema := req.schema(); schema != nil {
		return reply(Say(marshal(fitting(schema))))
	}
	if len(req.Tools) == 0 {
		return reply(Say("Fake answer"))
	}
	return s.take(r, req.turn(), reply)
}

type geminiRequest struct {
	Tools            []json.RawMessage `json:"tools"`
	Contents         []geminiContent   `json:"contents"`
	GenerationConfig struct {
		JSONSchema map[string]any `json:"responseJsonSchema"`
		Schema     map[string]any `json:"responseSchema"`
	} `json:"generationConfig"`
}

type geminiContent struct {
	Role  string `json:"role"`
	Parts []struct {
		Text             *string `json:"text"`
		FunctionResponse *struct {
			Response json.RawMessage `json:"response"`
		} `json:"functionResponse"`
	} `json:"parts"`
}

// schema is what the answer to a side question must fit; nil in a turn.
func (r geminiRequest) schema() map[string]any {
	if s := r.GenerationConfig.JSONSchema; s != nil {
		return s
	}
	return r.GenerationConfig.Schema
}

const (
	filesBegin = "\n--- Content from referenced files ---"
	filesEnd   = "\n--- End of content ---"
)

// geminiOwn are the beginnings of what Gemini CLI writes into the user's role
// itself.
func geminiOwn() []string {
	return []string{"<session_context>", "<hook_context>", filesBegin}
}

// turn picks what is new: everything after the model's last words.
func (r geminiRequest) turn() Turn {
	var t Turn
	own := geminiOwn()
	for _, c := range since(r.Contents, func(c geminiContent) bool { return c.Role == "model" }) {
		for _, p := range c.Parts {
			switch {
			case p.FunctionResponse != nil:
				t.Results = append(t.Results, string(p.FunctionResponse.Response))
			case p.Text != nil:
				t.say(*p.Text, own)
				switch { // the contents of files that the text names follow it in parts
				case strings.HasPrefix(*p.Text, filesBegin):
					own = []string{""}
				case strings.HasPrefix(*p.Text, filesEnd):
					own = geminiOwn()
				}
			}
		}
	}
	return t
}

// fitting is a value that fits a JSON schema: of several choices the first one.
func fitting(schema map[string]any) any {
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
		properties, _ := schema["properties"].(map[string]any)
		for name, p := range properties {
			if p, ok := p.(map[string]any); ok {
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

type geminiSpeaker struct{ out *sse }

func (s *geminiSpeaker) begin()            {}
func (s *geminiSpeaker) open()             {}
func (s *geminiSpeaker) delta(text string) { s.out.event("", geminiAnswer(geminiText(text), "")) }

func (s *geminiSpeaker) end(_ string, tool *Tool) {
	last := geminiText("")
	if tool != nil {
		last = obj{"functionCall": obj{"name": cmp.Or(tool.Name, "run_shell_command"), "args": tool.input()}}
	}
	s.out.event("", geminiAnswer(last, "STOP"))
}

func geminiText(text string) obj { return obj{"text": text} }

func geminiAnswer(part obj, finish string) obj {
	c := obj{"index": 0, "content": obj{"role": "model", "parts": []obj{part}}}
	if finish != "" {
		c["finishReason"] = finish
	}
	return obj{"candidates": []obj{c}, "modelVersion": "fake-model",
		"usageMetadata": obj{"promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20}}
}
