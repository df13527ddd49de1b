package modelapi

import (
	"context"
	"io"
	"strings"
	"time"
)

// sideTools is the number of tools below which a request is a side question.
// Claude Code offers its model more than ten tools in a turn and none or one
// when it asks for a title.
const sideTools = 3

// Responder chooses the reply to a turn.
type Responder func(Turn) Reply

// Answer is where the response to one request goes: its head once, then its
// body. Errors mean that the client is gone.
type Answer interface {
	Head(status int, contentType string) error
	io.Writer
	Flush() error
}

// Model is a fake API. Set its fields before the first request.
type Model struct {
	// Respond chooses replies; it must not be nil.
	Respond Responder
	// KeepRaw keeps each turn's request body in Turn.Raw.
	KeepRaw bool
	// PingEvery is the time between pings in a silence; 0 means one second.
	PingEvery time.Duration

	log turnLog
}

// Close fails every WaitTurn.
func (m *Model) Close() { m.log.close() }

// Turns returns the turns so far, oldest first.
func (m *Model) Turns() []Turn { return m.log.snapshot() }

// Sides says how many side questions were answered so far.
func (m *Model) Sides() int { return m.log.sideCount() }

// WaitTurn returns the first turn for which want is true, now or later. want
// sees every turn again whenever one begins or ends. The error is ctx's cause,
// or ErrClosed.
func (m *Model) WaitTurn(ctx context.Context, want func(Turn) bool) (Turn, error) {
	return m.log.wait(ctx, want)
}

// Serve answers one request, of which path is without its query. It returns when
// the answer is complete, the client is gone or ctx has ended, which the
// transport sees to when the client hangs up: that is how an interrupted turn is
// noticed.
func (m *Model) Serve(ctx context.Context, method, path string, body []byte, a Answer) error {
	switch {
	case method == "POST" && path == "/v1/messages":
		return m.messages(ctx, body, a)
	case method == "POST" && path == "/v1/messages/count_tokens":
		return whole(a, 200, "application/json", `{"input_tokens":10}`)
	case method == "GET" || method == "HEAD":
		return whole(a, 200, "application/json", `{}`)
	}
	return whole(a, 404, "text/plain; charset=utf-8", "404 page not found\n")
}

func whole(a Answer, status int, contentType, body string) error {
	if err := a.Head(status, contentType); err != nil {
		return err
	}
	_, err := io.WriteString(a, body)
	return err
}

func (m *Model) messages(ctx context.Context, body []byte, a Answer) error {
	req, err := decode(body)
	if err != nil {
		return refuse(a, err)
	}
	reply := func(rep Reply) error { return m.answer(ctx, a, req, rep) }
	if len(req.Tools) < sideTools {
		return m.Aside(reply, sideReply(req))
	}
	t := req.turn()
	t.Raw = body
	return m.Take(t, reply)
}

// Take logs a turn, has its reply given and logs the end. An error of give means
// that the client hung up. Other wires than Anthropic's use it, too.
func (m *Model) Take(t Turn, give func(Reply) error) error {
	if !m.KeepRaw {
		t.Raw = nil
	}
	t = m.log.begin(t)
	err := give(m.Respond(t))
	m.log.end(t.N, err != nil)
	return err
}

// Aside counts a side question and has rep given.
func (m *Model) Aside(give func(Reply) error, rep Reply) error {
	m.log.side()
	return give(rep)
}

func (m *Model) answer(ctx context.Context, a Answer, req request, rep Reply) error {
	st := &stream{ctx: ctx, a: a, model: req.Model, pingEvery: m.PingEvery}
	if st.pingEvery <= 0 {
		st.pingEvery = time.Second
	}
	if !req.Stream {
		return st.whole(rep)
	}
	return st.events(rep)
}

// sideReply answers a side question in the two shapes Claude Code asks for.
func sideReply(req request) Reply {
	if strings.Contains(string(req.System), "isNewTopic") {
		return Say(`{"isNewTopic":false,"title":null}`)
	}
	return Say(`{"title":"Fake session"}`)
}

// refuse answers in the shape of the API's own errors.
func refuse(a Answer, why error) error {
	return whole(a, 400, "application/json", `{"type":"error","error":{"type":"invalid_request_error","message":`+quote(why.Error())+`}}`)
}
