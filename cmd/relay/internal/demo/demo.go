// Package demo plays a short story before the user's eyes: two agents, each in relay-pty on a
// terminal of its own, write to each other through a router, a human types at one of them, and
// scripts send to it meanwhile. The agents are the real Claude Code and Codex, with models of our
// own on loopback, where they can be had, else small ones that are built in. All that is told is
// checked, and what cannot be shown is an error.
//
// It runs the programs as a user would, in a scratch directory that is their home, and leaves
// nothing behind but, after a failure, one log.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Options say what the demo is made of.
type Options struct {
	Relay   string // the program itself, to run its commands
	Builtin bool   // take the built-in agents
	Log     string // where all that is known of a failure is kept
	Out     io.Writer
}

// limit is how long the demo may take.
const limit = 90 * time.Second

// Run plays the story. When ctx ends it returns the cause.
func Run(ctx context.Context, o Options) (err error) {
	dir, err := os.MkdirTemp("", "relay-demo")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, removeAll(dir)) }()
	if n := len(filepath.Join(dir, longestSocket)); n > maxSocket {
		return way("a shorter place for it: TMPDIR=/tmp relay demo",
			"the sockets of the demo would have names of %d bytes, and %d are the most", n, maxSocket)
	}
	if err := os.Remove(o.Log); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err // it is of an earlier failure
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the demo took longer than %v", limit))
	defer cancel()
	s, err := set(ctx, o, dir)
	if err != nil {
		return err
	}
	defer s.strike()
	if err = s.because(s.play()); err == nil || ended(ctx) {
		return err
	}
	kept := s.keep(o.Log, err)
	hint := "it needs nothing but a terminal device; please report it with that file"
	if !o.Builtin {
		hint = "relay demo --builtin shows it without the real agents"
	}
	return way(hint, "%w\nrelay: %s", err, kept)
}

// ended says whether somebody ended the demo.
func ended(ctx context.Context) bool {
	return ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded)
}

// longestSocket is the longest of the sockets' names, below the scratch directory.
const longestSocket = "run/relay/router.sock.4194304"

// maxSocket is the longest path of a Unix socket that all systems take.
const maxSocket = 103

// hinted is an error with a way out.
type hinted struct {
	error
	hint string
}

func way(hint, format string, args ...any) error { return hinted{fmt.Errorf(format, args...), hint} }

func (h hinted) Hint() string  { return h.hint }
func (h hinted) Unwrap() error { return h.error }

// removeAll removes the scratch directory. A helper of an agent may write its last file while that
// goes on, so it is tried again for a while.
func removeAll(dir string) error {
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	err := os.RemoveAll(dir)
	for range 30 {
		if err == nil {
			return nil
		}
		<-again.C
		err = os.RemoveAll(dir)
	}
	return err
}

// tell prints one line of the story: who does it, or who writes to whom, and what.
func (s *stage) tell(who, format string, args ...any) {
	fmt.Fprintf(s.o.Out, "   %-13s %s\n", who, fmt.Sprintf(format, args...)) // who does not read it misses it
}

// introduce tells who is on stage.
func (s *stage) introduce() {
	for _, a := range s.actors {
		if a.why != nil {
			fmt.Fprintf(s.o.Out, "No real %s: %v.\n", a.title, a.why)
		}
	}
	alice, bob := s.actors[0], s.actors[1]
	fmt.Fprintf(s.o.Out, "alice is %s; bob is %s.\n", alice.is, bob.is)
	if alice.api != nil || bob.api != nil {
		fmt.Fprintln(s.o.Out, "Their models are fakes on this machine: no account, no key, no cost.")
	}
	fmt.Fprint(s.o.Out, "You sit at alice's keyboard (typed for you); ci is a script.\n\n")
}

// keep writes all that is known about a failure to path, and says so.
func (s *stage) keep(path string, why error) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v\n", why)
	for _, p := range s.seats {
		fmt.Fprintf(&b, "\n== %s, %q on its terminal\n%s\n", p.name, p.argv, p.shows())
	}
	fmt.Fprint(&b, "\n== the events\n")
	for _, e := range s.events.all() {
		fmt.Fprintf(&b, "%+v\n", e)
	}
	logs, _ := filepath.Glob(filepath.Join(s.dir, "*.log")) // the pattern is well-formed
	for _, path := range append(logs, filepath.Join(s.dir, "state", "relay", "router.log")) {
		text, err := os.ReadFile(path)
		if err != nil {
			fmt.Fprintln(&b, err)
		}
		fmt.Fprintf(&b, "\n== %s\n%s", filepath.Base(path), text)
	}
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(b.String()), 0o600)
	}
	if err != nil {
		return fmt.Sprintf("what is known of it could not be kept: %v", err)
	}
	return "the agents' screens, all events and the logs are kept in " + path
}
