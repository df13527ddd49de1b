package storm

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"

	"relay-pty/cmd/internal/testrig/books"
)

// The kinds of faults.
const (
	killWrapper  = "kill-wrapper"
	killAgent    = "kill-agent"
	stop         = "stop"
	slowTerminal = "slow-terminal"
	resize       = "resize"
	flood        = "flood"
	diskFull     = "disk-full"
	syncError    = "sync-error"
)

// strike does one fault to a life, for as long as it lasts, and lifts it.
type strike func(ctx context.Context, p *place, l *life, rnd *rand.Rand) error

// strikes are those that every system can have.
var strikes = map[string]strike{
	killWrapper:  func(ctx context.Context, _ *place, l *life, _ *rand.Rand) error { return l.kill(ctx) },
	killAgent:    func(ctx context.Context, _ *place, l *life, _ *rand.Rand) error { return l.killAgent(ctx) },
	stop:         strikeStop,
	slowTerminal: strikeTerminal,
	resize:       strikeSize,
	flood:        strikeSocket,
}

// plan deals the faults out: every kind equally often, kills of the wrapper thrice, in
// random order, each slot as many as the others.
func (s *storm) plan() [][]string {
	kinds := slices.Clone(s.Kinds)
	if slices.Contains(kinds, killWrapper) && len(kinds) > 1 {
		kinds = append(kinds, killWrapper, killWrapper)
	}
	list := make([]string, s.Faults)
	for i := range list {
		list[i] = kinds[i%len(kinds)]
	}
	rnd := s.rand(forSeats, 0)
	rnd.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	plan := make([][]string, len(s.places))
	for i, kind := range list {
		plan[i%len(plan)] = append(plan[i%len(plan)], kind)
	}
	return plan
}

// strikeAll does a slot's faults, spread over its messages; each waits until there was
// progress after the one before.
func (s *storm) strikeAll(ctx context.Context, p *place, plan []string, rnd *rand.Rand) error {
	at := make([]int, len(plan))
	for i := range at {
		at[i] = 1 + rnd.IntN(max(1, p.messages*19/20))
	}
	slices.Sort(at)
	for i, kind := range plan {
		if err := p.progress(ctx, at[i]); err != nil {
			return err
		}
		lurk(ctx, p, rnd)
		l, err := p.up(ctx)
		if err != nil {
			return err
		}
		s.struck(books.Fault{Agent: p.name, Life: l.n, Kind: kind})
		before, _ := p.count()
		strike := strikes[kind]
		if strike == nil {
			strike = systemStrikes[kind]
		}
		if err := strike(ctx, p, l, rnd); err != nil {
			return fmt.Errorf("%s at %s, life %d: %w", kind, p.name, l.n, err)
		}
		calm, cancel := context.WithTimeout(ctx, progressLimit)
		p.progress(calm, before+1) // whether there was any is for the check of the books
		cancel()
	}
	return nil
}

// progressLimit is how long after a fault the next one waits for a message's end.
const progressLimit = 20 * time.Second

// lurk waits for a moment to strike: any, or one right after an event, when a message
// is likely to be on its way.
func lurk(ctx context.Context, p *place, rnd *rand.Rand) {
	if rnd.IntN(2) == 0 {
		pause(ctx, rnd, 0, 120)
		return
	}
	select {
	case <-p.Next():
	case <-time.After(200 * time.Millisecond):
	}
	pause(ctx, rnd, 0, 20)
}

// pause lets so many milliseconds pass.
func pause(ctx context.Context, rnd *rand.Rand, least, most int) {
	select {
	case <-time.After(time.Duration(least+rnd.IntN(most-least)) * time.Millisecond):
	case <-ctx.Done():
	}
}

// strikeStop stops the wrapper or the agent for a while.
func strikeStop(ctx context.Context, p *place, l *life, rnd *rand.Rand) error {
	pid, err := l.agentPid(ctx)
	if rnd.IntN(2) == 0 {
		pid, err = l.term.Pid(), nil
	}
	if err == nil {
		err = syscall.Kill(pid, syscall.SIGSTOP)
	}
	if err != nil {
		return err
	}
	pause(ctx, rnd, 50, 1500)
	return syscall.Kill(pid, syscall.SIGCONT)
}

// strikeTerminal does not read the wrapper's terminal for a while.
func strikeTerminal(ctx context.Context, p *place, l *life, rnd *rand.Rand) error {
	l.gate.Lock()
	defer l.gate.Unlock()
	pause(ctx, rnd, 200, 2500)
	return nil
}

// strikeSize changes the terminal's size as fast as can be.
func strikeSize(ctx context.Context, p *place, l *life, rnd *rand.Rand) error {
	for range 20 + rnd.IntN(200) {
		if err := l.term.Resize(20+rnd.IntN(60), 60+rnd.IntN(140)); err != nil {
			return err
		}
		if rnd.IntN(4) == 0 {
			pause(ctx, rnd, 0, 10)
		}
	}
	return l.term.Resize(rows, cols)
}

// strikeSocket takes more connections than there are, and says nonsense, or nothing, or
// asks and does not listen.
func strikeSocket(ctx context.Context, p *place, l *life, rnd *rand.Rand) error {
	var d net.Dialer
	var open []net.Conn
	for range 300 {
		nc, err := d.DialContext(ctx, "unix", p.socket)
		if err != nil {
			break // the listener's own queue is full
		}
		open = append(open, nc)
		nc.SetWriteDeadline(time.Now().Add(time.Second)) // fails only on a closed one
		io.WriteString(nc, nonsense[rnd.IntN(len(nonsense))])
	}
	pause(ctx, rnd, 50, 500)
	var all sync.WaitGroup
	for _, nc := range open {
		all.Go(func() { nc.Close() }) // nothing to flush
	}
	all.Wait()
	return nil
}

var nonsense = []string{
	"", "{", "\n\n\n", "hello\n", `{"type":"inject"}` + "\n", `{"type":"subscribe","after":0}` + "\n", `{"type":"status"}` + "\n" + `{"type":"sta`,
	`{"type":"inject","id":"x","from":"x","body":"x","mode":"never"}` + "\n", "\x00\xff\xfe\n", `{"type":"screen"}` + "\n" + `{"type":"screen"}` + "\n",
}
