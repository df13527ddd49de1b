package fakemodel

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// Wire is the protocol of a model API. It answers one request; an error says that the client is
// gone.
type Wire func(s *Server, w http.ResponseWriter, r Request) error

// Request is one request, read whole. Its context ends when the client hangs up: that is how an
// interrupted turn is noticed.
type Request struct {
	*http.Request
	Body []byte
}

// Responder chooses the reply to a turn.
type Responder func(Turn) Reply

// Server is a running fake model.
type Server struct {
	habits
	turnLog
	marks
	wire Wire
	url  string
	http *http.Server
	done chan error
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

// Close cuts all connections, stops serving and fails every WaitTurn.
func (s *Server) Close() error {
	err := s.http.Close()
	s.turnLog.close()
	if e := <-s.done; !errors.Is(e, http.ErrServerClosed) {
		err = errors.Join(err, e)
	}
	return err
}

// trouble is what a failing model says: long enough to cover what stands beside it.
const trouble = "the model cannot take the request at present, please try it again in a moment"

func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away
	}
	if s.present().fails {
		s.refused()
		refuse(w, 500, trouble) // fails only when the client is gone
		return
	}
	s.wire(s, w, Request{r, body}) // the same
}

// take logs a turn, has its reply given and logs the end. An error of give means
// that the client hung up.
func (s *Server) take(r Request, t Turn, give func(Reply) error) error {
	t.At = time.Now()
	h := s.present()
	if h.keepRaw {
		t.Raw = r.Body
	}
	t = s.begin(t)
	err := give(h.respond(t))
	s.end(t.N, err != nil)
	return err
}
