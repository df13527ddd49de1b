package fakemodel

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

type obj = map[string]any

// speaker says the parts of a reply in a wire's own events.
type speaker interface {
	begin()                      // at once
	open()                       // after the silence
	delta(text string)           // never empty
	end(text string, tool *Tool) // text is all of it
}

// sse writes server-sent events; the error of one write is that of all that
// follow.
type sse struct {
	ctx  context.Context // of the request
	w    http.ResponseWriter
	ping func() // said in a silence, every second; nil: nothing is
	err  error
}

// event sends data as JSON, with an event line unless name is empty.
func (s *sse) event(name string, data any) { s.raw(name, marshal(data)) }

func (s *sse) raw(name, data string) {
	if s.err != nil {
		return
	}
	if name != "" {
		name = "event: " + name + "\n"
	}
	_, err := fmt.Fprintf(s.w, "%sdata: %s\n\n", name, data)
	s.err = cmp.Or(err, http.NewResponseController(s.w).Flush())
}

// speak says rep; it ends early, with an error, when the client is gone.
func (s *sse) speak(sp speaker, rep Reply) error {
	head(s.w, 200, "text/event-stream")
	sp.begin()
	if err := s.silence(rep.Think); err != nil {
		return err
	}
	sp.open()
	text := ""
	for i, d := range rep.Deltas {
		if i > 0 {
			if err := s.silence(rep.Gap); err != nil {
				return err
			}
		}
		sp.delta(d)
		text += d
	}
	sp.end(text, rep.Tool)
	return s.err // the client may hang up once it has all
}

// silence lasts d, but ends early, with an error, when the client is gone.
func (s *sse) silence(d time.Duration) error {
	for end := time.Now().Add(d); ; {
		left := time.Until(end)
		if left <= 0 {
			return s.ctx.Err()
		}
		piece := left
		if s.ping != nil {
			piece = min(left, time.Second)
		}
		select {
		case <-time.After(piece):
		case <-s.ctx.Done():
			return s.ctx.Err()
		}
		if piece < left {
			s.ping()
		}
	}
}

func head(w http.ResponseWriter, status int, contentType string) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(status)
}

func whole(w http.ResponseWriter, status int, body obj) error {
	head(w, status, "application/json")
	_, err := io.WriteString(w, marshal(body))
	return err
}

func refuse(w http.ResponseWriter, status int, why string) error {
	return whole(w, status, obj{"type": "error", "error": obj{"message": why, "type": "invalid_request_error", "code": status}})
}

// texts is a content on the wire: one string, or a list of parts.
type texts []string

func (t *texts) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*t = texts{one}
		return nil
	}
	var parts []struct{ Text *string }
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		if p.Text != nil {
			*t = append(*t, *p.Text)
		}
	}
	return nil
}

// id is one that no other answer has.
func id(prefix string) string { return fmt.Sprintf("%s_%d", prefix, time.Now().UnixNano()) }

// marshal is v, which comes from JSON or is a literal, as JSON.
func marshal(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
