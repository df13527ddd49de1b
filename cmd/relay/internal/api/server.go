package api

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed" // openapi.json
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"relay-pty/cmd/relay/internal/hub"
	"relay-pty/cmd/relay/internal/peer"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
	"relay-pty/protocol/registry"
)

// maxRequest is more than a body of the largest size takes, however it is escaped.
const maxRequest = 1 << 20

// NotRunning is the code for what only a wrapper that runs could answer.
const NotRunning = "agent_exited"

// Server answers the API. Its handlers end with their requests.
type Server struct {
	Hub    *hub.Hub
	Agents registry.Places // the directories in which wrappers announce themselves

	Version string      // of the program
	Log     interface { // what /metrics and /healthz tell of it; may be nil
		Size(ctx context.Context) (events, bytes int64, err error)
		// Faults are what is known to be damaged or missing.
		Faults() []string
	}
}

//go:embed openapi.json
var description []byte

// Handler answers all endpoints.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	for _, e := range endpoints {
		mux.HandleFunc(e.pattern, func(w http.ResponseWriter, r *http.Request) {
			r.Body = http.MaxBytesReader(w, r.Body, maxRequest)
			answer, err := e.answer(s, r)
			respond(w, stamped{answer, s.Hub.Epoch()}, err)
		})
	}
	mux.HandleFunc("GET /v1/events", s.events)
	mux.HandleFunc("GET /v1/openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write(description) // fails only when the client has gone
	})
	mux.HandleFunc("GET /metrics", s.metrics)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { nothing(mux, w, r) })
	return mux
}

// nothing answers what is no endpoint: 405 where another method would be one.
func nothing(mux *http.ServeMux, w http.ResponseWriter, r *http.Request) {
	var takes []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := mux.Handler(other); pattern != "/" {
			takes = append(takes, method)
		}
	}
	if len(takes) == 0 {
		respond(w, nil, router.Refusal(protocol.UnknownType,
			"there is nothing at %s; GET /v1/openapi.json tells what there is", r.URL.Path))
		return
	}
	w.Header().Set("Allow", strings.Join(takes, ", "))
	tellJSON(w, http.StatusMethodNotAllowed, router.Refusal(protocol.UnknownType,
		"%s takes %s, and not %s", r.URL.Path, strings.Join(takes, " or "), r.Method))
}

// statuses are the HTTP statuses of codes; others are 400.
var statuses = map[string]int{
	router.UnknownAgent: http.StatusNotFound, string(protocol.UnknownID): http.StatusNotFound, string(protocol.UnknownType): http.StatusNotFound,
	string(protocol.DuplicateID): http.StatusConflict, router.Confirm: http.StatusConflict, string(protocol.CursorGone): http.StatusGone,
	string(protocol.MessageTooLarge): http.StatusRequestEntityTooLarge, string(protocol.NotAuthorized): http.StatusForbidden,
	router.RateLimited:       http.StatusTooManyRequests,
	string(protocol.TooLate): http.StatusConflict, string(protocol.Degraded): http.StatusServiceUnavailable, NotRunning: http.StatusServiceUnavailable,
}

// asFault is an error as a client hears of it.
func asFault(err error) *router.ErrorValue {
	var e *router.ErrorValue
	if errors.As(err, &e) {
		return e
	}
	return router.Refusal(protocol.Degraded, "%v", err)
}

// stamped is an answer with the epoch of the log.
type stamped struct {
	answer any
	epoch  string
}

// MarshalJSON puts the epoch into the answer's object.
func (s stamped) MarshalJSON() ([]byte, error) {
	b, err := json.Marshal(s.answer)
	if n := len(b) - 1; err == nil && n > 0 && b[n] == '}' {
		b = append(b[:n], fmt.Sprintf(",%q:%q}", "epoch", s.epoch)...)
		b = bytes.Replace(b, []byte("{,"), []byte("{"), 1)
	}
	return b, err
}

