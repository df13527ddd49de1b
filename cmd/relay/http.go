package main

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"

	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/home"
	"relay-pty/cmd/relay/internal/settings"
)

// web is the API over TCP.
type web struct {
	listener net.Listener
	door     api.Door
}

// web opens the API over TCP where it is asked for. A router that was started by need does without
// one whose address another program has.
func (o serving) web(ctx context.Context, s streams, h home.Home, set string) (*web, error) {
	addr := cmp.Or(o.http, set)
	if addr == "" {
		return nil, nil
	}
	w, err := openWeb(ctx, s, h, addr)
	if err != nil && o.ends {
		fmt.Fprintf(s.err, "relay: %v\n", err)
		return nil, nil
	}
	return w, err
}

// openWeb listens at an address of this machine alone, and makes the token if there is none.
func openWeb(ctx context.Context, s streams, h home.Home, addr string) (*web, error) {
	at, err := settings.Loopback(addr)
	if err != nil {
		return nil, usage{fmt.Errorf("http: %w", err)}
	}
	token, err := h.Token()
	if err != nil {
		return nil, fmt.Errorf("http: %w", err)
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", at.String())
	if err != nil {
		return nil, fmt.Errorf("http: %w: choose another address", err)
	}
	port := l.Addr().(*net.TCPAddr).AddrPort().Port() // which the system chose for 0
	at = netip.AddrPortFrom(at.Addr(), port)
	fmt.Fprintf(s.err, "relay: http://%s, token in %s\n", at, h.TokenFile())
	return &web{l, api.Door{Token: token, Addr: at}}, nil
}

// serve answers until ctx ends.
func (w *web) serve(ctx context.Context, server *api.Server, inner http.Handler) error {
	w.door.Server = server
	return serveHTTP(ctx, w.listener, w.door.Guard(inner))
}
