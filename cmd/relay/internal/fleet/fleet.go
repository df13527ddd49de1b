package fleet

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"relay-pty/cmd/relay/internal/hub"
	"relay-pty/protocol/registry"
	"relay-pty/protocol/sock"
)

// Fleet is all wrappers that run.
type Fleet struct {
	Hub    *hub.Hub
	Places registry.Places // where wrappers announce themselves
}

// Run serves wrappers until ctx ends, or the log takes no more.
func (f *Fleet) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	defer all.Wait()
	members := map[registry.Record]chan struct{}{} // closed when a record is gone
	first := true
	for list, err := range f.Places.Watch(ctx) {
		if errors.Is(err, fs.ErrNotExist) && !first {
			continue // a directory that was taken away says of nobody that he has ended
		}
		if err != nil && list == nil {
			return errors.Join(context.Cause(ctx), err)
		}
		here := map[registry.Record]bool{}
		var news, known []registry.Record
		for _, r := range list {
			if here[member(r)] = true; members[member(r)] == nil {
				news = append(news, r)
			} else {
				known = append(known, r)
			}
		}
		if err := f.Hub.Known(ctx, known...); err != nil {
			return err
		}
		if err := f.Hub.Up(ctx, news...); err != nil {
			return err
		}
		for _, r := range news {
			retired := make(chan struct{})
			members[member(r)] = retired
			all.Go(func() {
				if err := f.serve(ctx, r, retired); err != nil {
					cancel(err)
				}
			})
		}
		for r, retired := range members {
			if !here[r] {
				close(retired)
				delete(members, r)
			}
		}
		if first {
			first = false
			if err := f.Hub.Missed(ctx, f.retired); err != nil {
				return err
			}
		}
	}
	return context.Cause(ctx)
}

// member is a record without what may change while the wrapper runs.
func member(r registry.Record) registry.Record {
	r.Agent = ""
	return r
}

// serve attends to one wrapper until it is gone or ctx ends. One whose process lives where we
// cannot reach it runs, and is attended to as soon as it can be reached. An error is the log's.
func (f *Fleet) serve(ctx context.Context, r registry.Record, retired <-chan struct{}) error {
	err := f.attend(ctx, r, retired)
	for errors.Is(err, errGone) && f.comesBack(ctx, r, retired) {
		err = f.attend(ctx, r, retired)
	}
	if !errors.Is(err, errGone) {
		return logOnly(err) // the router ends, not the wrapper
	}
	if err := f.Hub.Down(ctx, r.Name, f.unlisted(r.Name)); err != nil && ctx.Err() == nil {
		return fmt.Errorf("write the log: %w", err)
	}
	return nil
}

// comesBack waits as long as a wrapper lives and cannot be reached, and reports whether it can be
// by then. One that has just been killed lives for another moment.
func (f *Fleet) comesBack(ctx context.Context, r registry.Record, retired <-chan struct{}) bool {
	if _, listens := sock.Listening(r.Socket); listens {
		return false // another one has its place
	}
	const shortest, longest = 20 * time.Millisecond, 5 * time.Second
	for pause := shortest; r.Lives(); pause = min(2*pause, longest) {
		select {
		case <-time.After(pause):
		case <-retired:
			return false
		case <-ctx.Done():
			return false
		}
		if _, listens := sock.Listening(r.Socket); listens && r.Lives() {
			return true
		}
	}
	return false
}

// attend follows one wrapper and hands it its messages until it is gone or ctx ends. One that has
// retired gets no more messages, and is heard to its last word.
func (f *Fleet) attend(parent context.Context, r registry.Record, retired <-chan struct{}) error {
	ctx, cancel := context.WithCancelCause(parent)
	handing, rest := context.WithCancelCause(ctx)
	room, missed := make(chan struct{}, 1), make(chan struct{}, 1)
	var all sync.WaitGroup
	all.Go(func() { cancel(f.follow(ctx, r, room, missed)) })
	all.Go(func() {
		if err := f.handOver(handing, r, room, missed); !errors.Is(err, errGone) {
			cancel(err)
		}
	})
	all.Go(func() {
		select {
		case <-retired:
		case <-ctx.Done():
			return
		}
		rest(errGone)
		select {
		case <-time.After(lastWords):
			cancel(errGone)
		case <-ctx.Done():
		}
	})
	all.Wait()
	return context.Cause(ctx)
}

// errGone is that a wrapper no longer listens.
var errGone = errors.New("the wrapper is gone")

// lastWords is how long a wrapper that has retired is still read. It ends by itself much earlier,
// unless the next wrapper of that name listens at the same place already.
const lastWords = 5 * time.Second

// errLog is that the log took no more, which ends the router.
type errLog struct{ error }

func (e errLog) Unwrap() error { return e.error }

// logOnly is err if the log is to blame.
func logOnly(err error) error {
	if l := (errLog{}); errors.As(err, &l) {
		return fmt.Errorf("write the log: %w", l.error)
	}
	return nil
}
