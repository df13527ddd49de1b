package pty

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"relay-pty/protocol/failpoint"
)

const (
	// heldMax bounds the human keys kept back during a transaction; past it Keys blocks.
	heldMax = 64 << 10
	// chunkMax is under the 4 KiB that a tty takes at once, so that a deadline tells closely how
	// much went out.
	chunkMax = 2 << 10
	// chunkWait is how long one chunk may take to be taken when the context names no deadline.
	chunkWait = time.Second
	// pauseMax is the longest pause before a kept Enter that its replay repeats: agents take an
	// Enter that comes sooner after text for a part of it.
	pauseMax = 150 * time.Millisecond
	// pausesMax bounds the pauses that are remembered.
	pausesMax = 256
	// readLook is how often the replay looks whether the agent has read what came before an Enter,
	// and readWait how long it waits for that.
	readLook, readWait = 2 * time.Millisecond, time.Second
)

// ErrTxEnded is returned by a write to a transaction that is over.
var ErrTxEnded = errors.New("the transaction is over")

// owner says who may write to the agent.
type owner int

const (
	nobody   owner = iota
	human          // a Keys call is writing
	injector       // a transaction is open
	replayer       // held keys are being written
)

// writer is the only one who writes to the agent. Exactly one owner writes at a time, outside the
// lock; while that is a transaction, or the replay after it, human keys go to held, so that they
// come out in order and never inside a transaction.
type writer struct {
	f *master

	mu      sync.Mutex // guards what follows; never held over a write
	owner   owner
	tx      *Tx // the open transaction, when the injector owns
	ended   bool
	held    []byte
	pauses  []pause       // in held, in order
	since   time.Time     // of the first key in held; zero: there is none
	answers []byte        // of the user's terminal, which wait for the transaction
	typed   time.Time     // of the last one
	last    byte          // last human byte taken
	changed chan struct{} // closed and replaced when someone who waits should look again
}

// pause is how long the human paused before the Enter at an offset of held.
type pause struct {
	at   int
	long time.Duration
}

func (w *writer) init(f *master) {
	w.f = f
	w.changed = make(chan struct{})
	w.last = '\n'
}

// Keys types what the human typed. Outside a transaction it blocks until the agent's tty took it,
// as a terminal would, but not beyond the agent's end (ErrEnded). Within one, keys are kept, up to
// 64 KiB, and typed in order right after; beyond that Keys blocks.
func (s *Session) Keys(p []byte) error {
	s.stamp(&s.lastKey)
	s.wake()
	return s.keys.write(p, keys)
}

// Reports types what the user's terminal reports by itself, of the mouse and the focus. It is as
// Keys, but nobody waits for it: Held does not tell of it.
func (s *Session) Reports(p []byte) error { return s.keys.write(p, reports) }

// Answers types what the user's terminal answers to the agent's queries. Within a transaction they
// wait for Pass, or for its end: an agent may do nothing else before it has them.
func (s *Session) Answers(p []byte) error {
	err := s.keys.write(p, answers)
	s.wake()
	return err
}

// input is what is written for the human.
type input int

const (
	keys input = iota
	reports
	answers
)

func (w *writer) write(p []byte, is input) error {
	if failpoint.Built && failpoint.On(failpoint.KeysThrough) {
		_, err := w.f.Write(p)
		return w.explain(err)
	}
	for len(p) > 0 {
		w.mu.Lock()
		if w.ended {
			w.mu.Unlock()
			return ErrEnded
		}
		w.last = p[len(p)-1]
		switch w.owner {
		case nobody:
			w.takeLocked(human, nil)
			w.mu.Unlock()
			_, err := w.f.Write(p)
			w.release()
			return w.explain(err)
		case injector, replayer:
			p = p[w.holdLocked(p, is):]
		}
		changed := w.changed
		w.mu.Unlock()
		if len(p) > 0 {
			<-changed
		}
	}
	return nil
}

// takeLocked makes o the owner, whose writes have no deadline.
func (w *writer) takeLocked(o owner, tx *Tx) {
	w.owner, w.tx = o, tx
	w.f.out.set(time.Time{})
}

