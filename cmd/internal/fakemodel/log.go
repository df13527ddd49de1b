package fakemodel

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// ErrClosed is what WaitTurn returns once the server is closed.
var ErrClosed = errors.New("fake model closed")

// turnLog keeps the turns and wakes those who wait for one.
type turnLog struct {
	mu       sync.Mutex
	turns    []Turn
	refusals int
	closed   bool
	change   chan struct{} // closed and replaced at every change; nil: nobody waits
}

// record makes a change and wakes those who wait.
func (l *turnLog) record(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
	if l.change != nil {
		close(l.change)
		l.change = nil
	}
}

func (l *turnLog) begin(t Turn) Turn {
	l.record(func() {
		t.N = len(l.turns)
		l.turns = append(l.turns, t)
	})
	return t
}

func (l *turnLog) end(n int, aborted bool) {
	l.record(func() { l.turns[n].Ended, l.turns[n].Aborted = time.Now(), aborted })
}

func (l *turnLog) refused() { l.record(func() { l.refusals++ }) }

func (l *turnLog) close() { l.record(func() { l.closed = true }) }

// Turns returns the turns so far, oldest first.
func (l *turnLog) Turns() []Turn {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.turns)
}

// look returns the turns, how many requests were refused and, if the log is open, what ends when
// either changes.
func (l *turnLog) look() ([]Turn, int, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.change == nil && !l.closed {
		l.change = make(chan struct{})
	}
	return slices.Clone(l.turns), l.refusals, l.change
}

// WaitTurn returns the first turn for which want is true, now or later. want
// sees every turn again whenever one begins or ends. The error is ctx's cause,
// or ErrClosed.
func (l *turnLog) WaitTurn(ctx context.Context, want func(Turn) bool) (Turn, error) {
	for {
		turns, _, changed := l.look()
		if i := slices.IndexFunc(turns, want); i >= 0 {
			return turns[i], nil
		}
		if err := next(ctx, changed); err != nil {
			return Turn{}, err
		}
	}
}

// WaitRefused waits until Fail has had n requests refused. The error is ctx's cause, or ErrClosed.
func (l *turnLog) WaitRefused(ctx context.Context, n int) error {
	for {
		_, refused, changed := l.look()
		if refused >= n {
			return nil
		}
		if err := next(ctx, changed); err != nil {
			return err
		}
	}
}

// next waits for a change; a log that is closed has none any more.
func next(ctx context.Context, changed <-chan struct{}) error {
	if changed == nil {
		return ErrClosed
	}
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
