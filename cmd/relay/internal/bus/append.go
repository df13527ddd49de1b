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

// Event is what is written.
type Event struct {
	Kind, Agent string // of what type, and about which agent; "" about none
	Data        []byte
}

// Append writes events, in order, and returns the number of the first and how many were written.
// With ErrFull the others were not, with ErrUnclear nobody knows, and with ErrGone nobody finds
// what is written.
func (l *Log) Append(ctx context.Context, list ...Event) (first int64, written int, err error) {
	ctx = context.WithoutCancel(ctx)
	if err := l.goneBlock(); err != nil {
		return 0, 0, err
	}
	size := 0
	for _, e := range list {
		size += len(e.Data)
	}
	if err := l.Room(int64(size)); err != nil {
		return 0, 0, err
	}
	was := l.last.Load()
	newest, err := l.publish(ctx, list)
	if gone := l.goneBlock(); gone != nil {
		return 0, 0, gone
	}
	if err == nil && newest != was+int64(len(list)) {
		err = fmt.Errorf("%w: the newest is %d, behind %d and %d more", ErrUnclear, newest, was, len(list))
	}
	switch {
	case err == nil:
		written = len(list)
		l.last.Store(newest)
	case errors.Is(err, ErrUnclear):
		written, err = l.findOut(ctx, list, err)
	}
	return was + 1, written, err
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

// publish returns the number of the last event. The server syncs each, and has the next one at hand
// when it has. Its atomic batches sync once, but make and remove a directory for it: no gain was
// measured below some thirty events at once.
func (l *Log) publish(ctx context.Context, list []Event) (seq int64, err error) {
	e, err := l.engine()
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, appendWait)
	defer cancel()
	defer l.ear.listen(cancel)()
	seq, err = e.publish(ctx, list)
	var refused *jetstream.APIError
	switch {
	case errors.As(err, &refused) && len(list) == 1:
		return 0, fmt.Errorf("%w: %w", ErrFull, err)
	case err != nil:
		return 0, fmt.Errorf("%w: %w", ErrUnclear, err)
	}
	return seq, nil
}

func (e *engine) publish(ctx context.Context, list []Event) (seq int64, err error) {
	acks := make([]jetstream.PubAckFuture, len(list))
	for i, event := range list {
		subject := prefix + event.Kind + "." + token(event.Agent)
		acks[i], err = e.js.PublishAsync(subject, event.Data, jetstream.WithRetryAttempts(0))
		if err != nil {
			return 0, err
		}
	}
	for _, ack := range acks {
		select {
		case is := <-ack.Ok():
			seq = int64(is.Sequence)
		case err := <-ack.Err():
			return 0, err
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
	return seq, nil
}

// findOut finds out how many of the events are there whose write failed. The server takes nothing
// more after that, so the store is opened anew, and then tells.
func (l *Log) findOut(ctx context.Context, list []Event, failed error) (written int, err error) {
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
	more := l.last.Load() - was
	if more < 0 || more > int64(len(list)) {
		return 0, failed
	}
	for i, event := range list[:more] {
		is, ok, err := l.Get(ctx, was+1+int64(i))
		if err != nil || !ok || !bytes.Equal(is, event.Data) {
			return 0, errors.Join(failed, err)
		}
	}
	if int(more) == len(list) {
		return len(list), nil // only the answer was lost
	}
	err = fmt.Errorf("%w: a write to %s failed: look whether its disk is full", ErrFull, l.dir)
	return int(more), err
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
