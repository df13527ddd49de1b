package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	strict "github.com/go-json-experiment/json"

	"relay-pty/cmd/relay/internal/hub"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
	"relay-pty/protocol/registry"
)

// maxRequest is more than a body of the largest size takes, however it is escaped.
const maxRequest = 1 << 20

// pageMost is how many events one answer holds.
const pageMost = 1000

// Server answers the API. Its handlers end with their requests.
type Server struct {
	Hub    *hub.Hub
	Agents string // the directory in which wrappers announce themselves
}

// Handler routes the paths of the contract.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern string, f func(r *http.Request) (any, error)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			r.Body = http.MaxBytesReader(w, r.Body, maxRequest)
			answer, err := f(r)
			respond(w, answer, err)
		})
	}
	handle("POST /v1/messages", s.send)
	handle("GET /v1/messages/{id}", s.message)
	handle("GET /v1/agents", s.agents)
	handle("GET /v1/events", s.events)
	handle("GET /healthz", func(*http.Request) (any, error) { return map[string]bool{"ok": true}, nil })
	handle("/", func(r *http.Request) (any, error) {
		return nil, fault(string(protocol.UnknownType), "there is no %s %s", r.Method, r.URL.Path)
	})
	return mux
}

func fault(code, format string, args ...any) *router.ErrorValue {
	return &router.ErrorValue{Code: code, Message: fmt.Sprintf(format, args...)}
}

// statuses are the HTTP statuses of codes; others are 400.
var statuses = map[string]int{
	router.UnknownAgent: http.StatusNotFound, string(protocol.UnknownID): http.StatusNotFound, string(protocol.UnknownType): http.StatusNotFound,
	string(protocol.DuplicateID): http.StatusConflict, string(protocol.CursorGone): http.StatusGone,
	string(protocol.MessageTooLarge): http.StatusRequestEntityTooLarge, string(protocol.NotAuthorized): http.StatusForbidden,
	router.RateLimited: http.StatusTooManyRequests, router.TooManyHops: http.StatusTooManyRequests,
	string(protocol.Degraded): http.StatusServiceUnavailable,
}

func respond(w http.ResponseWriter, answer any, err error) {
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		var e *router.ErrorValue
		if !errors.As(err, &e) {
			e = fault(string(protocol.Degraded), "%v", err)
		}
		status, ok := statuses[e.Code]
		if !ok {
			status = http.StatusBadRequest
		}
		w.WriteHeader(status)
		answer = e
	}
	json.NewEncoder(w).Encode(answer) // fails only when the client has gone
}

// decode reads a request as strictly as a wrapper does: unknown, doubled and case-folded fields,
// text that is no UTF-8 and a second value are refused.
func decode(r *http.Request, into any) error {
	err := strict.UnmarshalRead(r.Body, into, strict.RejectUnknownMembers(true))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return fault(string(protocol.MessageTooLarge), "the request is over %d bytes; a body may have %d", maxRequest, protocol.MaxBody)
	case err != nil:
		return fault(string(protocol.BadJSON), "the request: %v", err)
	}
	return nil
}

// identity is who asks: the agent of the token, else nobody.
func (s *Server) identity(r *http.Request) (string, error) {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return "", nil
	}
	sum := sha256.Sum256([]byte(token))
	list, err := registry.List(s.Agents)
	if i := slices.IndexFunc(list, func(a registry.Record) bool { return a.TokenSHA256 == hex.EncodeToString(sum[:]) }); i >= 0 {
		return list[i].Name, nil
	}
	if err != nil {
		return "", err
	}
	return "", fault(string(protocol.NotAuthorized), "the token is of no running agent")
}

func (s *Server) send(r *http.Request) (any, error) {
	var ask Send
	if err := decode(r, &ask); err != nil {
		return nil, err
	}
	from, err := s.identity(r)
	if err != nil {
		return nil, err
	}
	switch {
	case from == "" && ask.From == "":
		from = router.Human
	case from == "":
		from = ask.From
	case ask.From != "" && ask.From != from:
		return nil, fault(string(protocol.NotAuthorized), "the token is of %s, and from says %s", from, ask.From)
	}
	m, err := s.Hub.Send(r.Context(), router.Message{
		ID: ask.ID, From: from, To: ask.To, Body: ask.Body, Kind: ask.Kind, Mode: ask.Mode, Priority: ask.Priority, TimeoutMS: ask.TimeoutMS,
		Redelivery: ask.Redelivery, ReplyTo: ask.ReplyTo, Thread: ask.Thread,
	})
	if err != nil {
		return nil, err
	}
	return s.until(r.Context(), m.ID, ask.Until, ask.WaitMS)
}

func (s *Server) message(r *http.Request) (any, error) {
	wait, err := number(r, "wait")
	if err != nil {
		return nil, err
	}
	return s.until(r.Context(), r.PathValue("id"), r.URL.Query().Get("until"), wait)
}

