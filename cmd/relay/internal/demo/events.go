package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"sync"

	"relay-pty/cmd/relay/internal/router"
)

// events are all that the router has logged so far, as `relay events --follow` tells them.
type events struct {
	mu     sync.Mutex
	list   []router.Event
	err    error         // why no more come
	change chan struct{} // closed with the next; nil while nobody waits
}

// follow reads the events of a command until it ends. The command ends with its context.
func follow(cmd *exec.Cmd) (*events, error) {
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	e := &events{}
	go func() {
		for in := json.NewDecoder(out); ; {
			var next router.Event
			err := in.Decode(&next)
			if err == io.EOF {
				err = fmt.Errorf("relay events: %w", cmd.Wait())
			}
			e.add(next, err)
			if err != nil {
				return
			}
		}
	}()
	return e, nil
}

func (e *events) add(next router.Event, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err = err; err == nil {
		e.list = append(e.list, next)
	}
	if e.change != nil {
		close(e.change)
		e.change = nil
	}
}

// wait returns the first event that is wanted, of those that came and those that come.
func (e *events) wait(ctx context.Context, want func(router.Event) bool) (router.Event, error) {
	for n := 0; ; {
		e.mu.Lock()
		for ; n < len(e.list); n++ {
			if want(e.list[n]) {
				defer e.mu.Unlock()
				return e.list[n], nil
			}
		}
		if e.change == nil {
			e.change = make(chan struct{})
		}
		changed, err := e.change, e.err
		e.mu.Unlock()
		if err != nil {
			return router.Event{}, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return router.Event{}, context.Cause(ctx)
		}
	}
}

// all returns those that came.
func (e *events) all() []router.Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.list)
}
