package fakeapi

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"relay-pty/cmd/relay-pty/check/modelapi"
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
	a   modelapi.Answer
	err error
}

func newSSE(a modelapi.Answer) *sse {
	return &sse{a: a, err: a.Head(200, "text/event-stream")}
}

// event sends data as JSON, with an event line unless name is empty.
func (s *sse) event(name string, data any) {
	b, err := json.Marshal(data)
	if s.err != nil || err != nil {
		s.err = firstOf(s.err, err)
		return
	}
	s.raw(name, string(b))
}

func (s *sse) raw(name, data string) {
	if s.err != nil {
		return
	}
	if name != "" {
		name = "event: " + name + "\n"
	}
	_, err := fmt.Fprintf(s.a, "%sdata: %s\n\n", name, data)
	s.err = firstOf(err, s.a.Flush())
}

func firstOf(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// speak says rep; it ends early, with an error, when the client is gone.
func speak(ctx context.Context, out *sse, sp speaker, rep Reply) error {
	sp.begin()
	if err := pause(ctx, rep.Think); err != nil {
		return err
	}
	sp.open()
	text := ""
	for i, d := range rep.Deltas {
		if i > 0 {
			if err := pause(ctx, rep.Gap); err != nil {
				return err
			}
		}
		sp.delta(d)
		text += d
	}
	sp.end(text, rep.Tool)
	return out.err // the client may hang up once it has all
}

// pause is a silence that ends early, with an error, when the client is gone.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func whole(a modelapi.Answer, status int, body any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	if err := a.Head(status, "application/json"); err != nil {
		return err
	}
	_, err = a.Write(b)
	return err
}

func refuse(a modelapi.Answer, status int, why string) error {
	return whole(a, status, obj{"error": obj{"message": why, "type": "invalid_request_error", "code": status}})
}

// news collects what is new in a request.
type news struct{ Turn }

func newsOf(body []byte) *news { return &news{Turn{At: time.Now(), Raw: body}} }

// say adds a text of the user's role; one that begins with a word of the agent's
// own goes to System.
func (n *news) say(text string, own []string) {
	for _, o := range own {
		if strings.HasPrefix(text, o) {
			n.System = append(n.System, text)
			return
		}
	}
	n.Text = append(n.Text, text)
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