// number is a parameter of the query, 0 where it is missing.
func number(r *http.Request, name string) (int64, error) {
	v := r.URL.Query().Get(name)
	if v == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n < 0 {
		return 0, fault(string(protocol.BadField), "%s: %q is no number from 0 on", name, v)
	}
	return n, nil
}

// until answers as soon as a message has come that far, or will not any more, or the time is over.
// A recipient that does not run can take nothing into a queue: then that is not waited for.
func (s *Server) until(ctx context.Context, id, level string, millis int64) (any, error) {
	if !slices.Contains([]string{"", UntilQueued, UntilDelivered, UntilReplied}, level) {
		return nil, fault(string(protocol.BadField), "until: %q is not queued, delivered or replied", level)
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(millis)*time.Millisecond)
	defer cancel()
	for {
		changed := s.Hub.Changed()
		m, ok := s.look(id)
		if !ok {
			return nil, fault(string(protocol.UnknownID), "no message has the id %s", id)
		}
		if level == "" || reached(m, level) || level == UntilQueued && !m.Running {
			return m, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return m, nil
		}
	}
}

// reached says whether a message has come to a level, or to an end before.
func reached(m Message, level string) bool {
	switch {
	case level == UntilReplied:
		return len(m.Replies) > 0 || m.Status != protocol.StatusDelivered && router.Ended(m.Status)
	case level == UntilDelivered:
		return router.Ended(m.Status)
	}
	return m.Status != router.StatusAccepted
}

func (s *Server) look(id string) (m Message, ok bool) {
	s.Hub.View(func(state *router.State, running func(string) bool) {
		var k router.Known
		if k, ok = state.Find(id); !ok {
			return
		}
		m = messageOf(k, running(k.To))
		for _, reply := range k.Replies {
			if r, ok := state.Find(reply); ok {
				m.Replies = append(m.Replies, Reply{r.ID, r.From, r.Body})
			}
		}
	})
	return m, ok
}

func messageOf(k router.Known, running bool) Message {
	m := Message{
		ID: k.ID, Status: k.Status, QueuePosition: k.QueuePosition, Mode: k.Mode, From: k.From, To: k.To, Body: k.Body, Priority: k.Priority,
		TimeoutMS: k.TimeoutMS, ReplyTo: k.ReplyTo, Thread: k.Thread, Evidence: k.Evidence, Attempt: k.Attempt, Error: k.Error,
		AcceptedAt: k.Accepted, Seq: k.Seq, Running: running, Replies: []Reply{},
	}
	if k.WaitingFor != "" {
		m.WaitingFor = &k.WaitingFor
	}
	return m
}

func (s *Server) agents(*http.Request) (any, error) {
	answer := Agents{Agents: []Agent{}}
	s.Hub.View(func(state *router.State, running func(string) bool) {
		for _, a := range state.Agents() {
			if !a.Wrapped {
				continue // a script
			}
			answer.Agents = append(answer.Agents, Agent{
				Name: a.Name, Running: running(a.Name), State: a.State, Profile: a.Profile, Waiting: len(state.Inbox(a.Name)), SeenAt: a.Seen,
			})
		}
	})
	return answer, nil
}

// events answers with what came after a cursor, or with what comes next.
func (s *Server) events(r *http.Request) (any, error) {
	after, err := number(r, "after")
	if err != nil {
		return nil, err
	}
	wait, err := number(r, "wait")
	if err != nil {
		return nil, err
	}
	want, err := s.filter(r)
	if err != nil {
		return nil, err
	}
	if r.URL.Query().Get("after") == "" {
		s.Hub.View(func(state *router.State, _ func(string) bool) { after = state.Last })
	}
	ctx, cancel := context.WithTimeout(r.Context(), time.Duration(wait)*time.Millisecond)
	defer cancel()
	for {
		changed := s.Hub.Changed()
		list, upTo, oldest, err := s.Hub.Events(r.Context(), after, pageMost, want)
		switch {
		case err != nil:
			return nil, err
		case after > 0 && after+1 < oldest:
			return nil, fault(string(protocol.CursorGone), "the events up to %d are no longer kept", oldest-1)
		case len(list) > 0:
			return Events{list, upTo}, nil
		}
		after = upTo
		select {
		case <-changed:
		case <-ctx.Done():
			return Events{[]router.Event{}, upTo}, nil
		}
	}
}

// filter is what the query wants of events.
func (s *Server) filter(r *http.Request) (func(*router.Event) bool, error) {
	var types []string
	if v := r.URL.Query().Get("event"); v != "" {
		types = strings.Split(v, ",")
	}
	target := r.URL.Query().Get("target")
	if target == "self" {
		name, err := s.identity(r)
		if err != nil {
			return nil, err
		}
		if target = name; name == "" {
			return nil, fault(string(protocol.NotAuthorized), "target self: nobody knows who asks; name the agent, or run inside of it")
		}
	}
	return func(e *router.Event) bool {
		return (len(types) == 0 || slices.Contains(types, e.Type)) &&
			(target == "" || target == "any" || e.Agent == target || e.To == target)
	}, nil
}
