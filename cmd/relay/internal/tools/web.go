package tools

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"relay-pty/protocol"
)

// restMost is how long a session may go without a request before it ends. A client then begins
// another one: its messages are where they were.
const restMost = 12 * time.Hour

// Visitor is a caller that comes by HTTP. Key is the same for all of its requests, and nobody
// else's.
type Visitor struct {
	Caller
	Key string
}

// Web serves callers over HTTP. Each of their sessions has a server of its own, and is answered for
// the one who began it alone, whoever else may know its id.
type Web struct {
	version string
	who     func(r *http.Request) (Visitor, error)
	refuse  func(w http.ResponseWriter, err error)
	secret  []byte // signs ids of sessions
	inner   http.Handler
	calls   sync.Map // contexts of requests that are being answered, by their numbers
	last    atomic.Int64
}

// Over makes a server of MCP over HTTP. who says who asks, or why it may not, which refuse tells.
func Over(version string, who func(r *http.Request) (Visitor, error), refuse func(http.ResponseWriter, error)) *Web {
	w := &Web{version: version, who: who, refuse: refuse, secret: []byte(rand.Text())}
	w.inner = mcp.NewStreamableHTTPHandler(serverOf, &mcp.StreamableHTTPOptions{SessionTimeout: restMost})
	return w
}

// The headers of a session's id and of a request's number, which is ours.
const (
	sessionHeader = "Mcp-Session-Id"
	callHeader    = "Relay-Call"
)

type serverKey struct{}

// serverOf is the server that a request's session is to have; nil where it has one.
func serverOf(r *http.Request) *mcp.Server {
	s, _ := r.Context().Value(serverKey{}).(*mcp.Server)
	return s
}

// ServeHTTP implements [http.Handler].
func (w *Web) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	v, err := w.who(r)
	if err != nil {
		w.refuse(out, err)
		return
	}
	id := r.Header.Get(sessionHeader)
	switch {
	case id == "":
		r = r.WithContext(context.WithValue(r.Context(), serverKey{}, w.server(v)))
	case !hmac.Equal([]byte(id), []byte(w.signed(id, v.Key))):
		// As of one that has ended: the caller begins its own.
		http.Error(out, "session not found", http.StatusNotFound)
		return
	}
	number := strconv.FormatInt(w.last.Add(1), 10)
	r.Header.Set(callHeader, number)
	w.calls.Store(number, r.Context())
	defer w.calls.Delete(number)
	w.inner.ServeHTTP(plain{out}, r)
}

// plain is an answer in JSON that may be shown as it is.
type plain struct{ http.ResponseWriter }

// Write implements [http.ResponseWriter]; the SDK writes whole lines.
func (p plain) Write(b []byte) (int, error) {
	return protocol.Escaping{Writer: p.ResponseWriter}.Write(b)
}

// Unwrap lets [http.ResponseController] flush.
func (p plain) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// server is one for a session that begins.
func (w *Web) server(v Visitor) *mcp.Server {
	return serve(w.version, &desk{Caller: v.Caller, gone: w.gone}, func() string { return w.signed(rand.Text(), v.Key) })
}

// signed is the id of a caller's session, of which any id has the beginning.
func (w *Web) signed(id, key string) string {
	name, _, _ := strings.Cut(id, ".")
	mac := hmac.New(sha256.New, w.secret)
	mac.Write([]byte(name + "." + key)) // never fails
	return name + "." + hex.EncodeToString(mac.Sum(nil))
}

// gone reports whether nobody waits for the answer to a request any more: what goes with it would
// be lost.
func (w *Web) gone(header http.Header) bool {
	ctx, ok := w.calls.Load(header.Get(callHeader))
	return !ok || ctx.(context.Context).Err() != nil
}