// holdLocked keeps as much of p as there is room for.
func (w *writer) holdLocked(p []byte, is input) int {
	n := min(len(p), heldMax-len(w.held)-len(w.answers))
	if n == 0 {
		return 0
	}
	if is == answers && w.owner == injector {
		w.answers = append(w.answers, p[:n]...)
		return n
	}
	now := time.Now()
	if len(w.held) == 0 {
		w.since = time.Time{}
	}
	if is == keys && w.since.IsZero() {
		w.since = now
	}
	if follows := len(w.held) > 0 || w.owner == replayer; follows && isEnter(p) && len(w.pauses) < pausesMax {
		w.pauses = append(w.pauses, pause{len(w.held), min(now.Sub(w.typed), pauseMax)})
	}
	w.held, w.typed = append(w.held, p[:n]...), now
	return n
}

// isEnter reports whether a human's write begins with Enter, in the plain form or in kitty's.
func isEnter(p []byte) bool {
	return p[0] == '\r' || bytes.HasPrefix(p, []byte("\x1b[13"))
}

func (w *writer) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.owner, w.tx = nobody, nil
	w.changedLocked()
}

func (w *writer) changedLocked() {
	close(w.changed)
	w.changed = make(chan struct{})
}

// end turns all writers away, those at work included.
func (w *writer) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	w.f.out.set(time.Unix(1, 0))
	w.changedLocked()
}

// explain names a write's error: one after the agent's end is that.
func (w *writer) explain(err error) error {
	if err == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return ErrEnded
	}
	return fmt.Errorf("write to agent: %w", err)
}

// Tx is exclusive use of the agent's keyboard. It belongs to one goroutine, except for Held.
type Tx struct {
	s *Session
}

// Begin waits for a human write under way and opens a transaction. It fails when ctx ends first or
// the agent has ended.
func (s *Session) Begin(ctx context.Context) (*Tx, error) {
	w := &s.keys
	for {
		w.mu.Lock()
		if w.ended {
			w.mu.Unlock()
			return nil, ErrEnded
		}
		if err := context.Cause(ctx); err != nil {
			w.mu.Unlock()
			return nil, err
		}
		if w.owner == nobody {
			tx := &Tx{s: s}
			w.takeLocked(injector, tx)
			w.mu.Unlock()
			return tx, nil
		}
		changed := w.changed
		w.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// Write types p in chunks under 4 KiB, of which the tty must take something before ctx's deadline
// or, without one, within a second in which the agent runs. It reports how many bytes went out,
// which an error leaves at fewer than len(p): os.ErrDeadlineExceeded, the context's cause,
// ErrEnded, ErrTxEnded. That bytes went out does not mean that the agent read them: its tty takes
// some 16 KiB, and a tty in canonical mode takes and throws away any length. To a program that
// reads lines they go one by one.
func (tx *Tx) Write(ctx context.Context, p []byte) (n int, err error) {
	w := &tx.s.keys
	fired := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(fired)
		w.f.out.set(time.Unix(1, 0))
	})
	defer func() {
		if !stop() {
			<-fired // or it would end the next owner's write
		}
	}()
	lines := tx.linesOf(p)
	for n < len(p) {
		chunk := p[n:min(n+chunkMax, len(p))]
		if lines != nil {
			chunk = lines.next(chunk)
		}
		began := time.Now()
		if err := tx.arm(ctx); err != nil {
			return n, err
		}
		m, err := w.f.Write(chunk)
		n += m
		switch cause := context.Cause(ctx); {
		case err == nil, errors.Is(err, os.ErrDeadlineExceeded) && cause == nil && (m > 0 || tx.s.stoppedSince(began)):
		case cause != nil:
			return n, cause
		default:
			return n, w.explain(err)
		}
	}
	return n, nil
}

