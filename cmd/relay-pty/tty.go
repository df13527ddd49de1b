package main

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"
	"time"

	"relay-pty/pty"
)

// terminal is the user's side: a real terminal, files, or nothing at all.
type terminal struct {
	own  *pty.Terminal // nil when headless
	size pty.Winsize
	out  io.Writer
}

// openTerminal takes over the user's terminal, unless we run headless.
func openTerminal(cfg config, stdin, stdout *os.File) (*terminal, error) {
	if cfg.Headless {
		return &terminal{size: cfg.Size, out: io.Discard}, nil
	}
	own, err := pty.OpenTerminal(stdin, stdout)
	if err != nil {
		return nil, err
	}
	t := &terminal{own: own, size: own.Size(), out: own}
	if err := own.Raw(); err != nil {
		return nil, err
	}
	return t, nil
}

// restore gives the terminal back as it was.
func (t *terminal) restore() {
	if t.own != nil {
		t.own.Restore() // nothing else can be done for a terminal that is gone
	}
}

// onPanic gives the terminal back before a panic ends the program. It must be
// the deferred call itself.
func (t *terminal) onPanic() {
	if v := recover(); v != nil {
		t.restore()
		panic(v)
	}
}

// watchSize hands the terminal's size to the agent's whenever it changes.
func (t *terminal) watchSize(ctx context.Context, session *pty.Session) error {
	return t.own.WatchSize(ctx, func(size pty.Winsize) {
		session.Resize(size) // fails only when the agent is gone
	})
}

// followStops stops us when the agent stops itself, as ^Z at a bare agent would
// give the shell back; continued, we continue it.
func (t *terminal) followStops(ctx context.Context, session *pty.Session) error {
	for {
		select {
		case stopped := <-session.Stops():
			if !stopped {
				continue
			}
			suspended, err := t.own.Suspend()
			if err != nil {
				return err
			}
			if !suspended {
				continue // there is no shell that would continue us: the agent stays stopped
			}
			if err := session.Signal(syscall.SIGCONT); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// keys passes what the human types on to the agent, and the end of it.
func (t *terminal) keys(ctx context.Context, a *agent) {
	defer t.onPanic()
	switch err := t.own.CopyKeys(ctx, a.keys); {
	case errors.Is(err, pty.ErrHangup):
		a.session.Hangup(hangupGrace)
	case err == nil:
		a.session.EndInput(ctx) // fails only when the agent is gone
	}
}

// hangupGrace is how long an agent whose terminal is gone may take to end.
const hangupGrace = 2 * time.Second
