package bus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"

	"github.com/nats-io/nats.go/jetstream"
)

// reserve is what stays free of the disk: before the last of it is used up, events are refused
// while all that is there can be read, and written anew when there is room.
const reserve = 1 << 20

// errShut is that the store could not be opened again after a write that failed.
var errShut = fmt.Errorf("%w: the store is being opened again after a write that failed", ErrFull)

// Append writes an event of a type about an agent, which may be empty, and returns its number.
// ErrFull says that it was not written, ErrUnclear that it may have been, and ErrGone that nobody
// finds what is written.
func (l *Log) Append(ctx context.Context, kind, agent string, data []byte) (seq int64, err error) {
	ctx = context.WithoutCancel(ctx)
	if err := l.goneBlock(); err != nil {
		return 0, err
	}
	if err := l.Room(int64(len(data))); err != nil {
		return 0, err
	}
	seq, err = l.publish(ctx, prefix+kind+"."+token(agent), data)
	if gone := l.goneBlock(); gone != nil {
		return 0, gone
	}
	if errors.Is(err, ErrUnclear) {
		seq, err = l.findOut(ctx, data, err)
	}
	if err == nil {
		l.last.Store(seq)
	}
	return seq, err
}

// Room refuses, with ErrFull, an event of so many bytes for which the disk has no room.
func (l *Log) Room(n int64) error {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(l.dir, &disk); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrFull, l.dir, err)
	}
	if free := int64(disk.Bavail) * int64(disk.Bsize); l.reserve > 0 && free < l.reserve+2*n {
		return fmt.Errorf("%w: the disk of %s is full (%d KiB are free): make room, and it goes on", ErrFull, l.dir, free>>10)
	}
	return nil
}

func (l *Log) publish(ctx context.Context, subject string, data []byte) (seq int64, err error) {
	e, err := l.engine()
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, appendWait)
	defer cancel()
	defer l.ear.listen(cancel)()
	ack, err := e.js.Publish(ctx, subject, data, jetstream.WithRetryAttempts(0))
	var refused *jetstream.APIError
	switch {
	case errors.As(err, &refused):
		return 0, fmt.Errorf("%w: %w", ErrFull, err)
	case err != nil:
		return 0, fmt.Errorf("%w: %w", ErrUnclear, err)
	}
	return int64(ack.Sequence), nil
}

// findOut finds out what became of an event whose write failed. The server takes nothing more after
// that, so the store is opened anew, and then tells.
func (l *Log) findOut(ctx context.Context, data []byte, failed error) (seq int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	l.mu.Lock()
	l.now.close()
	l.now, err = l.start(ctx)
	l.mu.Unlock()
	if err != nil {
		return 0, fmt.Errorf("%w: %w", failed, err)
	}
	was := l.last.Load()
	if err := l.measure(ctx); err != nil {
		return 0, fmt.Errorf("%w: %w", failed, err)
	}
	newest := l.last.Load()
	switch {
	case newest == was:
		return 0, fmt.Errorf("%w: a write to %s failed: look whether its disk is full", ErrFull, l.dir)
	}
	is, ok, err := l.Get(ctx, newest)
	if err != nil || !ok || newest != was+1 || !bytes.Equal(is, data) {
		return 0, errors.Join(failed, err)
	}
	return newest, nil // only the answer was lost
}

// ear hears what the server complains of: it answers no request whose write failed.
type ear struct {
	mu     sync.Mutex
	cancel func()
}

// listen calls cancel at the next complaint, until stop is called.
func (e *ear) listen(cancel func()) (stop func()) {
	set := func(f func()) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.cancel = f
	}
	set(cancel)
	return func() { set(nil) }
}

func (e *ear) Errorf(string, ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.cancel != nil {
		e.cancel()
	}
}

func (e *ear) Fatalf(format string, v ...any) { e.Errorf(format, v...) }
func (*ear) Noticef(string, ...any)           {}
func (*ear) Warnf(string, ...any)             {}
func (*ear) Debugf(string, ...any)            {}
func (*ear) Tracef(string, ...any)            {}
