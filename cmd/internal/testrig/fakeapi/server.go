package fakeapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"relay-pty/cmd/relay-pty/check/modelapi"
)

// The words of modelapi, so that tests need one package.
type (
	Turn  = modelapi.Turn
	Reply = modelapi.Reply
	Tool  = modelapi.Tool
)

// ErrClosed is what WaitTurn returns once the server is closed.
var ErrClosed = modelapi.ErrClosed

// Say replies with text in small pieces.
func Say(text string) Reply { return modelapi.Say(text) }

// Wire is the protocol of a model API.
type Wire func(ctx context.Context, s *Server, r Request, a modelapi.Answer) error

// Request is one request, read whole.
type Request struct {
	Method, Path string // Path without the query
	Body         []byte
}

// Server is a running fake API. Set the fields of its Model before the first request.
type Server struct {
	*modelapi.Model

	wire Wire
	url  string
	http *http.Server
	done chan error
	mark marks
}

// Start serves wire on a free port of 127.0.0.1.
func Start(wire Wire) (*Server, error) {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for fake API: %w", err)
	}
	return Serve(ln, wire), nil
}

// Serve serves on ln, which must be on loopback, and owns it from then on.
func Serve(ln net.Listener, wire Wire) *Server {
	s := &Server{Model: &modelapi.Model{}, wire: wire, url: "http://" + ln.Addr().String(), done: make(chan error, 1)}
	s.Respond = s.Script
	s.http = &http.Server{Handler: http.HandlerFunc(s.handle), ReadHeaderTimeout: 10 * time.Second}
	go func() { s.done <- s.http.Serve(ln) }()
	return s
}

// URL is the base URL, without a path.
func (s *Server) URL() string { return s.url }

// Close cuts all connections, stops serving and fails every WaitTurn.
func (s *Server) Close() error {
	err := s.http.Close()
	s.Model.Close()
	if e := <-s.done; !errors.Is(e, http.ErrServerClosed) {
		err = errors.Join(err, e)
	}
	return err
}

// SetMark registers the text which a turn with the words "MARK name" is answered with.
func (s *Server) SetMark(name, text string) { s.mark.set(name, text) }

func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away
	}
	s.wire(r.Context(), s, Request{r.Method, r.URL.Path, body}, answer{w}) // fails only when the client is gone
}

// Messages is the wire of Claude Code.
func Messages(ctx context.Context, s *Server, r Request, a modelapi.Answer) error {
	return s.Model.Serve(ctx, r.Method, r.Path, r.Body, a)
}

// answer is a response by net/http.
type answer struct{ http.ResponseWriter }

func (a answer) Head(status int, contentType string) error {
	a.Header().Set("Content-Type", contentType)
	a.Header().Set("Cache-Control", "no-cache")
	a.WriteHeader(status)
	return nil
}

func (a answer) Flush() error { return http.NewResponseController(a.ResponseWriter).Flush() }
