package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"relay-pty/parser"
	"relay-pty/protocol/own"
	"relay-pty/protocol/registry"
	"relay-pty/protocol/sock"
)

// taken is what one wrapper alone has: its socket, and its name in each directory where it is
// listed.
type taken struct {
	listener *sock.Listener
	listed   []*registry.Announcement
}

// names are to be kept in this order: who is listed makes the directory in which the socket may be.
func (t *taken) names() (all []own.Name) {
	for _, a := range t.listed {
		all = append(all, a)
	}
	return append(all, t.listener)
}

// change tells everywhere what has turned out of the agent.
func (t *taken) change(change func(*registry.Record)) (err error) {
	for _, a := range t.listed {
		err = errors.Join(err, a.Change(change))
	}
	return err
}

func (t *taken) release() {
	for _, a := range t.listed {
		a.Retire()
	}
	t.listener.Close() // nobody can be told
}

// claim takes the socket and the name, each of which only one wrapper may hold.
func (w *wrapper) claim(stderr io.Writer) (*taken, error) {
	if err := sock.Allowed(); err != nil {
		return nil, err
	}
	dir, err := registry.Dir()
	if err != nil {
		return nil, err
	}
	listener, instead, err := w.listen(filepath.Dir(dir))
	if err != nil {
		return nil, err
	}
	w.cfg.Socket = listener.Path()
	t := &taken{listener: listener}
	sum := sha256.Sum256([]byte(w.token))
	record := registry.Record{
		Name: w.cfg.Name, Socket: w.cfg.Socket, StartedAt: time.Now().UnixMilli(),
		Agent: w.cfg.Profile.Name, TokenSHA256: hex.EncodeToString(sum[:]), State: w.cfg.State,
	}.Itself()
	for _, dir := range append([]string{dir}, routerDirs(w.cfg.State, dir)...) {
		a, err := registry.Announce(dir, record)
		if err != nil {
			t.release() // already failing
			return nil, err
		}
		t.listed = append(t.listed, a)
	}
	if instead != nil {
		w.log.Info().Err(instead).Msg("the socket is " + w.cfg.Socket)
		if !w.cfg.JSON {
			fmt.Fprintf(stderr, "relay-pty: %s; the socket is %s\n", parser.OneLine(instead.Error()), parser.OneLine(w.cfg.Socket)) // a courtesy
		}
	}
	return t, nil
}

// listen takes the socket that was asked for, or else the usual one: in /tmp, or, where somebody
// who is not this agent has that path, in place, a directory of ours alone; instead tells of him.
func (w *wrapper) listen(place string) (l *sock.Listener, instead, err error) {
	if w.cfg.Socket != "" {
		l, err = sock.Listen(w.cfg.Socket, w.cfg.Name)
		return l, nil, err
	}
	l, err = sock.Listen("/tmp/relay-pty-"+w.cfg.Name+".sock", w.cfg.Name)
	var held *own.HeldError // by one of another place: in this one the name decides
	var bad *own.PathError
	if !errors.As(err, &held) && (!errors.As(err, &bad) || !bad.Foreign) {
		return l, nil, err
	}
	instead = err
	l, err = sock.Listen(registry.SocketIn(place, w.cfg.Name), w.cfg.Name)
	return l, instead, err
}

// routerDirs is where the router of that state looks for wrappers, if one runs that was started
// with another runtime directory than we: whoever has no XDG_RUNTIME_DIR is found all the same.
func routerDirs(state, ours string) []string {
	by, ok := own.Signed(filepath.Join(state, "relay", "lock"))
	if !ok || by.Socket == "" {
		return nil
	}
	dir := filepath.Join(filepath.Dir(by.Socket), "agents")
	if _, listens := sock.Listening(by.Socket); !listens || dir == ours || !registry.Trusted(dir) {
		return nil
	}
	return []string{dir}
}
