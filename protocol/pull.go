package protocol

import (
	"bytes"
	"math"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Pull asks, as the agent, for messages that wait, to hand them to it without typing. They are
// leased; see the package comment.
type Pull struct {
	Head
	Max    int64    `json:"max,omitzero"`     // most messages, 1 to [MaxPull]
	WaitMS int64    `json:"wait_ms,omitzero"` // how long to wait where there is none
	Modes  []string `json:"modes,omitzero"`   // only those of these modes

	MaxBytes int64 `json:"max_bytes,omitzero"` // most bytes of texts, in all; 0: as many as an answer holds
}

// PullAck says, as the agent, that it has messages which were pulled.
type PullAck struct {
	Head
	IDs []string `json:"ids"`
}

// MessagesAnswer answers a pull: the messages in the order in which they go.
type MessagesAnswer struct {
	Head
	Messages []Pulled `json:"messages"` // never nil
}

// Pulled is one message that was leased. Text is all of it in the form in which an agent reads
// it; Body is what its sender wrote.
type Pulled struct {
	ID      string `json:"id"`
	From    string `json:"from"`
	Mode    string `json:"mode"`
	ReplyTo string `json:"reply_to,omitzero"`
	Thread  string `json:"thread,omitzero"`
	Body    string `json:"body"`
	Text    string `json:"text"`
}

// Type is the frame's "type".
func (*Pull) Type() string { return "pull" }

// Type is the frame's "type".
func (*PullAck) Type() string { return "pull_ack" }

// Type is the frame's "type".
func (*MessagesAnswer) Type() string { return "messages" }

// Wait is WaitMS as a duration. What a duration cannot hold is the longest that it can.
func (r *Pull) Wait() time.Duration {
	return time.Duration(min(r.WaitMS, math.MaxInt64/int64(time.Millisecond))) * time.Millisecond
}

func (r *Pull) decode(f *fields) {
	r.Head.decode(f)
	r.Max = MaxPull
	if f.has("max") {
		r.Max = min(f.integer("max", 1), MaxPull)
	}
	r.WaitMS, r.MaxBytes = f.integer("wait_ms", 0), f.integer("max_bytes", 0)
	if r.Modes = f.list("modes", Modes()); r.Modes == nil {
		r.Modes = Modes()
	}
}

func (r *PullAck) decode(f *fields) {
	r.Head.decode(f)
	r.IDs = f.ids("ids")
}

// ids reads a list of ids, which must be there.
func (f *fields) ids(name string) (ids []string) {
	f.read[name] = true
	v := f.values[name]
	if v == nil {
		f.fail(MissingField, name, "the field is required")
		return nil
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(v))
	dec.ReadToken() // the bracket: scan has seen all of this value to be well formed
	bad := v.Kind() != '['
	for !bad && dec.PeekKind() == '"' && len(ids) < MaxPull {
		tok, _ := dec.ReadToken() // as above
		ids = append(ids, tok.String())
		bad = ValidID(tok.String()) != nil
	}
	if bad || len(ids) == 0 || dec.PeekKind() != ']' {
		f.fail(BadField, name, "must be a list of 1 to %d ids", MaxPull)
		return nil
	}
	return ids
}
