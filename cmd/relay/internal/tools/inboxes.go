package tools

import (
	"context"
	"errors"
	"sync"
	"time"

	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/parser"
	"relay-pty/protocol"
	"relay-pty/protocol/sock"
)

// NewCaller is a caller of that name, whose messages wait in its wrapper, or in the router where it
// has none.
func NewCaller(name string, w AtWrapper, ask func(context.Context, func(*api.Client) error) error, newID func() string) Caller {
	c := Caller{Name: name, Ask: ask, NewID: newID, Inbox: w}
	if w.Socket == "" || w.Token == "" {
		c.Inbox = &AtRouter{Name: name, Ask: ask}
	}
	return c
}

// AtRouter is the inbox of a name that no wrapper types for: its messages wait in the router.
type AtRouter struct {
	Name string
	Ask  func(ctx context.Context, f func(c *api.Client) error) error

	mu    sync.Mutex
	given map[string]bool // ids that were given before, as a router may that has ended since; some bytes each
}

// Take implements [Inbox].
func (a *AtRouter) Take(ctx context.Context, most int) (letters []Letter, err error) {
	var list api.Messages
	err = a.Ask(ctx, func(c *api.Client) (err error) {
		list, err = c.Pull(ctx, a.Name, api.Pull{Max: most})
		return err
	})
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.given == nil {
		a.given = map[string]bool{}
	}
	for _, m := range list.Messages {
		e := parser.Envelope{
			ID: m.ShownID(), From: m.From, Body: m.Body, Notice: m.From == router.Relay, Unread: true,
			Redelivery: a.given[m.ID], Age: time.Since(time.UnixMilli(m.AcceptedAt)),
		}
		letters = append(letters, Letter{m.ID, e.Text()})
		a.given[m.ID] = true
	}
	return letters, err
}

// Acknowledge implements [Inbox].
func (a *AtRouter) Acknowledge(ctx context.Context, ids []string) error {
	return a.Ask(ctx, func(c *api.Client) error { return c.PullAck(ctx, a.Name, ids) })
}

// AtWrapper is the inbox of an agent in a wrapper, which else types the messages: those that it
// lends it does not type.
type AtWrapper struct{ Socket, Token string }

// Greet lets the wrapper know that the agent has the tools: with them it can answer, whether or not
// anybody reads its markers. What cannot be told now, the first call tells.
func (a AtWrapper) Greet(ctx context.Context) {
	a.talk(ctx, func(*sock.Client) error { return nil })
}

// Take implements [Inbox].
func (a AtWrapper) Take(ctx context.Context, most int) (letters []Letter, err error) {
	err = a.talk(ctx, func(c *sock.Client) error {
		list, err := c.Pull(ctx, &protocol.Pull{Max: int64(most)})
		for _, m := range list {
			letters = append(letters, Letter{m.ID, m.Text})
		}
		var refused *protocol.Error
		if errors.As(err, &refused) && refused.Code == protocol.UnknownType {
			return nil // an older wrapper, which types them
		}
		return err
	})
	return letters, err
}

// Acknowledge implements [Inbox]. A message of which the wrapper says that it is too late has ended
// there, or comes again.
func (a AtWrapper) Acknowledge(ctx context.Context, ids []string) error {
	return a.talk(ctx, func(c *sock.Client) error {
		for _, id := range ids {
			err := c.PullAck(ctx, id)
			var refused *protocol.Error
			if errors.As(err, &refused) && (refused.Code == protocol.TooLate || refused.Code == protocol.UnknownID) {
				continue
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// wrapperWait is how long a wrapper may take, which needs milliseconds.
const wrapperWait = 5 * time.Second

// talk calls f with the wrapper, as the agent.
func (a AtWrapper) talk(parent context.Context, f func(c *sock.Client) error) error {
	ctx, cancel := context.WithTimeoutCause(parent, wrapperWait, errors.New("the wrapper does not answer"))
	defer cancel()
	c, err := sock.DialAs(ctx, a.Socket, a.Token)
	if err != nil {
		return err
	}
	defer c.Close()
	return f(c)
}
