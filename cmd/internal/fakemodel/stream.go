package fakemodel

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

type obj = map[string]any

// voice is the parts of one reply in a wire's own events.
type voice struct {
	begin, open []event                               // at once; after the silence
	delta       func(text string) event               // never empty
	end         func(text string, tool *Tool) []event // text is all of it
	whole       func(text string, tool *Tool) obj     // the reply in one piece; nil: the wire has none
	ping        []event                               // said in a silence, every second
}

// event is a server-sent event; its data are a text, or what goes as JSON.
type event struct {
	name string // "": it has none
	data any
}

// typed is an event whose data tell its name, too.
func typed(name string, data obj) event {
	data["type"] = name
	return event{name, data}
}

// stream says one reply; the error of one write is that of all that follow.
type stream struct {
	voice
	ctx context.Context // of the request
	w   http.ResponseWriter
	err error
}

func (s *stream) say(events ...event) {
	for _, e := range events {
		if s.err != nil {
			return
		}
		name, data := "", fmt.Sprint(e.data)
		if e.name != "" {
			name = "event: " + e.name + "\n"
		}
		if _, text := e.data.(string); !text {
			data = marshal(e.data)
		}
		_, err := fmt.Fprintf(s.w, "%sdata: %s\n\n", name, data)
		s.err = cmp.Or(err, http.NewResponseController(s.w).Flush())
	}
}

// speak streams rep; it ends early, with an error, when the client is gone.
func (s *stream) speak(rep Reply) error {
	head(s.w, 200, "text/event-stream")
	s.say(s.begin...)
	if err := s.silence(rep.Think); err != nil {
		return err
	}
	s.say(s.open...)
	for i, d := range rep.Deltas {
		if i > 0 {
			if err := s.silence(rep.Gap); err != nil {
				return err
			}
		}
		s.say(s.delta(d))
	}
	s.say(s.end(strings.Join(rep.Deltas, ""), rep.Tool)...)
	return s.err // the client may hang up once it has all
}

// half streams the text of rep, if it has any, as if more were to come.
func (s *stream) half(rep Reply) {
	if len(rep.Deltas) == 0 {
		return
	}
	head(s.w, 200, "text/event-stream")
	s.say(s.begin...)
	s.say(s.open...)
	for _, d := range rep.Deltas {
		s.say(s.delta(d))
	}
}

// atOnce gives rep in one piece.
func (s *stream) atOnce(rep Reply) error {
	if err := s.silence(rep.Think); err != nil {
		return err
	}
	return whole(s.w, 200, s.whole(strings.Join(rep.Deltas, ""), rep.Tool))
}

// silence lasts d, but ends early, with an error, when the client is gone.
func (s *stream) silence(d time.Duration) error {
	for end := time.Now().Add(d); ; {
		left := time.Until(end)
		if left <= 0 {
			return s.ctx.Err()
		}
		select {
		case <-time.After(min(left, time.Second)):
		case <-s.ctx.Done():
			return s.ctx.Err()
		}
		if left > time.Second {
			s.say(s.ping...)
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