// arm sets the deadline of the next chunk. The context is asked after that: one that ended before
// would have its alarm overwritten here.
func (tx *Tx) arm(ctx context.Context) error {
	var deadline time.Time
	if _, ok := ctx.Deadline(); !ok { // a context with a deadline raises the alarm itself
		deadline = time.Now().Add(chunkWait)
	}
	w := &tx.s.keys
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.ended:
		return ErrEnded
	case w.tx != tx:
		return ErrTxEnded
	}
	w.f.out.set(deadline)
	return context.Cause(ctx)
}

// Held says how many human bytes wait for the transaction to end, and since when; zero and the zero
// time when no key is among them.
func (tx *Tx) Held() (n int, since time.Time) {
	w := &tx.s.keys
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tx != tx || len(w.held) == 0 || w.since.IsZero() {
		return 0, time.Time{}
	}
	return len(w.held), w.since
}

// Pass types the answers that wait. Between two writes of the transaction they are in nobody's way.
func (tx *Tx) Pass(ctx context.Context) error {
	w := &tx.s.keys
	w.mu.Lock()
	p := w.answers
	if w.tx != tx || len(p) == 0 {
		w.mu.Unlock()
		return nil
	}
	w.answers = nil
	w.mu.Unlock()
	_, err := tx.Write(ctx, p)
	return err
}

// keepAnswersLocked puts the answers that wait before all else that is kept.
func (w *writer) keepAnswersLocked() {
	for i := range w.pauses {
		w.pauses[i].at += len(w.answers)
	}
	w.held, w.answers = append(w.answers, w.held...), nil
}

// End closes the transaction; the held keys are typed right after, before any later key and any
// other transaction, and End does not wait for an agent that is slow to take them. A second End
// does nothing. It returns ErrEnded when the agent ended meanwhile.
func (tx *Tx) End() error {
	w := &tx.s.keys
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tx != tx {
		return nil
	}
	w.owner, w.tx = nobody, nil
	if w.ended {
		return ErrEnded
	}
	w.keepAnswersLocked()
	if len(w.held) > 0 {
		w.owner = replayer
		tx.s.helpers.Go(func() {
			tx.s.replay()
			tx.s.stamp(&tx.s.lastReplay)
			tx.s.wake()
		})
		tx.s.stamp(&tx.s.lastReplay)
	}
	w.changedLocked()
	return nil
}

// replay types what was held, and what is held while it does so. Before an Enter it lets the agent
// read what came before, and pauses as the human did.
func (s *Session) replay() {
	w := &s.keys
	for p, long := w.nextHeld(); p != nil; p, long = w.nextHeld() {
		if long > 0 {
			s.untilRead()
			w.rest(long)
		}
		w.f.Write(p) // fails only when the agent has ended, and then there is no next
	}
}

// untilRead waits, for a while, until the agent has read what was typed.
func (s *Session) untilRead() {
	for end := time.Now().Add(readWait); time.Now().Before(end); {
		if tty, err := s.TTY(); err != nil || tty.Canonical || tty.Unread == 0 || !s.keys.rest(readLook) {
			return
		}
	}
}

// rest waits; false: the agent has ended.
func (w *writer) rest(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		w.mu.Lock()
		ended, changed := w.ended, w.changed
		w.mu.Unlock()
		if ended {
			return false
		}
		select {
		case <-timer.C:
			return true
		case <-changed:
		}
	}
}

// nextHeld takes what is held up to the next pause, which makes room for more, and the pause before
// it; nil, and the keyboard free, when there is nothing.
func (w *writer) nextHeld() (p []byte, before time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.changedLocked()
	if w.ended || len(w.held) == 0 {
		w.owner = nobody
		return nil, 0
	}
	if len(w.pauses) > 0 && w.pauses[0].at == 0 {
		before, w.pauses = w.pauses[0].long, w.pauses[1:]
	}
	n := len(w.held)
	if len(w.pauses) > 0 {
		n = w.pauses[0].at
	}
	p, w.held = w.held[:n:n], w.held[n:]
	for i := range w.pauses {
		w.pauses[i].at -= n
	}
	w.takeLocked(replayer, nil)
	return p, before
}

// lastByte is the last thing the human typed, a newline when nothing.
func (w *writer) lastByte() byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last
}
