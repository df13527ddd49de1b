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
	Gate  Gate     // of the terminal's output
	Words []string // typed by the human, whose goroutine alone may touch them until the end

	over   chan struct{} // closed once the wrapper is gone
	mu     sync.Mutex
	killed bool
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
	argv := append([]string{s.Binary, "--name", s.Name, "--socket", s.socket, "--state-dir", s.State, "--queue-max", "40", "--log-file", s.log(n)}, s.Flags...)
	argv = append(append(argv, "--", "sh", "-c", hushed, "sh"), a.EnvArgv()...)
	l.Term, err = term.Start(term.Options{
		Argv: argv, Env: append(os.Environ(), "XDG_RUNTIME_DIR="+s.Dir, "HOME="+s.Dir, "TMPDIR="+s.Dir), Rows: Rows, Cols: Cols, Sink: l.Gate.pass,
	})
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.past = append(s.past, l)
	close(s.begun)
	s.begun = make(chan struct{})
	return l, nil
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

// Doomed says whether the life is over, or about to be.
func (l *Life) Doomed() bool { return l.Killed() || l.isOver() }

// Killed says whether the life ended by a kill, or is about to.
func (l *Life) Killed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.killed
}

func (l *Life) doom() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.killed = true
}

// Kill kills the wrapper and waits until it is gone.
func (l *Life) Kill(ctx context.Context) error {
	l.doom()
	if err := l.Term.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	return l.Over(ctx)
}

// KillAgent kills the agent, where it is not between a read and its log: it stops itself
// there. Then it waits until the wrapper is gone, too.
func (l *Life) KillAgent(ctx context.Context) error {
	p, err := l.Process(ctx)
	if err != nil {
		return err
	}
	defer p.Release() // nothing to lose
	l.doom()
	if _, err := l.Agent.Do(ctx, agents.Command{Cmd: "stop"}); err != nil {
		return err
	}
	if err := p.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	return l.Over(ctx)
}

// Process is the agent's.
func (l *Life) Process(ctx context.Context) (*os.Process, error) {
	st, err := l.Listens(ctx)
	if err != nil {
		return nil, err
	}
	return os.FindProcess(st.Pid)
}

// Listens waits until the agent reads its terminal.
func (l *Life) Listens(ctx context.Context) (agents.State, error) {
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		if st, err := l.Agent.State(ctx); err == nil {
			return st, nil
		}
		select {
		case <-again.C: // it has just begun
		case <-l.over:
			return agents.State{}, ErrGone
		case <-ctx.Done():
			return agents.State{}, context.Cause(ctx)
		}
	}
}

// Gate lets output pass, or holds it back.
type Gate struct {
	mu   sync.Mutex
	shut chan struct{} // closed when it opens again; nil: it is open
}

func (g *Gate) pass([]byte) {
	g.mu.Lock()
	shut := g.shut
	g.mu.Unlock()
	if shut != nil {
		<-shut
	}
}

// Close holds output back until open is called.
func (g *Gate) Close() (open func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	shut := make(chan struct{})
	g.shut = shut
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		close(shut)
		g.shut = nil
	}
}
