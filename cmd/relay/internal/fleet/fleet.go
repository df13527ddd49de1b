// Package fleet is the router's side of the wrappers: it finds those that run, follows what they
// tell, and hands them what waits for them. One goroutine follows each wrapper and one hands over;
// all end when Run does.
package fleet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"relay-pty/cmd/relay/internal/hub"
	"relay-pty/protocol/registry"
	"relay-pty/protocol/sock"
)

// Fleet is all wrappers that run.
type Fleet struct {
	Hub *hub.Hub
	Dir string // where wrappers announce themselves
}

// Run serves wrappers until ctx ends, or the log takes no more.
func (f *Fleet) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	defer all.Wait()
	members := map[registry.Record]context.CancelCauseFunc{}
	first := true
	for list, err := range registry.Watch(ctx, f.Dir) {
		if err != nil && list == nil {
			return errors.Join(context.Cause(ctx), err)
		}
		here := map[registry.Record]bool{}
		for _, r := range list {
			here[r] = true
			if members[r] != nil {
				continue
			}
			if err := f.Hub.Up(ctx, r.Name, r.Agent, r.PID); err != nil {
				return err
			}
			served, leave := context.WithCancelCause(ctx)
			members[r] = leave
			all.Go(func() {
				if err := f.serve(served, r); err != nil {
					cancel(err)
				}
			})
		}
		for r, leave := range members {
			if !here[r] {
				leave(errGone)
				delete(members, r)
			}
		}
		if first {
			first = false
			if err := f.Hub.Missed(ctx); err != nil {
				return err
			}
		}
	}
	return context.Cause(ctx)
}

// serve follows one wrapper and hands it its messages until it is gone or ctx ends. An error is the
// log's.
func (f *Fleet) serve(ctx context.Context, r registry.Record) error {
	ctx, cancel := context.WithCancelCause(ctx)
	room := make(chan struct{}, 1)
	var all sync.WaitGroup
	all.Go(func() { cancel(f.follow(ctx, r, room)) })
	all.Go(func() { cancel(f.handOver(ctx, r, room)) })
	all.Go(func() { cancel(alive(ctx, r)) })
	all.Wait()
	err := context.Cause(ctx)
	if !errors.Is(err, errGone) {
		return logOnly(err) // the router ends, not the wrapper
	}
	if err := f.Hub.Down(context.WithoutCancel(ctx), r.Name); err != nil {
		return fmt.Errorf("write the log: %w", err)
	}
	return nil
}

// errGone is that a wrapper no longer listens.
var errGone = errors.New("the wrapper is gone")

// alive waits for the end of a wrapper, of which only the end of a connection tells.
func alive(ctx context.Context, r registry.Record) error {
	for {
		if client, err := sock.Dial(ctx, r.Socket); err == nil {
			for err == nil {
				_, err = client.Next(ctx)
			}
			client.Close()
		} else if _, listens := sock.Listening(r.Socket); !listens {
			return errGone
		}
		select {
		case <-time.After(lookAgain):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// lookAgain is how soon a wrapper is called again that hung up and may still be there.
const lookAgain = 100 * time.Millisecond

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
