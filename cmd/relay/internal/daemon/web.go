package daemon

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"

	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/home"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/cmd/relay/internal/settings"
	"relay-pty/cmd/relay/internal/tools"
	"relay-pty/protocol"
)

// web is the API over TCP.
type web struct {
	listener net.Listener
	door     api.Door
}

// web opens the API over TCP where it is asked for. A router that was started by need does without
// one whose address another program has.
func (d Daemon) web(ctx context.Context, h home.Home, set string) (*web, error) {
	addr := cmp.Or(d.HTTP, set)
	if addr == "" {
		return nil, nil
	}
	w, err := d.openWeb(ctx, h, addr)
	if err != nil && d.OnDemand {
		fmt.Fprintf(d.Errs, "relay: %v\n", err)
		return nil, nil
	}
	return w, err
}

// openWeb listens at an address of this machine alone, and makes the token if there is none.
func (d Daemon) openWeb(ctx context.Context, h home.Home, addr string) (*web, error) {
	at, err := settings.Loopback(addr)
	if err != nil {
		return nil, fmt.Errorf("http: %w", err)
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
	fmt.Fprintf(d.Errs, "relay: http://%s, token in %s\n", at, h.TokenFile())
	return &web{l, api.Door{Token: token, Addr: at}}, nil
}

// serve answers until ctx ends.
func (w *web) serve(ctx context.Context, server *api.Server, inner http.Handler) error {
	w.door.Server = server
	return serveHTTP(ctx, w.listener, w.door.Guard(inner))
}

// ToolsPath is where agents find relay's tools over HTTP; as, in its query, says as whom.
const ToolsPath = "/mcp"

// withTools is the API and, beside it, its tools for agents. Who calls them is known as the API
// knows who asks: an agent by its own token, or else as its address says.
func (d Daemon) withTools(ctx context.Context, server *api.Server) http.Handler {
	handler := server.Handler()
	who := func(r *http.Request) (tools.Visitor, error) {
		as := r.URL.Query().Get("as")
		if as != "" && as != router.Human {
			if err := protocol.ValidName(as); err != nil {
				return tools.Visitor{}, &router.ErrorValue{Code: string(protocol.BadField), Message: "as: " + err.Error()}
			}
		}
		is, err := server.Asker(r, as)
		if err != nil {
			return tools.Visitor{}, err
		}
		local := api.Local(ctx, handler, is.Token)
		ask := func(_ context.Context, f func(c *api.Client) error) error { return f(local) }
		c := tools.NewCaller(is.Name, tools.AtWrapper{Socket: is.Socket, Token: is.Token}, ask, d.NewID)
		return tools.Visitor{Caller: c, Key: is.Name + "\x00" + is.Token}, nil
	}
	mux := http.NewServeMux()
	mux.Handle(ToolsPath, tools.Over(d.Version, who, api.Refuse))
	mux.Handle("/", handler)
	return mux
}
