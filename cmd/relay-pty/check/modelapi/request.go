package modelapi

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Turn is one request of the agent's main conversation.
type Turn struct {
	N    int       // position in the log, from 0
	At   time.Time // when the request had been read
	Text []string  // new user text blocks, without <system-reminder> blocks
	// System holds the new blocks of role "system": hook output and, since
	// 2.1.3xx, messages typed while a tool ran.
	System  []string
	Results []string // text of the new tool results
	Raw     []byte   // the request body, if Model.KeepRaw

	Ended   time.Time // when the reply ended; zero while it runs
	Aborted bool      // the client hung up before the end
}

// Open says whether the reply is still running.
func (t Turn) Open() bool { return t.Ended.IsZero() }

// UserText is the new user text, blocks joined by newlines.
func (t Turn) UserText() string { return strings.Join(t.Text, "\n") }

type request struct {
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
type blocks []block

type block struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Content blocks `json:"content"` // of a tool_result
}

func (b *blocks) UnmarshalJSON(data []byte) error {
	var s string
	if json.Unmarshal(data, &s) == nil {
		*b = blocks{{Type: "text", Text: s}}
		return nil
	}
	var list []block
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	*b = list
	return nil
}

func decode(body []byte) (request, error) {
	var r request
	if err := json.Unmarshal(body, &r); err != nil {
		return r, fmt.Errorf("decode request: %w", err)
	}
	return r, nil
}

// turn picks what is new: everything after the last assistant message.
func (r request) turn() Turn {
	t := Turn{At: time.Now()}
	from := 0
	for i, m := range r.Messages {
		if m.Role == "assistant" {
			from = i + 1
		}
	}
	for _, m := range r.Messages[from:] {
		for _, b := range m.Content {
			t.add(m.Role, b)
		}
	}
	return t
}

func (t *Turn) add(role string, b block) {
	switch {
	case b.Type == "tool_result":
		t.Results = append(t.Results, b.Content.text())
	case b.Type != "text":
	case role == "system":
		t.System = append(t.System, b.Text)
	case !strings.HasPrefix(b.Text, "<system-reminder>"):
		t.Text = append(t.Text, b.Text)
	}
}

func (b blocks) text() string {
	var parts []string
	for _, x := range b {
		if x.Type == "text" {
			parts = append(parts, x.Text)
		}
	}
	return strings.Join(parts, "\n")
}
