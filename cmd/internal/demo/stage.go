package main

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

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/term"
	"relay-pty/pty/screen"
)

// patience bounds each wait; only a failure uses it up.
const patience = 20 * time.Second

// stage is the wrapped agent on its terminal, and a client that follows all events.
type stage struct {
	*agentCast
	ctx    context.Context
	out    io.Writer
	term   *term.Term
	client *testrig.Client
	socket string
	log    string       // the wrapper's
	bob    func() error // waits for the process that sent the last two messages
}

// maxSocket is the longest path of a Unix socket that all systems take.
const maxSocket = 103

// open starts the wrapper around the agent and subscribes to its events.
func open(ctx context.Context, c *agentCast, wrapper, dir string) (*stage, error) {
	s := &stage{agentCast: c, ctx: ctx}
	s.socket, s.log = filepath.Join(dir, "alice.sock"), filepath.Join(dir, "log")
	if len(s.socket) > maxSocket {
		const hint = "demo: a shorter place for it: TMPDIR=/tmp make demo"
		return nil, fmt.Errorf("%s is too long for a socket\n%s", s.socket, hint)
	}
	if _, err := os.Stat(wrapper); err != nil {
		return nil, fmt.Errorf("%w\ndemo: it is built by `make build`", err)
	}
	if err := os.WriteFile(filepath.Join(c.cwd, precious), []byte("keep me\n"), 0o600); err != nil {
		return nil, err
	}
	argv := []string{wrapper, "--name", "alice", "--socket", s.socket, "--log-file", s.log, "--"}
	argv = append(argv, c.argv...)
	var err error
	s.term, err = term.Start(term.Options{Argv: argv, Env: c.env, Dir: c.cwd, Rows: 30, Cols: 100})
	return s, err
}

// subscribe waits until the wrapper listens, and asks for all events.
func (s *stage) subscribe() error {
	retry := time.NewTicker(20 * time.Millisecond)
	defer retry.Stop()
	return s.within("the wrapper to listen", func(ctx context.Context) error {
		for {
			c, err := testrig.Dial(ctx, s.socket)
			if err == nil {
				s.client = c
				return c.Send(map[string]any{"type": "subscribe", "after": 0})
			}
			gone, cancel := context.WithTimeout(ctx, 0)
			_, alive := s.term.Wait(gone)
			cancel()
			if alive == nil {
				return io.EOF
			}
			select {
			case <-retry.C:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	})
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

// event waits for an event, one that came already or the next. It fails when a
// message ends in another way than delivered.
func (s *stage) event(what string, want func(testrig.Frame) bool) (testrig.Frame, error) {
	var f testrig.Frame
	err := s.within(what, func(ctx context.Context) error {
		var err error
		f, err = s.client.Wait(ctx, func(f testrig.Frame) bool { return want(f) || lost(f) })
		if err == nil && lost(f) {
			err = fmt.Errorf("the wrapper said %s", strings.TrimSpace(f.Raw))
		}
		return err
	})
	return f, err
}

func lost(f testrig.Frame) bool {
	return f.Str("status") != "delivered" && ended(f.Str("id"))(f)
}

// sees waits until the terminal's screen satisfies want.
func (s *stage) sees(what string, want func(string) bool) error {
	return s.within(what, func(ctx context.Context) error {
		return s.term.WaitScreen(ctx, func(scr *screen.Screen) bool { return want(term.Dump(scr)) })
	})
}

// sends starts bob with messages. What is returned waits for bob's end.
func (s *stage) sends(all ...message) (wait func() error, err error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args := []string{"bob", s.socket}
	for _, m := range all {
		s.tell("bob", "sends "+m.id, "%s", m.body)
		args = append(args, m.id, m.body)
	}
	cmd := exec.CommandContext(s.ctx, exe, args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	return func() error {
		if err := cmd.Wait(); err != nil {
			return fmt.Errorf("bob's process: %w: %s", err, strings.TrimSpace(said.String()))
		}
		return nil
	}, cmd.Start()
}

// tell prints one line of the story.
func (s *stage) tell(who, does, format string, args ...any) {
	fmt.Fprintf(s.out, "   %-6s %-16s %s\n", who, does, fmt.Sprintf(format, args...))
}

// because replaces an error by what caused it: the signal that ended the demo, or
// the end of the wrapped program. A socket that closes, or is reset because the
// wrapper left a request unread, is soon followed by the wrapper's end.
func (s *stage) because(err error) error {
	if err == nil {
		return nil
	}
	if cause := context.Cause(s.ctx); errors.As(cause, new(stop)) {
		return cause
	}
	closed := []error{io.EOF, syscall.ECONNRESET, syscall.EPIPE}
	if !slices.ContainsFunc(closed, func(c error) bool { return errors.Is(err, c) }) {
		return err
	}
	ctx, cancel := context.WithTimeout(s.ctx, 2*time.Second)
	defer cancel()
	status, alive := s.term.Wait(ctx)
	if alive != nil {
		return err
	}
	return fmt.Errorf("%s ended by itself, with status %d", s.name, status)
}

// close ends the wrapper and with it the agent, and waits for both.
func (s *stage) close() {
	if s.client != nil {
		s.client.Close() // no more to ask
	}
	s.term.Signal(syscall.SIGTERM) // gone already: well
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s.term.Wait(ctx) // else Close kills it
	s.term.Close()   // hung up already: well
}

// keep writes all that is known about a failure to path and says so.
func (s *stage) keep(path string, why error) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v\n\n== %q on its terminal\n%s\n\n== the events\n", why, s.argv, s.term.Screen())
	if s.client != nil {
		for _, f := range s.client.Frames() {
			b.WriteString(f.Raw)
		}
	}
	text, err := os.ReadFile(s.log)
	if err != nil {
		fmt.Fprintln(&b, err)
	}
	fmt.Fprintf(&b, "\n== the wrapper's log\n%s", text)
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		return fmt.Sprintf("demo: the log could not be kept: %v", err)
	}
	return "demo: the agent's screen, all events and the wrapper's log are kept in " + path
}
