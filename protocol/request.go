package protocol

import (
	"math"
	"strings"
	"time"
)

// Limits of the wire, in bytes.
const (
	MaxLine = 1 << 20 // a line without its newline
	MaxBody = 65536   // a message's body
	MaxReq  = 128     // a request's "req"

	MaxDetail = 1024 // a signal's "detail", and a "reply_quote"

	MaxKeys = 16 // names in "keys"
	MaxPull = 64 // messages that one pull takes, and ids that one pull_ack names

	maxToken = 256
)

// Version is the protocol's number in hello, status and subscribed.
const Version = 1

// requests are those that this version answers.
var requests = []Request{(*Hello)(nil), (*Inject)(nil), (*Query)(nil), (*Cancel)(nil), (*Queue)(nil), (*Status)(nil),
	(*Subscribe)(nil), (*Screen)(nil), (*Signal)(nil), (*Pull)(nil), (*PullAck)(nil), (*Emit)(nil),
	(*Pause)(nil), (*Resume)(nil), (*Keys)(nil), (*Explain)(nil)}

// Features lists what a client may use: the request types that are answered.
func Features() []string { return types(requests) }

// Request is one of *[Hello], *[Inject], *[Query], *[Cancel], *[Queue], *[Status],
// *[Subscribe], *[Screen], *[Signal], *[Pull], *[PullAck], *[Emit], *[Pause], *[Resume],
// *[Keys] and *[Explain].
type Request interface {
	Frame
	// Tag is the request's "req", empty when it has none.
	Tag() string
	// SetTag gives it one, by which its answer is told.
	SetTag(req string)
	decode(*fields)
}

// Head is what every request has, and every answer to one.
type Head struct {
	Req string `json:"req,omitzero"` // the same in a request and its answer
}

// Tag is the "req", empty when there is none.
func (h *Head) Tag() string { return h.Req }

// SetTag sets the "req".
func (h *Head) SetTag(req string) { h.Req = req }

// Hello asks who is there. With the wrapper's token the connection speaks as the agent.
type Hello struct {
	Head
	Token string `json:"token,omitzero"`
}

// Inject asks for a message to be typed into the agent. A decoded one has its
// defaults filled in.
type Inject struct {
	Head
	ID         string `json:"id"`
	From       string `json:"from"`
	Body       string `json:"body"`
	Priority   int64  `json:"priority,omitzero"` // lower goes first
	Mode       string `json:"mode,omitzero"`
	TimeoutMS  int64  `json:"timeout_ms,omitzero"` // milliseconds; 0 = never
	Redelivery string `json:"redelivery,omitzero"`
	ReplyTo    string `json:"reply_to,omitzero"`
	Thread     string `json:"thread,omitzero"`
	Kind       string `json:"kind,omitzero"`
	// ShortID stands for ID in what the agent reads, where a router chose one; no other message
	// that the wrapper knows may have it.
	ShortID string `json:"short_id,omitzero"`
	// What the agent reads of the message that is answered: the id that it knows, if that is not
	// ReplyTo, and how its text begins.
	ReplyShortID string `json:"reply_short_id,omitzero"`
	ReplyQuote   string `json:"reply_quote,omitzero"`
}

// Query asks for the latest result of a message and for those that follow.
type Query struct {
	Head
	ID string `json:"id"`
}

// Cancel asks for a message not to be injected.
type Cancel struct {
	Head
	ID string `json:"id"`
}

// Queue asks for a [QueueAnswer].
type Queue struct{ Head }

// Status asks for a [StatusAnswer].
type Status struct{ Head }

// Screen asks for a [ScreenAnswer].
type Screen struct{ Head }

// Explain asks for an [ExplainAnswer].
type Explain struct{ Head }

// Pause asks that no message begins to be typed for so long, or until a [Resume]. One that is being
// typed is finished; what waits is kept, over the end of the wrapper, too.
type Pause struct {
	Head
	ForMS int64 `json:"for_ms,omitzero"` // milliseconds; 0 = until a resume
}

// Resume ends a pause.
type Resume struct{ Head }

// Keys asks for keys to be pressed in the agent, by their names.
type Keys struct {
	Head
	Keys []string `json:"keys"`
}

// Signal is the agent's own word about its state.
type Signal struct {
	Head
	Event  string `json:"event"` // one of [Signals]
	Detail string `json:"detail,omitzero"`
}

// Emit is a message that the agent wants sent, as by a marker.
type Emit struct {
	Head
	To      string `json:"to"`
	Body    string `json:"body"`
	ReplyTo string `json:"reply_to,omitzero"`
	Thread  string `json:"thread,omitzero"`
	Mode    string `json:"mode,omitzero"` // empty: not said
}

// Subscribe asks for events: those after sequence number After (0 = all that are
// kept, nil = from now on), of the given types (none = all).
type Subscribe struct {
	Head
	After  *int64   `json:"after,omitzero"`
	Events []string `json:"events,omitzero"`
}

// Type is the frame's "type".
func (*Hello) Type() string     { return "hello" }
func (*Inject) Type() string    { return "inject" }
func (*Query) Type() string     { return "query" }
func (*Cancel) Type() string    { return "cancel" }
func (*Queue) Type() string     { return "queue" }
func (*Status) Type() string    { return "status" }
func (*Screen) Type() string    { return "screen" }
func (*Explain) Type() string   { return "explain" }
func (*Signal) Type() string    { return "signal" }
func (*Emit) Type() string      { return "emit" }
func (*Subscribe) Type() string { return "subscribe" }
func (*Pause) Type() string     { return "pause" }
func (*Resume) Type() string    { return "resume" }
func (*Keys) Type() string      { return "keys" }

// Timeout is TimeoutMS as a duration, 0 for never.
func (r *Inject) Timeout() time.Duration { return millis(r.TimeoutMS) }

// For is ForMS as a duration, 0 for without end.
func (r *Pause) For() time.Duration { return millis(r.ForMS) }

// millis is so many milliseconds. What a duration cannot hold is the longest that it can, 292
// years.
func millis(n int64) time.Duration {
	if n > math.MaxInt64/int64(time.Millisecond) {
		return math.MaxInt64
	}
	return time.Duration(n) * time.Millisecond
}

// DecodeRequest reads one line, without its newline. It refuses whatever the package
// comment does not allow, with an error of the closed set which names the field,
// the id and the req where they could be read.
func DecodeRequest(line []byte) (Request, *Error) {
	if len(line) > MaxLine {
		return nil, TooLong()
	}
	f := scan(line)
	r := f.request()
	if f.err != nil {
		f.err.ID, f.err.Req = f.peek("id", ValidID), f.peek("req", validReq)
		return nil, f.err
	}
	return r, nil
}

// TooLong is the error for a line over [MaxLine]; the connection ends with it.
func TooLong() *Error {
	return &Error{Code: LineTooLarge, Message: "a line may have at most 1048576 bytes; this connection ends here"}
}

func (f *fields) request() Request {
	if f.err != nil {
		return nil
	}
	typ := f.text("type", must)
	if f.err != nil {
		return nil
	}
	r, known := made(requests, typ)
	if !known {
		f.fail(UnknownType, "type", "this version answers %s", strings.Join(Features(), ", "))
		return nil
	}
	r.decode(f)
	f.noneLeft()
	return r
}
