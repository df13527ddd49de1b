// Package demo plays a short story before the user's eyes: two agents, each in relay-pty on a
// terminal of its own, write to each other through a router, a human types at one of them, and a
// script sends to it meanwhile. The agents are the real Claude Code and Codex, with models of our
// own on loopback, where they can be had, else small ones that are built in. A line is told after
// it was checked, and what cannot be shown is an error.
//
// It runs the programs as a user would, in a scratch directory that is their home, and leaves
// nothing behind but, after a failure, one log.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/fakemodel"
	"relay-pty/cmd/relay/internal/api"
	"relay-pty/pty"
	"relay-pty/pty/screen"
)

// Options say what the demo is made of.
type Options struct {
	Relay   string // the program itself, to run its commands
	Builtin bool   // take the built-in agents
	Log     string // where all that is known of a failure is kept
	Out     io.Writer
}

// longest is the longest name of the scratch directory: a socket's path may have 103 bytes on all
// systems.
const longest = 103 - len("/run/relay/router.sock.4194304")

// patience is how long a line's check may take; only a failure uses it up.
const patience = time.Minute

// logs is where the router has its own log, below the stage's directory.
const logs = "home/.local/state/relay"

// stage is all that runs, and how far the story is.
type stage struct {
	Options
	dir, cwd     string   // of all that runs; of all but real agents
	env          []string // the same
	client       *api.Client
	mail         func(context.Context) []api.Message          // all messages so far
	queue        func(context.Context) ([]api.Message, error) // what waits for alice
	screen       func() string                                // what alice shows
	actors       map[string]*actor
	beside       sync.WaitGroup // the actors' sessions
	said, proved int            // how many messages were told, and told to be delivered
}

// actor is an agent of the story. Only a real one has a model.
type actor struct {
	is        string // in sentences
	env, argv []string
	cwd       string
	rig       agentrig.Agent
	api       *fakemodel.Server
	session   *pty.Session
}

var parts = []struct {
	name, title string // the title is that of the real agent
	agent       func(version string) agentrig.Agent
}{
	{"alice", "Claude Code", agentrig.Claude},
	{"bob", "Codex", func(string) agentrig.Agent { return agentrig.Codex() }},
}

// Run plays the story. When ctx ends it returns the cause.
func Run(ctx context.Context, o Options) (err error) {
	if err := os.Remove(o.Log); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // the log is of an earlier failure
	}
	dir, err := os.MkdirTemp("", "relay-demo")
	if err != nil {
		return err
	}
	s := &stage{Options: o, dir: dir, actors: map[string]*actor{}}
	s.client = api.NewClient(filepath.Join(dir, "run", "relay", "router.sock"), "")
	s.mail = func(ctx context.Context) []api.Message {
		m, _ := s.client.Newest(ctx, api.Query{}, 0) // whoever waits looks again
		return m.Messages
	}
	s.queue = func(ctx context.Context) ([]api.Message, error) {
		m, err := s.client.Queue(ctx, "alice")
		return m.Messages, err
	}
	s.screen = func() string { return s.actors["alice"].shows() }
	defer func() { err = errors.Join(err, s.strike(context.WithoutCancel(ctx))) }()
	if len(dir) > longest {
		return fmt.Errorf("%s is too long a name for a place of sockets\nrelay: hint: TMPDIR=/tmp relay demo", dir)
	}
	playing, fail := context.WithCancelCause(ctx)
	if err = s.play(playing, fail); err != nil && playing.Err() != nil {
		err = context.Cause(playing) // the rest is what it broke
	}
	if err == nil || ctx.Err() != nil {
		return err
	}
	hint := "it needs nothing but a terminal device; please report it with that file"
	place := (*placeError)(nil)
	switch {
	case errors.As(err, &place):
		hint = "say another directory, with room, and for you alone: TMPDIR=DIR relay demo"
	case !o.Builtin:
		hint = "relay demo --builtin shows it without the real agents"
	}
	return fmt.Errorf("%w\nrelay: %s\nrelay: hint: %s", err, s.keep(ctx, err), hint)
}

// placeError is that the scratch directory is no place for a router and its agents: its file system
// is full, or keeps no modes.
type placeError struct{ error }

