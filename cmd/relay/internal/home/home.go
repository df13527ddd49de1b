// Package home knows where the router has its socket and its store, and starts a router when none
// runs.
package home

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"relay-pty/cmd/relay/internal/api"
	"relay-pty/protocol/dirwatch"
	"relay-pty/protocol/registry"
)

// Home is the places of one user's router.
type Home struct {
	Agents string // directory in which wrappers announce themselves
	Socket string // of the router
	Store  string // its log
}

// Find returns the places, and makes the directories of the first two. An empty store is the usual
// one: $XDG_STATE_HOME/relay, else ~/.local/state/relay.
func Find(store string) (Home, error) {
	agents, err := registry.Dir()
	if err != nil {
		return Home{}, err
	}
	return at(agents, store)
}

// Look returns the same places, and makes nothing.
func Look(store string) (Home, error) {
	agents, err := registry.Where()
	if err != nil {
		return Home{}, err
	}
	return at(agents, store)
}

func at(agents, store string) (Home, error) {
	h := Home{Agents: agents, Socket: filepath.Join(filepath.Dir(agents), "router.sock"), Store: store}
	if h.Store != "" {
		return h, nil
	}
	state := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		user, err := os.UserHomeDir()
		if err != nil {
			return h, fmt.Errorf("no place for the store: %w: set XDG_STATE_HOME, or use --store", err)
		}
		state = filepath.Join(user, ".local", "state")
	}
	h.Store = filepath.Join(state, "relay")
	return h, nil
}

const (
	// startWait is how long a router may take to answer, one that has to be started first included.
	startWait = 30 * time.Second
	// A router that ends as soon as it is started may have lost against another one, which is then
	// about to answer, or be killed: it is started anew after that time, so many times in all.
	startAgain = 100 * time.Millisecond
	starts     = 20
)

// Client returns a client of the router that runs, or else of one that it starts: this program,
// with those arguments.
func (h Home) Client(ctx context.Context, token string, args ...string) (*api.Client, error) {
	c := api.NewClient(h.Socket, token)
	ctx, cancel := context.WithTimeoutCause(ctx, startWait, fmt.Errorf("the router does not answer at %s after %v: see %s", h.Socket, startWait, h.Log()))
	defer cancel()
	if _, err := c.Health(ctx); !absent(err) {
		return c, err
	}
	dir, err := dirwatch.Watch(filepath.Dir(h.Socket), func(name string) bool { return name == filepath.Base(h.Socket) })
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	for range starts {
		ended, err := h.start(args)
		if err != nil {
			return nil, fmt.Errorf("start the router: %w", err)
		}
		for going := true; going; {
			if _, err := c.Health(ctx); !absent(err) {
				return c, err
			}
			var later <-chan time.Time
			if ended == nil {
				later = time.After(startAgain)
			}
			select {
			case <-dir.Changed():
			case <-ended:
				ended = nil
			case <-later:
				going = false
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
	}
	return nil, fmt.Errorf("the router ends as soon as it is started: see %s", h.Log())
}

// Running returns a client of the router that runs, or an error; it starts none.
func (h Home) Running(ctx context.Context, token string) (*api.Client, error) {
	c := api.NewClient(h.Socket, token)
	_, err := c.Health(ctx)
	return c, err
}

// absent says whether nobody listens, or whoever did has ended before it answered.
func absent(err error) bool {
	var dial *net.OpError
	switch {
	case !errors.Is(err, api.ErrLost):
		return false
	case errors.As(err, &dial) && dial.Op == "dial":
		return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED)
	}
	return true // somebody took the question
}

// Log is where a router that was started by need tells why it ends.
func (h Home) Log() string { return filepath.Join(h.Store, "router.log") }

// start starts a router that outlives us and our terminal. ended is closed when it does not.
func (h Home) start(args []string) (ended <-chan struct{}, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(h.Store, 0o700); err != nil {
		return nil, err
	}
	out, err := os.OpenFile(h.Log(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close() // the router has its own
	cmd := exec.Command(self, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = "/", out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	done := make(chan struct{})
	go func() { cmd.Wait(); close(done) }() // why it ended is in its log
	return done, nil
}
