package storm

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

// life is one process of the wrapper with its agent.
type life struct {
	n     int // from 1
	term  *term.Term
	agent testrig.FakeAgent
	gate  sync.Mutex // held: the terminal's output is not read
	words []string   // typed by the human, whose goroutine alone may touch them until the end

	over   chan struct{} // closed once the wrapper is gone
	killed atomic.Bool   // or about to be
}

// errGone is that a life ended before it could be done anything to.
var errGone = errors.New("the wrapper is gone")

// hushed runs its arguments without a death by SIGHUP: an agent whose wrapper is killed
// ends when its terminal says so, and has then logged all that it read.
const hushed = `trap "" HUP; exec "$@"`

const rows, cols = 40, 120 // of a terminal

func (p *place) begin(n int) (*life, error) {
	dir := filepath.Join(p.dir, fmt.Sprintf("life%d", n))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	a, err := testrig.Agent(dir, p.agent, p.conf)
	if err != nil {
		return nil, err
	}
	if p.line { // its bytes say all
		a.Env = slices.DeleteFunc(a.Env, func(v string) bool { return strings.HasPrefix(v, agents.EnvEvents) })
	}
	l := &life{n: n, agent: a, over: make(chan struct{})}
	argv := []string{p.storm.Binary, "--name", p.name, "--socket", p.socket, "--state-dir", p.state, "--queue-max", "40", "--log-file", p.log(n)}
	if p.over != "" {
		argv = append(argv, "--agent", p.overlay())
	}
	l.term, err = term.Start(term.Options{
		Argv: slices.Concat(argv, p.flags, p.storm.Flags, []string{"--", "sh", "-c", hushed, "sh"}, a.EnvArgv()),
		Env:  append(os.Environ(), "XDG_RUNTIME_DIR="+p.dir, "HOME="+p.dir, "TMPDIR="+p.dir), Rows: rows, Cols: cols,
		Sink: func([]byte) { l.gate.Lock(); defer l.gate.Unlock() },
	})
	if err != nil {
		return nil, err
	}
	p.Change(func() { p.lives = append(p.lives, l) })
	return l, nil
}

// try tries until it is done; errGone when the life is over first.
func (l *life) try(ctx context.Context, done func() bool) error {
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for !done() {
		select {
		case <-again.C:
		case <-l.over:
			return errGone
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// isGone waits until the wrapper is.
func (l *life) isGone(ctx context.Context) error {
	select {
	case <-l.over:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (l *life) isOver() bool {
	select {
	case <-l.over:
		return true
	default:
		return false
	}
}

// doomed reports whether the life is over, or about to be.
func (l *life) doomed() bool { return l.killed.Load() || l.isOver() }

// kill kills the wrapper and waits until it is gone.
func (l *life) kill(ctx context.Context) error {
	l.killed.Store(true)
	if err := l.term.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	return l.isGone(ctx)
}

// killAgent kills the agent, where it is not between a read and its log: it stops itself
// there. Then it waits until the wrapper is gone, too.
func (l *life) killAgent(ctx context.Context) error {
	pid, err := l.agentPid(ctx)
	if err != nil {
		return err
	}
	l.killed.Store(true)
	if _, err := l.agent.Do(ctx, agents.Command{Cmd: "stop"}); err != nil {
		return err
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		return err
	}
	return l.isGone(ctx)
}

// agentPid waits until the agent reads its terminal, and is its process.
func (l *life) agentPid(ctx context.Context) (pid int, err error) {
	err = l.try(ctx, func() bool {
		st, err := l.agent.State(ctx) // it has just begun, where that fails
		pid = st.Pid
		return err == nil
	})
	return pid, err
}
