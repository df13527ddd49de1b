package protocol

import (
	"math"
	"slices"
	"strings"
	"time"
)

// Limits of the wire, in bytes.
const (
	MaxLine = 1 << 20 // a line without its newline
	MaxBody = 65536   // a message's body
	MaxReq  = 128     // a request's "req"

	maxToken = 256
)

// Version is the protocol's number in hello, status and subscribed.
const Version = 1

// The words of "mode", "kind" and "redelivery".
const (
	ModeSequential = "sequential"
	ModeImportant  = "important"
	ModeUrgent     = "urgent"

	KindMessage = "message"
	KindNotice  = "notice"
	KindCommand = "command"

	RedeliverNever = "never"
	RedeliverOnce  = "once"
)

// Modes lists the modes that this version accepts in an inject.
func Modes() []string { return []string{ModeSequential} }

// Features lists what a client may use: the request types that are answered.
func Features() []string { return []string{"hello", "inject", "query", "status", "subscribe"} }

// Request is one of *[Hello], *[Inject], *[Query], *[Status] and *[Subscribe].
type Request interface {
	Frame
	// Tag is the request's "req", empty when it has none.
	Tag() string
	decode(*fields)
}

// Head is what every request has.
type Head struct {
	Req string `json:"req,omitzero"`
}

// Tag is the request's "req", empty when it has none.
func (h *Head) Tag() string { return h.Req }

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
}

// Query asks for the latest result of a message and for those that follow.
type Query struct {
	Head
	ID string `json:"id"`
}

// Status asks for a [StatusAnswer].
type Status struct{ Head }

// Subscribe asks for events: those after sequence number After (0 = all that are
// kept, nil = from now on), of the given types (none = all).
type Subscribe struct {
	Head
	After  *int64   `json:"after,omitzero"`
	Events []string `json:"events,omitzero"`
}

// Type is the frame's "type".
func (*Hello) Type() string { return "hello" }

// Type is the frame's "type".
func (*Inject) Type() string { return "inject" }

// Type is the frame's "type".
func (*Query) Type() string { return "query" }

// Type is the frame's "type".
func (*Status) Type() string { return "status" }

// Type is the frame's "type".
func (*Subscribe) Type() string { return "subscribe" }

// Timeout is TimeoutMS as a duration, 0 for never. What a duration cannot hold is
// the longest that it can, 292 years.
func (r *Inject) Timeout() time.Duration {
	if r.TimeoutMS > math.MaxInt64/int64(time.Millisecond) {
		return math.MaxInt64
	}
	return time.Duration(r.TimeoutMS) * time.Millisecond
}

func newRequest(typ string) Request {
	switch typ {
	case "hello":
		return new(Hello)
	case "inject":
		return new(Inject)
	case "query":
		return new(Query)
	case "status":
		return new(Status)
	case "subscribe":
		return new(Subscribe)
	}
	return nil
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
	r := newRequest(typ)
	if r == nil {
		f.fail(UnknownType, "type", "this version answers %s", strings.Join(Features(), ", "))
		return nil
	}
	r.decode(f)
	f.noneLeft()
	return r
}

func (h *Head) decode(f *fields) { h.Req = f.checked("req", may, validReq) }

func (r *Hello) decode(f *fields) {
	r.Head.decode(f)
	r.Token = f.checked("token", may, atMost(maxToken))
}

func (r *Query) decode(f *fields) {
	r.Head.decode(f)
	r.ID = f.checked("id", must, ValidID)
}

func (r *Subscribe) decode(f *fields) {
	r.Head.decode(f)
	if f.has("after") {
		after := f.integer("after", 0)
		r.After = &after
	}
	r.Events = f.list("events", EventTypes())
}

func (r *Inject) decode(f *fields) {
	r.Head.decode(f)
	r.ID = f.checked("id", must, ValidID)
	r.From = f.checked("from", must, ValidFrom)
	r.Body = f.body()
	r.Priority = f.integer("priority", math.MinInt64)
	r.Mode = f.oneOf("mode", Modes())
	r.TimeoutMS = f.integer("timeout_ms", 0)
	r.Redelivery = f.oneOf("redelivery", []string{RedeliverNever, RedeliverOnce})
	r.ReplyTo = f.checked("reply_to", may, ValidID)
	r.Thread = f.checked("thread", may, ValidID)
	r.Kind = f.kind()
}

func (f *fields) body() string {
	body := f.text("body", must)
	switch {
	case f.err != nil:
	case body == "":
		f.fail(BadField, "body", "a body may not be empty")
	case len(body) > MaxBody:
		f.fail(MessageTooLarge, "body", "a body may have at most %d bytes, this one has %d", MaxBody, len(body))
	}
	return body
}

// kind accepts what this version types into an agent. A command is a known word that
// nobody may say yet, hence the code of its own.
func (f *fields) kind() string {
	kind := f.oneOf("kind", []string{KindMessage, KindNotice, KindCommand})
	if kind == KindCommand {
		f.fail(NotAuthorized, "kind", "this wrapper takes no commands")
	}
	return kind
}

func (f *fields) oneOf(name string, words []string) string {
	if !f.has(name) {
		return words[0]
	}
	got := f.text(name, must)
	if f.err == nil && !slices.Contains(words, got) {
		f.fail(BadField, name, "this version knows only %s", strings.Join(words, ", "))
	}
	return got
}
