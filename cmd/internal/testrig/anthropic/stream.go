package anthropic

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// obj is a JSON object.
type obj = map[string]any

// stream writes one reply. Its waits end with ctx, which net/http cancels when
// the client hangs up; that is how an interrupted turn is noticed.
type stream struct {
	ctx       context.Context
	w         http.ResponseWriter
	model     string
	pingEvery time.Duration
}

// events writes rep as server-sent events; an error means the client is gone.
func (s *stream) events(rep Reply) error {
	s.w.Header().Set("Content-Type", "text/event-stream")
	s.w.Header().Set("Cache-Control", "no-cache")
	if err := s.event("message_start", obj{"message": s.message(nil, nil)}); err != nil {
		return err
	}
	if err := s.silence(rep.Think); err != nil {
		return err
	}
	if err := s.text(rep); err != nil {
		return err
	}
	if err := s.tool(rep.Tool); err != nil {
		return err
	}
	err := s.event("message_delta", obj{
		"delta": obj{"stop_reason": stopReason(rep), "stop_sequence": nil},
		"usage": obj{"output_tokens": 10},
	})
	if err != nil {
		return err
	}
	return s.event("message_stop", obj{})
}

func (s *stream) text(rep Reply) error {
	start := obj{"index": 0, "content_block": obj{"type": "text", "text": ""}}
	if err := s.event("content_block_start", start); err != nil {
		return err
	}
	for i, d := range rep.Deltas {
		if i > 0 {
			if err := s.silence(rep.Gap); err != nil {
				return err
			}
		}
		delta := obj{"index": 0, "delta": obj{"type": "text_delta", "text": d}}
		if err := s.event("content_block_delta", delta); err != nil {
			return err
		}
	}
	return s.event("content_block_stop", obj{"index": 0})
}

func (s *stream) tool(t *Tool) error {
	if t == nil {
		return nil
	}
	input, err := json.Marshal(t.input())
	if err != nil {
		return err
	}
	block := t.block()
	block["input"] = obj{} // the input follows as deltas
	if err := s.event("content_block_start", obj{"index": 1, "content_block": block}); err != nil {
		return err
	}
	delta := obj{"index": 1, "delta": obj{"type": "input_json_delta", "partial_json": string(input)}}
	if err := s.event("content_block_delta", delta); err != nil {
		return err
	}
	return s.event("content_block_stop", obj{"index": 1})
}

// whole writes rep as one JSON object, as for a request without "stream".
func (s *stream) whole(rep Reply) error {
	if err := s.silence(rep.Think); err != nil {
		return err
	}
	text := ""
	for _, d := range rep.Deltas {
		text += d
	}
	content := []any{obj{"type": "text", "text": text}}
	if rep.Tool != nil {
		content = append(content, rep.Tool.block())
	}
	s.w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(s.w).Encode(s.message(content, stopReason(rep)))
}

func (s *stream) message(content []any, stop any) obj {
	if content == nil {
		content = []any{}
	}
	return obj{
		"id": fmt.Sprintf("msg_%d", time.Now().UnixNano()), "type": "message", "role": "assistant",
		"model": s.model, "content": content, "stop_reason": stop, "stop_sequence": nil,
		"usage": obj{"input_tokens": 10, "output_tokens": 1},
	}
}

func (s *stream) event(name string, data obj) error {
	data["type"] = name
	b, err := json.Marshal(data)
	if err != nil {
		return err
	}
	if err := s.ctx.Err(); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", name, b); err != nil {
		return err
	}
	return http.NewResponseController(s.w).Flush()
}

// silence waits for d. Long silences carry pings, which keep clients waiting.
func (s *stream) silence(d time.Duration) error {
	if d <= 0 {
		return nil
	}
	end := time.NewTimer(d)
	defer end.Stop()
	ping := time.NewTicker(s.pingEvery)
	defer ping.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return s.ctx.Err()
		case <-end.C:
			return nil
		case <-ping.C:
			if err := s.event("ping", obj{}); err != nil {
				return err
			}
		}
	}
}

func stopReason(r Reply) string {
	if r.Tool != nil {
		return "tool_use"
	}
	return "end_turn"
}

func (t *Tool) input() obj {
	return obj{"command": t.Command, "description": t.Description}
}

func (t *Tool) block() obj {
	return obj{"type": "tool_use", "id": fmt.Sprintf("toolu_%d", time.Now().UnixNano()), "name": "Bash", "input": t.input()}
}