func (e *placeError) Unwrap() error { return e.error }

// stands makes all that the story stands on.
func (s *stage) stands(ctx context.Context) (err error) {
	if s.env, s.cwd, err = agentrig.Plain(s.dir); err != nil {
		return err
	}
	s.cast(ctx)
	if err := os.WriteFile(filepath.Join(s.actors["alice"].cwd, precious), []byte("keep me\n"), 0o600); err != nil {
		return err
	}
	return s.startRouter(ctx)
}

// play sets the stage and tells the story. The end of an actor fails it.
func (s *stage) play(ctx context.Context, fail context.CancelCauseFunc) error {
	if err := s.stands(ctx); err != nil {
		return &placeError{err}
	}
	for name, a := range s.actors {
		if err := s.start(name, a); err != nil {
			return fmt.Errorf("start %s: %w", name, err)
		}
		s.beside.Go(func() {
			a.session.Run(context.WithoutCancel(ctx)) // its status tells how it ended
			fail(fmt.Errorf("%s, %s, ended by itself, with status %d", name, a.is, a.session.Wait()))
		})
	}
	for _, l := range story {
		if l.check == nil {
			fmt.Fprintln(s.Out, l.what)
		} else if err := s.tell(ctx, l); err != nil {
			return fmt.Errorf("%s: %w", strings.TrimSpace(l.who+" "+l.what), err)
		}
	}
	_, err := fmt.Fprint(s.Out, "\nShown: 6 messages arrived once, none ran; your draft and dialog stayed yours.\n"+
		"Yours: relay run alice -- claude; in another terminal, relay run bob -- codex.\n")
	return err
}

// tell tells a line when its check has passed. A line is lost with its reader.
func (s *stage) tell(ctx context.Context, l line) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("waited %v in vain", patience))
	defer cancel()
	err := l.check(ctx, s, &l)
	if err == nil && l.what != "" {
		fmt.Fprintf(s.Out, "   %-13s %s\n", l.who, l.what)
	}
	return err
}

