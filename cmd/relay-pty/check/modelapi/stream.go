package modelapi

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// stream writes one reply. Its waits end with ctx. What it writes is put
// together as text: the wrapper links this, and text is smaller than structures.
type stream struct {
	ctx       context.Context
	a         Answer
	model     string
	pingEvery time.Duration
}

// events writes rep as server-sent events; an error means the client is gone.
func (s *stream) events(rep Reply) error {
	if err := s.a.Head(200, "text/event-stream"); err != nil {
		return err
	}
	// The error of one write is that of all that follow.
	s.event("message_start", `,"message":%s`, s.message("", "null"))
	err := s.silence(rep.Think)
	s.event("content_block_start", `,"index":0,"content_block":{"type":"text","text":""}`)
	for i, d := range rep.Deltas {
		if i > 0 && err == nil {
			err = s.silence(rep.Gap)
		}
		if err != nil {
			return err
		}
		err = s.event("content_block_delta", `,"index":0,"delta":{"type":"text_delta","text":%s}`, quote(d))
	}
	s.event("content_block_stop", `,"index":0`)
	if rep.Tool != nil {
		s.event("content_block_start", `,"index":1,"content_block":%s`, rep.Tool.block(`{}`)) // the input follows as deltas
		s.event("content_block_delta", `,"index":1,"delta":{"type":"input_json_delta","partial_json":%s}`, quote(rep.Tool.input()))
		s.event("content_block_stop", `,"index":1`)
	}
	s.event("message_delta", `,"delta":{"stop_reason":%s,"stop_sequence":null},"usage":{"output_tokens":10}`, rep.stopReason())
	if err != nil {
		return err
	}
	return s.event("message_stop", ``)
}

// whole writes rep as one JSON object, as for a request without "stream".
func (s *stream) whole(rep Reply) error {
	if err := s.silence(rep.Think); err != nil {
		return err
	}
	content := `{"type":"text","text":` + quote(strings.Join(rep.Deltas, "")) + `}`
	if rep.Tool != nil {
		content += "," + rep.Tool.block(rep.Tool.input())
	}
	return whole(s.a, 200, "application/json", s.message(content, rep.stopReason()))
}

func (s *stream) message(content, stop string) string {
	return fmt.Sprintf(`{"id":"msg_%d","type":"message","role":"assistant","model":%s,"content":[%s],`+
		`"stop_reason":%s,"stop_sequence":null,"usage":{"input_tokens":10,"output_tokens":1}}`,
		time.Now().UnixNano(), quote(s.model), content, stop)
}

// event sends one event, its data given but for the type.
func (s *stream) event(name, format string, args ...any) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	data := fmt.Sprintf(format, args...)
	if _, err := fmt.Fprintf(s.a, "event: %s\ndata: {\"type\":%q%s}\n\n", name, name, data); err != nil {
		return err
	}
	return s.a.Flush()
}

// silence waits for d. Long silences carry pings, which keep clients waiting.
func (s *stream) silence(d time.Duration) error {
	for end := time.Now().Add(d); ; {
		left := time.Until(end)
		if left <= 0 {
			return s.ctx.Err()
		}
		select {
		case <-s.ctx.Done():
			return s.ctx.Err()
		case <-time.After(min(left, s.pingEvery)):
		}
		if left > s.pingEvery {
			if err := s.event("ping", ``); err != nil {
				return err
			}
		}
	}
}

// quote is s as JSON.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""` // strings have no such error
	}
	return string(b)
}

func (r Reply) stopReason() string {
	if r.Tool != nil {
		return `"tool_use"`
	}
	return `"end_turn"`
}

func (t *Tool) input() string {
	return `{"command":` + quote(t.Command) + `,"description":` + quote(t.Description) + `}`
}

func (t *Tool) block(input string) string {
	return fmt.Sprintf(`{"type":"tool_use","id":"toolu_%d","name":"Bash","input":%s}`, time.Now().UnixNano(), input)
}
