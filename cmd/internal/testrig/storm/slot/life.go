package slot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/agents"
	"relay-pty/cmd/internal/testrig/term"
)

// Life is one process of the wrapper with its agent.
type Life struct {
	N     int // from 1
	Term  *term.Term
	Agent testrig.FakeAgent
	Gate  sync.Mutex // held: the terminal's output is not read
	Words []string   // typed by the human, whose goroutine alone may touch them until the end

	over   chan struct{} // closed once the wrapper is gone
	killed atomic.Bool   // or about to be
}

// ErrGone is that a life ended before it could be done anything to.
var ErrGone = errors.New("the wrapper is gone")

// hushed runs its arguments without a death by SIGHUP: an agent whose wrapper is killed
// ends when its terminal says so, and has then logged all that it read.
const hushed = `trap "" HUP; exec "$@"`

// Rows and Cols are a terminal's size.
const Rows, Cols = 40, 120

func (s *Slot) begin(n int) (*Life, error) {
	dir := filepath.Join(s.Dir, fmt.Sprintf("life%d", n))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	a, err := testrig.Agent(dir, s.Options.Agent, s.Conf)
	if err != nil {
		return nil, err
	}
	if s.Line { // its bytes say all
		a.Env = slices.DeleteFunc(a.Env, func(v string) bool { return strings.HasPrefix(v, agents.EnvEvents) })
	}
	l := &Life{N: n, Agent: a, over: make(chan struct{})}
	wrapper := []string{s.Binary, "--name", s.Name, "--socket", s.Socket, "--state-dir", s.State, "--queue-max", "40", "--log-file", s.log(n)}
	l.Term, err = term.Start(term.Options{
		Argv: slices.Concat(wrapper, s.Flags, []string{"--", "sh", "-c", hushed, "sh"}, a.EnvArgv()),
		Env:  append(os.Environ(), "XDG_RUNTIME_DIR="+s.Dir, "HOME="+s.Dir, "TMPDIR="+s.Dir), Rows: Rows, Cols: Cols,
		Sink: func([]byte) { l.Gate.Lock(); defer l.Gate.Unlock() },
	})
	if err != nil {
		return nil, err
	}
	s.note(func() { s.lives = append(s.lives, l) })
	return l, nil
}

// try tries until it is done; [ErrGone] when the life is over first.
func (l *Life) try(ctx context.Context, done func() bool) error {
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for !done() {
		select {
		case <-again.C:
		case <-l.over:
			return ErrGone
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// Over waits until the wrapper is gone.
func (l *Life) Over(ctx context.Context) error {
	select {
	case <-l.over:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (l *Life) isOver() bool {
	select {
	case <-l.over:
		return true
	default:
		return false
	}
}

// Doomed reports whether the life is over, or about to be.
func (l *Life) Doomed() bool { return l.Killed() || l.isOver() }

// Killed reports whether the life ended by a kill, or is about to.
func (l *Life) Killed() bool { return l.killed.Load() }

// Kill kills the wrapper and waits until it is gone.
func (l *Life) Kill(ctx context.Context) error {
	l.killed.Store(true)
	if err := l.Term.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	return l.Over(ctx)
}

// KillAgent kills the agent, where it is not between a read and its log: it stops itself
// there. Then it waits until the wrapper is gone, too.
func (l *Life) KillAgent(ctx context.Context) error {
	pid, err := l.AgentPid(ctx)
	if err != nil {
		return err
	}
	l.killed.Store(true)
	if _, err := l.Agent.Do(ctx, agents.Command{Cmd: "stop"}); err != nil {
		return err
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		return err
	}
	return l.Over(ctx)
}

// AgentPid waits until the agent reads its terminal, and is its process.
func (l *Life) AgentPid(ctx context.Context) (pid int, err error) {
	err = l.try(ctx, func() bool {
		st, err := l.Agent.State(ctx) // it has just begun, where that fails
		pid = st.Pid
		return err == nil
	})
	return pid, err
}