// until looks until look returns true.
func until(ctx context.Context, look func() bool) error {
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for !look() {
		select {
		case <-again.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// cast chooses the actors, and tells who they are.
func (s *stage) cast(ctx context.Context) {
	for _, p := range parts {
		a := &actor{is: "a small built-in agent", env: s.env, argv: []string{"--", s.Relay, "demo", "agent"}, cwd: s.cwd}
		s.actors[p.name] = a
		if s.Builtin {
			continue
		}
		if err := a.real(ctx, p.title, p.agent, filepath.Join(s.dir, p.name)); err != nil {
			fmt.Fprintf(s.Out, "No real %s: %v.\n", p.title, err)
		}
	}
	alice, bob := s.actors["alice"], s.actors["bob"]
	fmt.Fprintf(s.Out, "alice is %s; bob is %s.\n", alice.is, bob.is)
	if alice.api != nil || bob.api != nil {
		fmt.Fprintln(s.Out, "Their models are fakes on this machine: no account, no key, no cost.")
	}
	fmt.Fprint(s.Out, "You sit at alice's keyboard (typed for you); ci is a script.\n\n")
}

// real makes a built-in actor a real agent that lives in dir: the pinned release, else what is in
// PATH.
func (a *actor) real(ctx context.Context, title string, agent func(string) agentrig.Agent, dir string) error {
	rig := agent(agentrig.ClaudeNow)
	path, err := rig.Find()
	if err != nil {
		found, none := exec.LookPath(rig.Profile)
		if none != nil {
			return fmt.Errorf("%w, and none in PATH", err)
		}
		ask := exec.CommandContext(ctx, found, "--version")
		ask.Env, ask.Dir = a.env, a.cwd // some agents write to their home whatever they are asked
		out, err := ask.Output()
		version := regexp.MustCompile(`\d+\.\d+\.\d+\S*`).FindString(string(out))
		if err != nil || version == "" {
			return fmt.Errorf("%s does not tell its version: %q, %w", found, out, err)
		}
		path, rig = found, agent(version)
		rig.Version = version
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	api, err := rig.API()
	if err != nil {
		return err
	}
	env, cwd, err := rig.Prepare(dir, api.URL())
	if err != nil {
		api.Close() // already failing
		return err
	}
	api.Respond(func(t fakemodel.Turn) fakemodel.Reply {
		text := rig.Received(t)
		if text == "" && len(t.Results) > 0 {
			return fakemodel.Say(done)
		}
		if says := think(text); says != "" {
			return fakemodel.Say(says)
		}
		return fakemodel.Bash("touch tidy")
	})
	*a = actor{"the real " + title + " " + rig.Version, env, append([]string{"--agent", rig.Profile, "--"}, rig.Argv(path)...), cwd, rig, api, nil}
	return nil
}

// start starts an actor on a terminal of its own. A PTY takes no directory; the shell becomes the
// command.
func (s *stage) start(name string, a *actor) (err error) {
	args := []string{"/bin/sh", "-c", `cd "$0" && export XDG_RUNTIME_DIR="$1" && shift && exec "$@"`, a.cwd, filepath.Join(s.dir, "run"),
		s.Relay, "run", name, "--socket", filepath.Join(s.dir, name+".sock"), "--log-file", filepath.Join(s.dir, logs, name+".log")}
	a.session, err = pty.Start(pty.Config{Args: append(args, a.argv...), Env: a.env, Size: pty.Winsize{Rows: 30, Cols: 100}, Output: io.Discard})
	return err
}

// shows returns the actor's screen.
func (a *actor) shows() (text string) {
	a.session.View(func(scr *screen.Screen) {
		for r := range 30 {
			text += strings.TrimRight(scr.Row(r), " ") + "\n"
		}
	})
	return text
}

// startRouter returns when a router runs. It is not interrupted: a router that is just being
// started when the demo ends would be left behind.
func (s *stage) startRouter(ctx context.Context) error {
	_, err := s.relay(context.WithoutCancel(ctx), "ls")
	return err
}

// relay runs one of our commands, and returns what it printed.
func (s *stage) relay(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, s.Relay, args...)
	cmd.Env, cmd.Dir = s.env, s.cwd
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a ^C at the demo is not for it
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("relay %s: %w: %s", args[0], err, out)
	}
	return out, err
}

// strike ends all that runs, the router last, and removes the scratch directory.
func (s *stage) strike(ctx context.Context) (err error) {
	for _, a := range s.actors {
		if a.session != nil {
			a.session.Hangup(patience)
		}
	}
	s.beside.Wait()
	for _, a := range s.actors {
		if a.api != nil {
			a.api.Close() // the listener is gone either way
		}
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if h, err := s.client.Health(ctx); err == nil {
		syscall.Kill(h.PID, syscall.SIGTERM) // it may have ended by itself
		until(ctx, func() bool { _, err := s.client.Health(ctx); return err != nil })
	}
	// A helper of an agent may write its last file meanwhile.
	until(ctx, func() bool { err = os.RemoveAll(s.dir); return err == nil })
	return err
}

// keep writes all that is known about a failure to the log, and says so.
func (s *stage) keep(ctx context.Context, why error) string {
	var b strings.Builder
	fmt.Fprintln(&b, why)
	for name, a := range s.actors {
		if a.session != nil {
			fmt.Fprintf(&b, "\n== %s, %q on its terminal\n%s", name, a.argv, a.shows())
		}
	}
	if s.env != nil { // else it would be another router that tells
		events, err := s.relay(ctx, "events", "--json")
		fmt.Fprintf(&b, "\n== the events (%v)\n%s", err, events)
	}
	files, _ := filepath.Glob(filepath.Join(s.dir, logs, "*.log")) // the pattern is well-formed
	for _, path := range files {
		text, err := os.ReadFile(path)
		fmt.Fprintf(&b, "\n== %s (%v)\n%s", filepath.Base(path), err, text)
	}
	err := os.MkdirAll(filepath.Dir(s.Log), 0o700)
	if err == nil {
		err = os.WriteFile(s.Log, []byte(b.String()), 0o600)
	}
	if err != nil {
		return fmt.Sprintf("what is known of it could not be kept: %v", err)
	}
	return "the agents' screens, all events and the logs are kept in " + s.Log
}
