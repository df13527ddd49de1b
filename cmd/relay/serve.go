package main

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/bus"
	"relay-pty/cmd/relay/internal/fleet"
	"relay-pty/cmd/relay/internal/home"
	"relay-pty/cmd/relay/internal/hub"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/cmd/relay/internal/settings"
	"relay-pty/cmd/relay/internal/shelf"
	"relay-pty/protocol/own"
	"relay-pty/protocol/version"
)

// idleEnd is how long a router that was started by need goes on with nothing to do.
const idleEnd = 10 * time.Second

// onDemand is the flag of a router that was started by need.
const onDemand = "on-demand"

func serveCommand(s streams) *cobra.Command {
	var o serving
	c := &cobra.Command{
		Use: "serve", Short: "Run the router in the foreground", Args: noArgs,
		Long: "serve runs the router in the foreground. There is no need to: relay run and relay send\nstart one when none runs, which ends when nothing is left to do.\n\n" + overHTTP,
		RunE: func(c *cobra.Command, _ []string) error {
			if _, err := settings.Loopback(o.http); o.http != "" && err != nil {
				return usage{fmt.Errorf("serve: --http: %w", err)}
			}
			return serve(c.Context(), s, o)
		},
	}
	c.Flags().StringVar(&o.http, "http", "", "serve the API over TCP, too, at a port of this machine (127.0.0.1:PORT)")
	c.Flags().StringVar(&o.store, "store", "", "directory of the log (default ~/.local/state/relay)")
	c.Flags().BoolVar(&o.ends, onDemand, false, "end when nothing is wrapped and nothing waits")
	c.Flags().MarkHidden(onDemand) // it exists
	return c
}

const overHTTP = `With --http, or the setting http_addr, what is asked over the router's socket can be asked over
TCP, by programs of this machine:

  curl -H "Authorization: Bearer $(cat $XDG_RUNTIME_DIR/relay/http.token)" localhost:PORT/v1/agents

Whoever has the token acts as the human, or as whom "from" says. An agent's own token makes it that
agent. Requests of web pages from elsewhere are refused. At /mcp are the tools of relay mcp, for
agents that take them by HTTP; /mcp?as=NAME speaks as NAME.`

// serving is how the router is to run.
type serving struct {
	store, http string
	ends        bool // when nothing is left to do
}

func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage{fmt.Errorf("%s takes no arguments, got %q", c.Name(), args[0])}
	}
	return nil
}

// errIdle is why a router that was started by need ends.
var errIdle = errors.New("nothing is left to do")

// serve runs the router until ctx ends. Its parts end with it; the first to fail ends all.
func serve(parent context.Context, s streams, o serving) error {
	h, err := home.Find(o.store)
	if err != nil {
		return err
	}
	set, err := settings.Load()
	if err != nil {
		return err
	}
	socket, err := h.Take()
	if held := (*home.HeldError)(nil); o.ends && errors.As(err, &held) {
		return nil // there is a router, which is all that was needed
	}
	if err != nil {
		return err
	}
	defer socket.Release()
	log, err := bus.Open(parent, h.Store, bus.Keep{Age: set.Age, Bytes: set.Bytes})
	if err != nil {
		return err
	}
	defer log.Close()
	kept, err := shelf.Open(filepath.Join(h.Store, "state.db"))
	if err != nil {
		return err
	}
	defer kept.Close()
	hub, err := hub.Open(parent, log, kept, rulesOf(set), newID)
	if err != nil {
		return err
	}
	tcp, err := o.web(parent, s, h, set.HTTPAddr)
	if err != nil {
		return err
	}
	if err := socket.Listen(parent); err != nil {
		return err
	}
	fmt.Fprintf(s.err, "relay: router at %s, log in %s\n", h.Socket, h.Store)
	ctx, stop := context.WithCancelCause(parent)
	var parts sync.WaitGroup
	part := func(name string, f func(context.Context) error) {
		parts.Go(func() { stop(fmt.Errorf("%s: %w", name, f(ctx))) })
	}
	busy := &activity{last: time.Now()}
	server := api.Server{Hub: hub, Agents: h.Agents, Version: version.Release, Log: log}
	answers := busy.watch(withTools(ctx, &server))
	part("api", func(ctx context.Context) error { return serveHTTP(ctx, socket, answers) })
	if tcp != nil {
		part("http", func(ctx context.Context) error { return tcp.serve(ctx, &server, answers) })
	}
	part("wrappers", (&fleet.Fleet{Hub: hub, Dir: h.Agents}).Run)
	part("log", hub.Run)
	part("files", func(ctx context.Context) error {
		return watchNames(ctx, s, log, socket, kept.Name())
	})
	part("state", func(ctx context.Context) error { return hub.Keep(ctx, set.Age) })
	if o.ends {
		part("idle", func(ctx context.Context) error { return idle(ctx, hub, busy) })
	}
	parts.Wait()
	err = context.Cause(ctx)
	if gone := (*own.PathError)(nil); errors.As(err, &gone) || errors.Is(err, bus.ErrGone) {
		log.Abandon()
	}
	if parent.Err() == nil && !errors.Is(err, errIdle) {
		return err
	}
	return nil
}

