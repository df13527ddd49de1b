package protocol

import "time"

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
func (*Pull) Type() string           { return "pull" }
func (*PullAck) Type() string        { return "pull_ack" }
func (*MessagesAnswer) Type() string { return "messages" }

// Wait is WaitMS as a duration.
func (r *Pull) Wait() time.Duration { return millis(r.WaitMS) }

func (r *Pull) decode(f *fields) {
	r.Head.decode(f)
	r.Max = MaxPull
	if f.has("max") {
		r.Max = min(f.integer("max", 1), MaxPull)
	}
	r.WaitMS, r.MaxBytes = f.integer("wait_ms", 0), f.integer("max_bytes", 0)
	if r.Modes = f.oneOfs("modes", Modes()); r.Modes == nil {
		r.Modes = Modes()
	}
}

func (r *PullAck) decode(f *fields) {
	r.Head.decode(f)
	r.IDs = f.list("ids", must, "ids", func(id string) bool { return ValidID(id) == nil })
}
