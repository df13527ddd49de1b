// Package daemon is the router as a process: it takes the socket, opens the log, and runs the parts
// until one of them fails, its context ends, or, where it was started by need, nothing is left to
// do. All goroutines end before Run does.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/chain"
	"relay-pty/cmd/relay/internal/fleet"
	"relay-pty/cmd/relay/internal/home"
	"relay-pty/cmd/relay/internal/hub"
	"relay-pty/cmd/relay/internal/peer"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/cmd/relay/internal/settings"
	"relay-pty/cmd/relay/internal/store"
	"relay-pty/protocol/own"
)

// idleEnd is how long a router that was started by need goes on with nothing to do.
const idleEnd = 10 * time.Second

// errIdle is why a router that was started by need ends.
var errIdle = errors.New("nothing is left to do")

// Daemon is how a router is to run.
type Daemon struct {
	Store    string        // directory of the log; "": the usual one
	HTTP     string        // address of this machine at which the API is served over TCP, too; "": that of the settings
	OnDemand bool          // it ends when nothing is left to do, or another one runs
	Version  string        // of the program
	NewID    func() string // an id that no message has
	Errs     io.Writer     // told where it is, and what is in its way
}

// unneeded is nil where another router is why this one does not run, which was to be there if none
// was.
func (d Daemon) unneeded(err error) error {
	if held := (*own.HeldError)(nil); d.OnDemand && errors.As(err, &held) {
		return nil
	}
	return err
}

// Run runs the router until parent ends. Its parts end with it; the first to fail ends all.
func (d Daemon) Run(parent context.Context) error {
	h, err := home.Here(d.Store)
	if err != nil {
		return err
	}
	set, err := settings.Load()
	if err != nil {
		return err
	}
	socket, err := h.Take()
	if err != nil {
		return d.unneeded(err)
	}
	defer socket.Release()
	log, err := store.Open(parent, h.Store, store.Limit{Age: set.Age, Bytes: set.Bytes})
	if err != nil {
		return d.unneeded(err) // by one in another place, where its lock leads
	}
	defer log.Close()
	if err := log.Tell(h.Socket); err != nil { // it works, for who has our environment
		fmt.Fprintf(d.Errs, "relay: note: who looks elsewhere does not find this router: %v\n", err)
	}
	hub, err := d.read(parent, log, set)
	if err != nil {
		return err
	}
	places := h.Places()
	hub.Announced = func(name string) bool { _, runs, _ := places.Find(name); return runs } // else the name is none, too
	tcp, err := d.web(parent, h, set.HTTPAddr)
	if err != nil {
		return err
	}
	if err := socket.Open(); err != nil {
		return err
	}
	fmt.Fprintf(d.Errs, "relay: router at %s, log in %s\n", h.Socket, h.Store)
	ctx, stop := context.WithCancelCause(parent)
	var parts sync.WaitGroup
	part := func(name string, f func(context.Context) error) {
		parts.Go(func() { stop(fmt.Errorf("%s: %w", name, f(ctx))) })
	}
	busy := &activity{last: time.Now()}
	server := api.Server{Hub: hub, Agents: places, Version: d.Version, Log: log}
	answers := busy.watch(d.withTools(ctx, &server))
	part("api", func(ctx context.Context) error { return serveHTTP(ctx, socket, answers) })
	if tcp != nil {
		part("http", func(ctx context.Context) error { return tcp.serve(ctx, &server, answers) })
	}
	part("wrappers", (&fleet.Fleet{Hub: hub, Places: places}).Run)
	part("log", hub.Run)
	part("files", func(ctx context.Context) error {
		return d.watchNames(ctx, log, socket)
	})
	part("memory", staySmall)
	part("check", func(ctx context.Context) error { return log.Watch(ctx, d.found) })
	part("state", func(ctx context.Context) error { return hub.Keep(ctx, set.Age) })
	if d.OnDemand {
		part("router.log", h.CutLog)
		part("idle", func(ctx context.Context) error { return idle(ctx, hub, busy) })
	}
	parts.Wait()
	return ended(parent, context.Cause(ctx))
}

// read takes in what the log has, and tells what of it cannot be read.
func (d Daemon) read(ctx context.Context, log *store.Store, set settings.Settings) (*hub.Hub, error) {
	if log.Old {
		fmt.Fprintln(d.Errs, "relay: note: the log of an older version is not read and stays where it is; a new one begins")
	}
	if log.Lost != 0 {
		fmt.Fprintf(d.Errs, "relay: note: the log that was here, up to event %d, is gone with its file; a new one begins\n", log.Lost)
	}
	if weak := log.Weak(); weak != "" {
		fmt.Fprintf(d.Errs, "relay: note: %s\n", weak)
	}
	h, err := hub.New(ctx, log, rulesOf(set), d.NewID)
	if lost := log.Damaged(); err == nil && len(lost) > 0 {
		fmt.Fprintf(d.Errs, "relay: note: damaged and passed over: %s\n", strings.Join(lost, ", "))
	}
	return h, store.Explain(log.Dir(), err)
}

// found tells what of the store is damaged or missing.
func (d Daemon) found(what string) {
	fmt.Fprintf(d.Errs, "relay: note: the store: %s; relay doctor --fix, while no router runs, keeps what can be read\n", what)
}

// ended is what the end of a router's parts means: nothing, where it was to end.
func ended(parent context.Context, why error) error {
	if parent.Err() == nil && !errors.Is(why, errIdle) {
		return why
	}
	return nil
}

// rulesOf are the settings that the router needs.
func rulesOf(set settings.Settings) router.Rules {
	host, err := os.Hostname()
	if err != nil {
		host = "" // then no name has one
	}
	pair := set.PairLimit
	if pair == 0 {
		pair = math.MaxInt
	}
	return router.Rules{
		Chains: chain.Rules{Hops: set.MaxHops, Count: set.MaxChain},
		Host:   host, PairMost: pair, KeepMS: set.Age.Milliseconds(), NoDirect: !set.AllowAgentDirect, Urgent: set.AllowUrgent,
		DefaultTimeoutMS: set.DefaultTimeout.Milliseconds(), DirectExpiryMS: set.DirectExpiry.Milliseconds(),
	}
}

// watchNames ends when something of the router was removed or moved away that cannot be made anew.
// Where nobody tells of that, it shows when the next event is written.
func (d Daemon) watchNames(ctx context.Context, names ...own.Name) error {
	ctx, stop := context.WithCancelCause(ctx)
	tell := func(err error) {
		if lost(err) {
			stop(err)
			return
		}
		if err == nil {
			err = errors.New("the socket is there again")
		}
		fmt.Fprintf(d.Errs, "relay: note: %v\n", err)
	}
	err := own.Guard(ctx, tell, names...)
	if ctx.Err() == nil {
		fmt.Fprintf(d.Errs, "relay: note: files are not watched: %v\n", err)
		<-ctx.Done()
	}
	return context.Cause(ctx)
}

// lost reports whether anything in err is more than a socket that is away for a while.
func lost(err error) bool {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		return slices.ContainsFunc(all.Unwrap(), lost)
	}
	away := (*home.AwayError)(nil)
	return err != nil && !errors.As(err, &away)
}

func serveHTTP(ctx context.Context, l net.Listener, h http.Handler) error {
	srv := &http.Server{
		Handler: h, BaseContext: func(net.Listener) context.Context { return ctx }, ConnContext: peer.With,
		ReadHeaderTimeout: time.Minute, IdleTimeout: time.Minute, // a connection that nobody closed holds 20 KiB
	}
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
