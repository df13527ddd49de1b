package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
	"relay-pty/pty"
	"relay-pty/pty/screen"
)

// patience bounds each wait; only a failure uses it up.
const patience = 20 * time.Second

// stage is all that runs.
type stage struct {
	ctx    context.Context
	o      Options
	dir    string   // of all of it
	env    []string // of the human and of scripts
	places []string // where all find the router
	actors []*actor
	seats  []*seat // as far as they run
	events *events
	stop   context.CancelCauseFunc // ends what runs in the background
}

func (s *stage) alice() *seat { return s.seats[0] }
func (s *stage) bob() *seat   { return s.seats[1] }

// errOver is the cause of all ends after the story's.
var errOver = errors.New("the demo is over")

// set sets the stage. What was begun when it fails is ended.
func set(ctx context.Context, o Options, dir string) (*stage, error) {
	s := &stage{o: o, dir: dir, places: []string{"XDG_RUNTIME_DIR=" + filepath.Join(dir, "run"), "XDG_STATE_HOME=" + filepath.Join(dir, "state")}}
	// Whoever runs the demo may be an agent, whose name is not the human's.
	s.env = slices.Concat(os.Environ(), s.places, []string{"HOME=" + filepath.Join(dir, "home"), "RELAY_TOKEN=", "RELAY_AGENT="})
	s.ctx, s.stop = context.WithCancelCause(ctx)
	for _, d := range []string{"home", "run", "state"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			return nil, err
		}
	}
	for _, p := range parts {
		a, err := p.cast(ctx, o, dir)
		if err != nil {
			s.strike()
			return nil, fmt.Errorf("prepare %s: %w", p.name, err)
		}
		s.actors = append(s.actors, a)
	}
	return s, os.WriteFile(filepath.Join(s.actors[0].cwd, precious), []byte("keep me\n"), 0o600)
}

// strike ends all that runs, the router last.
func (s *stage) strike() {
	s.stop(errOver)
	for _, p := range s.seats {
		p.leave()
	}
	for _, a := range s.actors {
		if a.api != nil {
			a.api.Close() // the listener is gone either way
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), patience)
	defer cancel()
	s.endRouter(ctx, syscall.SIGTERM) // none runs: well
}

// endRouter ends the router, and waits until nobody listens.
func (s *stage) endRouter(ctx context.Context, sig syscall.Signal) error {
	c := api.NewClient(filepath.Join(s.dir, "run", "relay", "router.sock"), "")
	health, err := c.Health(ctx)
	if err != nil {
		return err
	}
	if err := syscall.Kill(health.PID, sig); err != nil {
		return err
	}
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		if now, err := c.Health(ctx); err != nil || now.PID != health.PID {
			return nil
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// startRouter waits until a router runs. It is not interrupted: one that is just being started when
// the demo ends would be left behind.
func (s *stage) startRouter() error {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(s.ctx), patience, errLate)
	defer cancel()
	_, err := output(s.command(ctx, "ls"))
	return err
}

// relay is a command of ours, which ends with the demo.
func (s *stage) relay(args ...string) *exec.Cmd { return s.command(s.ctx, args...) }

func (s *stage) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.o.Relay, args...)
	cmd.Env, cmd.Dir = s.env, filepath.Join(s.dir, "home")
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a ^C at the demo is not for it
	return cmd
}

// output is what a command prints, without the newline.
func output(cmd *exec.Cmd) (string, error) {
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("relay %s: %w: %s", cmd.Args[1], err, bytes.TrimSpace(errs.Bytes()))
	}
	return strings.TrimSuffix(string(out), "\n"), err
}

// errLate is the cause when a wait uses up its patience.
var errLate = errors.New("late")

// within has f wait for what, no longer than patience.
func (s *stage) within(what string, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(s.ctx, patience, errLate)
	defer cancel()
	err := f(ctx)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errLate):
		return fmt.Errorf("waited %v in vain for %s", patience, what)
	}
	return fmt.Errorf("while waiting for %s: %w", what, err)
}

