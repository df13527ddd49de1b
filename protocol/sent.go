package protocol

import (
	"encoding/json"
	"fmt"
)

// Answer is a frame that answers a request, and repeats its "req".
type Answer interface {
	Frame
	// Tag is the request's "req", empty when it had none.
	Tag() string
}

// answers are those to requests that ask for no message's result; *[Error] may take the place
// of each.
var answers = []Answer{(*HelloAnswer)(nil), (*Subscribed)(nil), (*StatusAnswer)(nil), (*QueueAnswer)(nil),
	(*ScreenAnswer)(nil), (*KeysAnswer)(nil), (*ExplainAnswer)(nil), (*OK)(nil), (*MessagesAnswer)(nil), (*Error)(nil)}

// Unknown is a frame of a type that a newer wrapper may send. Its Seq is 0 unless it is an event.
type Unknown struct {
	Stamp
	Name string // its type
	Line []byte // all of it
}

// Type is the frame's "type".
func (u *Unknown) Type() string { return u.Name }

// DecodeEvent reads a line that a wrapper sent: an [Event], an [Answer], which may be *[Error],
// or *[Unknown]. It is lenient where [DecodeRequest] is strict, for a newer wrapper may say
// more: fields that it does not know are passed over. An error says that the line is no frame.
func DecodeEvent(line []byte) (Frame, error) {
	var head struct{ Type string }
	if err := json.Unmarshal(line, &head); err != nil {
		return nil, fmt.Errorf("decode frame: %w", err)
	}
	if head.Type == "" {
		return nil, fmt.Errorf("decode frame: no type in %.100q", line)
	}
	f := received(head.Type)
	if u, ok := f.(*Unknown); ok {
		json.Unmarshal(line, &u.Stamp) // what is no number is no event's
		u.Name, u.Line = head.Type, line
		return u, nil
	}
	if err := json.Unmarshal(line, f); err != nil {
		return nil, fmt.Errorf("decode %s: %w", head.Type, err)
	}
	return f, nil
}

// received is a new frame for what comes of that type.
func received(typ string) Frame {
	if ev, known := made(events, typ); known {
		return ev
	}
	if a, known := made(answers, typ); known {
		return a
	}
	return new(Unknown)
}
