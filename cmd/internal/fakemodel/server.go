package fakemodel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"relay-pty/cmd/internal/await"
)

// Responder chooses the reply to a turn.
type Responder func(Turn) Reply

// ErrClosed is what the waits return once the server is closed.
var ErrClosed = errors.New("fake model closed")

// Server is a running fake model.
type Server struct {
	wire Wire
	url  string
	http *http.Server
	done chan error

	state    await.State // guards all below
	turns    []Turn
	refusals int
	closed   bool
	respond  Responder
	keepRaw  bool
	fails    bool
	marks    map[string]string
}

// Start serves wire on a free port of 127.0.0.1.
func Start(wire Wire) (*Server, error) {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for fake model: %w", err)
	}
	s := &Server{wire: wire, url: "http://" + ln.Addr().String(), done: make(chan error, 1)}
	s.respond = s.Script
	s.http = &http.Server{Handler: http.HandlerFunc(s.handle), ReadHeaderTimeout: 10 * time.Second}
	go func() { s.done <- s.http.Serve(ln) }()
	return s, nil
}

// URL is the base URL, without a path.
func (s *Server) URL() string { return s.url }

// Close cuts all connections, stops serving and fails every wait.
func (s *Server) Close() error {
	err := s.http.Close()
	s.state.Change(func() { s.closed = true })
	if e := <-s.done; !errors.Is(e, http.ErrServerClosed) {
		err = errors.Join(err, e)
	}
	return err
}

// Respond makes r choose the replies; until then Script does.
func (s *Server) Respond(r Responder) { s.state.Change(func() { s.respond = r }) }

// Responder is what chooses the replies.
func (s *Server) Responder() Responder {
	s.state.Lock()
	defer s.state.Unlock()
	return s.respond
}

// KeepRaw keeps each turn's request body in Turn.Raw.
func (s *Server) KeepRaw() { s.state.Change(func() { s.keepRaw = true }) }

// Fail has every request refused from now on, as by a server in trouble, or none any more. Agents
// try again.
func (s *Server) Fail(yes bool) { s.state.Change(func() { s.fails = yes }) }

// SetMark registers the text which a turn with the words "MARK name" is answered with.
func (s *Server) SetMark(name, text string) {
	s.state.Change(func() {
		if s.marks == nil {
			s.marks = map[string]string{}
		}
		s.marks[name] = text
	})
}

// Turns returns the turns so far, oldest first.
func (s *Server) Turns() []Turn {
	s.state.Lock()
	defer s.state.Unlock()
	return slices.Clone(s.turns)
}

// WaitTurn returns the first turn for which want is true, now or later. want sees every turn again
// whenever something changes. The error is ctx's cause, or ErrClosed.
func (s *Server) WaitTurn(ctx context.Context, want func(Turn) bool) (found Turn, err error) {
	err = s.wait(ctx, func(turns []Turn, _ int) bool {
		i := slices.IndexFunc(turns, want)
		if i >= 0 {
			found = turns[i]
		}
		return i >= 0
	})
	return found, err
}

// WaitRefused waits until Fail has had n requests refused. The error is ctx's cause, or ErrClosed.
func (s *Server) WaitRefused(ctx context.Context, n int) error {
	return s.wait(ctx, func(_ []Turn, refusals int) bool { return refusals >= n })
}

func (s *Server) wait(ctx context.Context, met func(turns []Turn, refusals int) bool) error {
	return s.state.Until(ctx, func() (bool, error) {
		s.state.Lock()
		turns, refusals, closed := slices.Clone(s.turns), s.refusals, s.closed
		s.state.Unlock()
		if ok := met(turns, refusals); ok || !closed {
			return ok, nil
		}
		return false, ErrClosed
	})
}

// trouble is what a failing model says: long enough to cover what stands beside it.
const trouble = "the model cannot take the request at present, please try it again in a moment"

// handle answers one request. What it writes fails only when the client is gone.
func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away
	}
	fails := false
	s.state.Change(func() {
		if fails = s.fails; fails {
			s.refusals++
		}
	})
	path, post := strings.ToLower(r.URL.Path), r.Method == "POST"
	switch {
	case fails:
		s.refuse(w, 500, trouble, 0)
	case post && strings.HasSuffix(path, s.wire.path):
		s.answer(w, r, body)
	case post && (strings.HasSuffix(path, ":counttokens") || strings.HasSuffix(path, "/count_tokens")):
		whole(w, 200, obj{"totalTokens": 10, "input_tokens": 10})
	case r.Method == "GET" || r.Method == "HEAD": // lists of models, mostly
		whole(w, 200, obj{"object": "list", "data": []obj{}, "models": []obj{}})
	default:
		s.refuse(w, 404, "no such route", 0)
	}
}

// answer gives the reply to a turn, and logs when it began and ended, or the answer to a question
// beside the conversation.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, body []byte) {
	var q request
	if err := json.Unmarshal(body, &q); err != nil {
		s.refuse(w, 400, err.Error(), 0)
		return
	}
	q.Stream = q.Stream || strings.Contains(r.URL.Path, ":stream")
	out := &stream{ctx: r.Context(), w: w, voice: s.wire.voice(q)}
	give := out.speak
	if out.whole != nil && !q.Stream {
		give = out.atOnce
	}
	t := q.turn(s.wire)
	if says := q.aside(s.wire, t); says != "" {
		give(Say(says))
		return
	}
	var respond Responder
	s.state.Change(func() {
		if s.keepRaw {
			t.Raw = body
		}
		t.N, t.At, respond = len(s.turns), time.Now(), s.respond
		s.turns = append(s.turns, t)
	})
	reply, aborted := respond(t), false
	switch {
	case reply.Refuse != 0:
		s.refuse(w, reply.Refuse, trouble, reply.Resets)
	case reply.Fault != Whole:
		aborted = true
		out.half(reply)
		reply.Fault.fail(r.Context(), w)
	default:
		aborted = give(reply) != nil // the client hung up
	}
	s.state.Change(func() { s.turns[t.N].Ended, s.turns[t.N].Aborted = time.Now(), aborted })
}
