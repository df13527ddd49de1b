package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// sideTools is the number of tools below which a request is a side question.
// Claude Code offers its model more than ten tools in a turn and none or one
// when it asks for a title.
const sideTools = 3

// Responder chooses the reply to a turn.
type Responder func(Turn) Reply

// Server is a running fake API. Set its fields before the first request.
type Server struct {
	// Respond chooses replies; nil means Script.
	Respond Responder
	// KeepRaw keeps each turn's request body in Turn.Raw.
	KeepRaw bool
	// PingEvery is the time between pings in a silence; 0 means one second.
	PingEvery time.Duration

	url  string
	http *http.Server
	done chan error
	log  turnLog
	mark marks
}

// Start serves on a free port of 127.0.0.1.
func Start() (*Server, error) {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for fake API: %w", err)
	}
	return Serve(ln), nil
}

// Serve serves on ln, which must be on loopback, and owns it from then on.
func Serve(ln net.Listener) *Server {
	s := &Server{url: "http://" + ln.Addr().String(), done: make(chan error, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", s.messages)
	mux.HandleFunc("POST /v1/messages/count_tokens", countTokens)
	mux.HandleFunc("/", anything)
	s.http = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { s.done <- s.http.Serve(ln) }()
	return s
}

// URL is the base URL, for ANTHROPIC_BASE_URL.
func (s *Server) URL() string { return s.url }

// Close cuts all connections, stops serving and fails every WaitTurn.
func (s *Server) Close() error {
	err := s.http.Close()
	s.log.close()
	if e := <-s.done; !errors.Is(e, http.ErrServerClosed) {
		err = errors.Join(err, e)
	}
	return err
}

// SetMark registers the text which a turn with the words "MARK name" is answered with.
func (s *Server) SetMark(name, text string) { s.mark.set(name, text) }

// Turns returns the turns so far, oldest first.
func (s *Server) Turns() []Turn { return s.log.snapshot() }

// Sides says how many side questions were answered so far.
func (s *Server) Sides() int { return s.log.sideCount() }

// WaitTurn returns the first turn for which want is true, now or later. want
// sees every turn again whenever one begins or ends. The error is ctx's cause,
// or ErrClosed.
func (s *Server) WaitTurn(ctx context.Context, want func(Turn) bool) (Turn, error) {
	return s.log.wait(ctx, want)
}

func (s *Server) messages(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away
	}
	req, err := decode(body)
	if err != nil {
		refuse(w, err)
		return
	}
	if len(req.Tools) < sideTools {
		s.log.side()
		s.answer(r.Context(), w, req, sideReply(req))
		return
	}
	t := req.turn()
	if s.KeepRaw {
		t.Raw = body
	}
	t = s.log.begin(t)
	err = s.answer(r.Context(), w, req, s.reply(t))
	s.log.end(t.N, err != nil)
}

func (s *Server) reply(t Turn) Reply {
	if s.Respond != nil {
		return s.Respond(t)
	}
	return s.Script(t)
}

func (s *Server) answer(ctx context.Context, w http.ResponseWriter, req request, rep Reply) error {
	st := &stream{ctx: ctx, w: w, model: req.Model, pingEvery: s.PingEvery}
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

func countTokens(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, `{"input_tokens":10}`) // a client gone away needs no answer
}

func anything(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, `{}`) // as above
}

func refuse(w http.ResponseWriter, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	// The shape of the API's own errors; a client gone away needs none.
	json.NewEncoder(w).Encode(map[string]any{
		"type":  "error",
		"error": map[string]string{"type": "invalid_request_error", "message": err.Error()},
	})
}