// Refuse answers with an error.
func Refuse(w http.ResponseWriter, err error) { respond(w, nil, err) }

func respond(w http.ResponseWriter, answer any, err error) {
	if err == nil {
		tellJSON(w, http.StatusOK, answer)
		return
	}
	e := asFault(err)
	status, ok := statuses[e.Code]
	if !ok {
		status = http.StatusBadRequest
	}
	tellJSON(w, status, e)
}

func tellJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(protocol.Escaping{Writer: w}).Encode(v) // fails only when the client has gone
}

// Asker is who asks: an agent by its own token, else a name that anybody may say.
type Asker struct {
	Name          string
	Token, Socket string // of an agent that runs, and of its wrapper; else empty
}

// asker is the agent of the token, else nobody.
func (s *Server) asker(r *http.Request) (Asker, error) {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return Asker{}, nil
	}
	sum := sha256.Sum256([]byte(token))
	list, err := s.Agents.List()
	if i := slices.IndexFunc(list, func(a registry.Record) bool { return a.TokenSHA256 == hex.EncodeToString(sum[:]) }); i >= 0 {
		if why := peer.Foreign(r.Context(), list[i]); why != "" {
			return Asker{}, router.Refusal(protocol.NotAuthorized, "the token is of %s, and counts not here: %s", list[i].Name, why)
		}
		return Asker{list[i].Name, token, list[i].Socket}, nil
	}
	if err != nil {
		return Asker{}, err
	}
	return Asker{}, router.Refusal(protocol.NotAuthorized, "the token is of no running agent: "+
		"a shell that was started inside of one which has ended has to unset RELAY_AGENT RELAY_TOKEN RELAY_SOCKET")
}

// identity is the name of who asks by a token, else empty.
func (s *Server) identity(r *http.Request) (string, error) {
	a, err := s.asker(r)
	return a.Name, err
}

// own refuses an agent, known by its token, what is not its own. as is its name, "" a person's.
func (s *Server) own(r *http.Request, what string, mine func(as string) bool) (as string, err error) {
	as, err = s.identity(r)
	if err == nil && as != "" && !mine(as) {
		err = router.Refusal(protocol.NotAuthorized, "%s is not of %s, and an agent may do that with its own alone", what, as)
	}
	return as, err
}

// Asker is the agent of the token, else whoever the request says, else the human.
func (s *Server) Asker(r *http.Request, says string) (Asker, error) {
	a, err := s.asker(r)
	if err == nil && a.Name != "" && says != "" && says != a.Name {
		err = router.Refusal(protocol.NotAuthorized, "the token is of %s, and from says %s", a.Name, says)
	}
	a.Name = cmp.Or(a.Name, says, router.Human)
	return a, err
}

// sender is the name of who sends, by the same rule.
func (s *Server) sender(r *http.Request, says string) (string, error) {
	a, err := s.Asker(r, says)
	return a.Name, err
}

// named resolves self.
func (s *Server) named(r *http.Request, name string) (string, error) {
	if name != "self" {
		return name, nil
	}
	is, err := s.identity(r)
	if err == nil && is == "" {
		err = router.Refusal(protocol.NotAuthorized, "self: nobody knows who asks; name the agent, or run inside of it")
	}
	return is, err
}

// number is a parameter of the query, 0 where it is missing.
func number(r *http.Request, name string) (int64, error) {
	v := r.URL.Query().Get(name)
	if v == "" {
		return 0, nil
	}
	return natural(name, v)
}

// within bounds what a request waits for. Nobody waits for longer than a day, and a number of
// milliseconds may be too large for a duration.
func within(ctx context.Context, millis int64) (context.Context, context.CancelFunc) {
	const most = 24 * time.Hour
	return context.WithTimeout(ctx, time.Duration(min(millis, most.Milliseconds()))*time.Millisecond)
}

func natural(name, v string) (int64, error) {
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n < 0 {
		return 0, router.Refusal(protocol.BadField, "%s: %q is no number from 0 on", name, v)
	}
	return n, nil
}
