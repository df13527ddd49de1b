package main

import (
	"context"
	"errors"
	"fmt"

	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/home"
	"relay-pty/cmd/relay/internal/peer"
	"relay-pty/cmd/relay/internal/router"
)

// asking asks the router. When the one that ran has ended, it asks another one, which it starts:
// each request may be made twice.
type asking struct{ client *api.Client }

// tries is how many routers are asked that all end before they answer.
const tries = 10

// connect finds the router, or starts one.
func connect(ctx context.Context) (*asking, error) {
	a := &asking{}
	return a, a.connect(ctx)
}

func (a *asking) connect(ctx context.Context) error {
	h, err := home.Find("")
	if err != nil {
		return err
	}
	a.client, err = h.Client(ctx, peer.Token(), "serve", "--"+onDemand)
	return err
}

// ask calls f with the router.
func (a *asking) ask(ctx context.Context, f func(c *api.Client) error) error {
	for range tries {
		err := f(a.client)
		if !errors.Is(err, api.ErrLost) || ctx.Err() != nil {
			return err
		}
		if err := a.connect(ctx); err != nil {
			return err
		}
	}
	return errors.New("the router ends again and again before it answers")
}

// asks asks the router one thing.
func asks[T any](ctx context.Context, f func(ctx context.Context, c *api.Client) (T, error)) (answer T, err error) {
	a, err := connect(ctx)
	if err != nil {
		return answer, err
	}
	err = a.ask(ctx, func(c *api.Client) (err error) { answer, err = f(ctx, c); return err })
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
