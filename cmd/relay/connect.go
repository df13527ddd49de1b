package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/home"
	"relay-pty/cmd/relay/internal/peer"
	"relay-pty/cmd/relay/internal/router"
)

// asking asks the router, for many goroutines. It connects when it is asked first. When the router
// that ran has ended, it asks another one, which it starts: each request may be made twice.
type asking struct{ client atomic.Pointer[api.Client] }

// tries is how many routers are asked that all end before they answer.
const tries = 10

// connect finds the router, or starts one.
func connect(ctx context.Context) (*asking, error) {
	a := &asking{}
	_, err := a.connect(ctx)
	return a, err
}

func (a *asking) connect(ctx context.Context) (*api.Client, error) {
	h, err := home.Find("")
	if err != nil {
		return nil, err
	}
	c, err := h.Client(ctx, peer.Token(), "serve", "--"+onDemand)
	if err == nil {
		a.client.Store(c)
	}
	return c, err
}

// ask calls f with the router.
func (a *asking) ask(ctx context.Context, f func(c *api.Client) error) error {
	c := a.client.Load()
	for range tries {
		if c == nil {
			made, err := a.connect(ctx)
			if err != nil {
				return err
			}
			c = made
		}
		err := f(c)
		if !errors.Is(err, api.ErrLost) || ctx.Err() != nil {
			return err
		}
		c = nil
	}
	return errors.New("the router ends again and again before it answers")
}

// asks asks the router one thing.
func asks[T any](ctx context.Context, a *asking, f func(c *api.Client) (T, error)) (answer T, err error) {
	err = a.ask(ctx, func(c *api.Client) (err error) { answer, err = f(c); return err })
	return answer, err
}

// inDoubt is the error of whoever sent a message and has no answer: only a refusal says that the
// router did not accept it.
func inDoubt(id string, err error) error {
	if refused := (*router.ErrorValue)(nil); err == nil || errors.As(err, &refused) {
		return err
	}
	return fmt.Errorf("%s: %w; relay show %[1]s tells whether it was accepted", id, err)
}