// event waits for an event, one that came already or the next. It fails when a message ends in
// another way than delivered, or is refused.
func (s *stage) event(what string, want func(router.Event) bool) (e router.Event, err error) {
	err = s.within(what, func(ctx context.Context) (err error) {
		e, err = s.events.wait(ctx, func(e router.Event) bool { return want(e) || lost(e) })
		if err == nil && lost(e) {
			err = fmt.Errorf("the router said %+v", e)
		}
		return err
	})
	return e, err
}

func lost(e router.Event) bool {
	return e.Type == router.TypeRefused || router.Ended(e.Status) && e.Status != protocol.StatusDelivered
}

// because replaces an error by what caused it: what ended the demo, or the end of an agent, which
// may be heard of a moment later than what it breaks.
func (s *stage) because(err error) error {
	if err == nil {
		return nil
	}
	select {
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	case <-time.After(time.Second):
		return err
	}
}

// seat is an agent in relay-pty on a terminal of its own, and a human at its keys.
type seat struct {
	*actor
	session *pty.Session
	changed <-chan struct{}
	stop    context.CancelFunc
	left    chan struct{} // closed when it has ended
}

// The terminal's size; an agent's line fits into it.
const (
	rows = 30
	cols = 100
)

// sit starts the wrapper around an agent.
func (s *stage) sit(a *actor) error {
	// The PTY takes no directory; the shell becomes the command, with its pid.
	args := []string{"/bin/sh", "-c", `cd "$0" && exec "$@"`, a.cwd, s.o.Relay, "run", a.name,
		"--socket", filepath.Join(s.dir, a.name+".sock"), "--log-file", filepath.Join(s.dir, a.name+".log")}
	env := slices.DeleteFunc(slices.Clone(a.env), func(v string) bool { return strings.HasPrefix(v, "XDG_") })
	session, err := pty.Start(pty.Config{
		Args: append(args, a.argv...), Env: append(env, s.places...), Size: pty.Winsize{Rows: rows, Cols: cols}, Output: io.Discard, Grace: patience,
	})
	if err != nil {
		return err
	}
	p := &seat{actor: a, session: session, changed: session.Watch(), left: make(chan struct{})}
	ctx, stop := context.WithCancel(context.WithoutCancel(s.ctx))
	p.stop = stop
	go func() {
		defer close(p.left)
		session.Run(ctx) // it ends as it is told
		s.stop(fmt.Errorf("%s ended by itself, with status %d", p.title, session.Wait().Code))
	}()
	s.seats = append(s.seats, p)
	return nil
}

// leave hangs up the terminal, and waits for the end of all that was on it.
func (p *seat) leave() {
	p.stop()
	<-p.left
}

// shows is what stands on the terminal.
func (p *seat) shows() (text string) {
	p.session.View(func(scr *screen.Screen) {
		for r := range rows {
			text += strings.TrimRight(scr.Row(r), " ") + "\n"
		}
	})
	return text
}

// sees waits until the terminal's screen satisfies want.
func (s *stage) sees(p *seat, what string, want func(string) bool) error {
	return s.within(what, func(ctx context.Context) error {
		for !want(p.shows()) {
			select {
			case <-p.changed:
			case <-p.session.Done():
				return io.EOF
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		return nil
	})
}

// presses presses a key, and again after a while: programs may ignore keys just after a change of
// the screen. Claude Code 2.1.329 ignores an answer to a dialog for its first 0.1 to 0.2 s.
func (s *stage) presses(p *seat, what, key string, want func(string) bool) error {
	again := time.NewTicker(2 * time.Second)
	defer again.Stop()
	return s.within(what, func(ctx context.Context) error {
		for press := true; ; {
			if want(p.shows()) {
				return nil
			}
			if press {
				if err := p.session.Keys([]byte(key)); err != nil {
					return err
				}
			}
			select {
			case <-p.changed:
				press = false
			case <-again.C:
				press = true
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	})
}
