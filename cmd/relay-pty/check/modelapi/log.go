package modelapi

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// ErrClosed is what WaitTurn returns once the server is closed.
var ErrClosed = errors.New("fake API closed")

// turnLog keeps the turns and wakes those who wait for one.
type turnLog struct {
	mu     sync.Mutex
	turns  []Turn
	sides  int
	closed bool
	change chan struct{} // closed and replaced at every change; nil: nobody waits
}

func (l *turnLog) begin(t Turn) Turn {
	l.mu.Lock()
	defer l.mu.Unlock()
	t.N = len(l.turns)
	l.turns = append(l.turns, t)
	l.wakeLocked()
	return t
}

func (l *turnLog) end(n int, aborted bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turns[n].Ended = time.Now()
	l.turns[n].Aborted = aborted
	l.wakeLocked()
}

func (l *turnLog) side() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sides++
	l.wakeLocked()
}

func (l *turnLog) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.wakeLocked()
}

func (l *turnLog) wakeLocked() {
	if l.change != nil {
		close(l.change)
		l.change = nil
	}
}

func (l *turnLog) snapshot() []Turn {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.turns)
}

func (l *turnLog) sideCount() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sides
}

// look returns the turns and, if the log is open, what ends when they change.
func (l *turnLog) look() ([]Turn, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return slices.Clone(l.turns), nil
	}
	if l.change == nil {
		l.change = make(chan struct{})
	}
	return slices.Clone(l.turns), l.change
}

func (l *turnLog) wait(ctx context.Context, want func(Turn) bool) (Turn, error) {
	for {
		turns, changed := l.look()
		if i := slices.IndexFunc(turns, want); i >= 0 {
			return turns[i], nil
		}
		if changed == nil {
			return Turn{}, ErrClosed
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Turn{}, context.Cause(ctx)
		}
	}
}