// rulesOf are the settings that the router needs.
func rulesOf(set settings.Settings) router.Rules {
	host, err := os.Hostname()
	if err != nil {
		host = "" // then no name has one
	}
	return router.Rules{
		Host: host, KeepMS: set.Age.Milliseconds(), NoDirect: !set.AllowAgentDirect, Urgent: set.AllowUrgent,
		DefaultTimeoutMS: set.DefaultTimeout.Milliseconds(), DirectExpiryMS: set.DirectExpiry.Milliseconds(),
	}
}

// watchNames ends when something of the router was removed or moved away. Where nobody tells of
// that, it shows when the next event is written.
func watchNames(ctx context.Context, s streams, names ...own.Name) error {
	ctx, stop := context.WithCancelCause(ctx)
	err := own.Guard(ctx, func(err error) { stop(err) }, names...)
	if ctx.Err() == nil {
		fmt.Fprintf(s.err, "relay: files are not watched: %v\n", err)
		<-ctx.Done()
	}
	return context.Cause(ctx)
}

func serveHTTP(ctx context.Context, l net.Listener, h http.Handler) error {
	srv := &http.Server{Handler: h, BaseContext: func(net.Listener) context.Context { return ctx }, ReadHeaderTimeout: time.Minute}
	// Requests that wait are answered at once, for their context has ended.
	stop := context.AfterFunc(ctx, func() { srv.Shutdown(context.WithoutCancel(ctx)) })
	defer stop()
	err := srv.Serve(l)
	if errors.Is(err, http.ErrServerClosed) {
		return context.Cause(ctx)
	}
	return err
}

// activity counts requests.
type activity struct {
	mu   sync.Mutex
	now  int
	last time.Time
}

func (a *activity) add(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.now, a.last = a.now+n, time.Now()
}

// rest is how long nobody asked, 0 while somebody does.
func (a *activity) rest() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.now > 0 {
		return 0
	}
	return time.Since(a.last)
}

func (a *activity) watch(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.add(1)
		defer a.add(-1)
		h.ServeHTTP(w, r)
	})
}

// idle ends when there was nothing to do for a while.
func idle(ctx context.Context, hub *hub.Hub, busy *activity) error {
	for {
		changed := hub.Changed()
		var look <-chan time.Time
		if hub.Idle() {
			rest := busy.rest()
			if rest >= idleEnd {
				return errIdle
			}
			look = time.After(idleEnd - rest)
		}
		select {
		case <-changed:
		case <-look:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

var letters = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// newID is short, for agents have to repeat it.
func newID() string {
	var b [5]byte
	rand.Read(b[:]) // never fails
	return "m-" + strings.ToLower(letters.EncodeToString(b[:]))
}
