package storm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"relay-pty/protocol"
	"relay-pty/protocol/sock"
)

// conn is a connection to a wrapper. Its frames must be read; they are closed at the end.
type conn struct {
	frames chan protocol.Frame
	client *sock.Client
	hangUp context.CancelFunc
}

// dial connects to a life that may be about to start; errGone when it ends before that.
func (p *place) dial(ctx context.Context, l *life) (*conn, error) {
	c := &conn{frames: make(chan protocol.Frame, 64)}
	if err := l.try(ctx, func() (done bool) {
		client, err := sock.Dial(ctx, p.socket)
		c.client = client
		return err == nil
	}); err != nil {
		return nil, err
	}
	ctx, c.hangUp = context.WithCancel(ctx)
	go c.read(ctx)
	return c, nil
}

func (c *conn) read(ctx context.Context) {
	defer close(c.frames)
	for {
		f, err := c.client.Next(ctx)
		if err != nil {
			return
		}
		select {
		case c.frames <- f:
		case <-ctx.Done():
			return
		}
	}
}

// writeLimit is longer than any fault holds a wrapper.
const writeLimit = 30 * time.Second

// send writes a request; an error means that the connection is of no use any more.
func (c *conn) send(r protocol.Request) error {
	late := time.AfterFunc(writeLimit, c.close)
	defer late.Stop()
	return c.client.Send(r)
}

func (c *conn) close() {
	c.hangUp()
	c.client.Close() // nothing to flush
}

// follow reads the events of all lives, each from where the one before was left.
func (p *place) follow(ctx context.Context) error {
	for seq := int64(0); ; {
		l, err := p.up(ctx)
		if err != nil || p.isEnding() {
			return err
		}
		if err := p.listen(ctx, l, &seq); err != nil && !errors.Is(err, errGone) {
			return fmt.Errorf("%s, life %d: events after %d: %w", p.name, l.n, seq, err)
		}
		select {
		case <-time.After(20 * time.Millisecond): // it may be refused for a while
		case <-ctx.Done():
		}
	}
}

// listen reads events until the connection ends, or is refused for now.
func (p *place) listen(ctx context.Context, l *life, seq *int64) error {
	c, err := p.dial(ctx, l)
	if err != nil {
		return err
	}
	defer c.close()
	if c.send(&protocol.Subscribe{After: seq, Events: []string{"inject_result", "relay_command", "marker_invalid"}}) != nil {
		return nil // the wrapper is gone
	}
	for f := range c.frames {
		switch f := f.(type) {
		case *protocol.Subscribed, *protocol.Lagged:
		case *protocol.Error:
			if slices.Contains([]protocol.Code{protocol.TooManyConnections, protocol.ShuttingDown, protocol.Degraded}, f.Code) {
				return nil
			}
			return fmt.Errorf("refused: %w", f)
		case protocol.Event:
			*seq = f.Stamped().Seq
			if err := p.heard(f); err != nil {
				return err
			}
		default:
			return fmt.Errorf("%s was not asked for", f.Type())
		}
	}
	return context.Cause(ctx)
}
