package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

// Door lets those in who ask over TCP, where every program of every user can ask, and every page in
// a browser. So it is open on loopback alone, and lets in who has the token, came by the door's own
// name (a page whose name was bent to 127.0.0.1 did not) and is no foreign page's request. Whoever
// has the token acts as whoever may use the socket: as the human, or as whom from says. The token
// of an agent that runs makes its request the agent's, as on the socket.
type Door struct {
	Server *Server
	Token  string
	Addr   netip.AddrPort // that is listened at
}

// Guard is inner behind the door.
func (d Door) Guard(inner http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !slices.Contains(d.hosts(), r.Host):
			turnAway(w, http.StatusForbidden, "the request is for the host %q, and this is %s", r.Host, d.Addr)
		case !sameOrigin(r):
			turnAway(w, http.StatusForbidden, "the request comes from a page of another origin")
		case !d.known(r):
			w.Header().Set("WWW-Authenticate", `Bearer realm="relay"`)
			turnAway(w, http.StatusUnauthorized, "say Authorization: Bearer TOKEN, with what stands in http.token beside the router's socket")
		default:
			inner.ServeHTTP(w, r)
		}
	})
}

// hosts are the names that a request may have come to. A page whose own name was made to mean this
// machine (DNS rebinding) asks for that name.
func (d Door) hosts() (list []string) {
	list = []string{d.Addr.String(), fmt.Sprintf("localhost:%d", d.Addr.Port())}
	for _, name := range list {
		if bare, ok := strings.CutSuffix(name, ":80"); ok { // which clients leave out
			list = append(list, bare)
		}
	}
	return list
}

// sameOrigin reports whether no browser sends the request for a page of somewhere else.
func sameOrigin(r *http.Request) bool {
	for _, origin := range r.Header.Values("Origin") {
		if origin != "http://"+r.Host {
			return false
		}
	}
	for _, site := range r.Header.Values("Sec-Fetch-Site") {
		if site != "same-origin" && site != "none" {
			return false
		}
	}
	return true
}

// known reports whether the request has a token that counts. The door's own says nothing about who
// asks, and goes no further.
func (d Door) known(r *http.Request) bool {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || token == "" {
		return false
	}
	got, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(d.Token))
	if subtle.ConstantTimeCompare(got[:], want[:]) == 1 {
		r.Header.Del("Authorization")
		return true
	}
	is, err := d.Server.identity(r)
	return err == nil && is != ""
}

func turnAway(w http.ResponseWriter, status int, format string, args ...any) {
	tellJSON(w, status, router.Refusal(protocol.NotAuthorized, format, args...))
}
