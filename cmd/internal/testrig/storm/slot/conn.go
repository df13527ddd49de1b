package slot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"relay-pty/protocol"
	"relay-pty/protocol/sock"
)

// Conn is a connection to a wrapper. Frames must be read; it is closed at the end.
type Conn struct {
	Frames chan protocol.Frame
	client *sock.Client
	hangUp context.CancelFunc
}

// Dial connects to a life that may be about to start; [ErrGone] when it ends before that.
func (s *Slot) Dial(ctx context.Context, l *Life) (*Conn, error) {
	c := &Conn{Frames: make(chan protocol.Frame, 64)}
	if err := l.try(ctx, func() (done bool) {
		client, err := sock.Dial(ctx, s.Socket)
		c.client = client
		return err == nil
	}); err != nil {
		return nil, err
	}
	ctx, c.hangUp = context.WithCancel(ctx)
	go c.read(ctx)
	return c, nil
}

func (c *Conn) read(ctx context.Context) {
	defer close(c.Frames)
	for {
		f, err := c.client.Next(ctx)
		if err != nil {
			return
		}
		select {
		case c.Frames <- f:
		case <-ctx.Done():
			return
		}
	}
}

// writeLimit is longer than any fault holds a wrapper.
const writeLimit = 30 * time.Second

// Send writes a request; an error means that the connection is of no use any more.
func (c *Conn) Send(r protocol.Request) error {
	late := time.AfterFunc(writeLimit, c.Close)
	defer late.Stop()
	return c.client.Send(r)
}

// Close hangs up.
func (c *Conn) Close() {
	c.hangUp()
	c.client.Close() // nothing to flush
}

// Follow reads the events of all lives, each from where the one before was left.
func (s *Slot) Follow(ctx context.Context) error {
	for seq := int64(0); ; {
		l, err := s.Up(ctx)
		if err != nil || s.isEnding() {
			return err
		}
		if err := s.listen(ctx, l, &seq); err != nil && !errors.Is(err, ErrGone) {
			return fmt.Errorf("%s, life %d: events after %d: %w", s.Name, l.N, seq, err)
		}
		select {
		case <-time.After(20 * time.Millisecond): // it may be refused for a while
		case <-ctx.Done():
		}
	}
}

// listen reads events until the connection ends, or is refused for now.
func (s *Slot) listen(ctx context.Context, l *Life, seq *int64) error {
	c, err := s.Dial(ctx, l)
	if err != nil {
		return err
	}
	defer c.Close()
	if c.Send(&protocol.Subscribe{After: seq, Events: []string{"inject_result", "relay_command", "marker_invalid"}}) != nil {
		return nil // the wrapper is gone
	}
	for f := range c.Frames {
		switch f := f.(type) {
		case *protocol.Subscribed, *protocol.Lagged:
		case *protocol.Error:
			if slices.Contains([]protocol.Code{protocol.TooManyConnections, protocol.ShuttingDown, protocol.Degraded}, f.Code) {
				return nil
			}
			return fmt.Errorf("refused: %w", f)
		case protocol.Event:
			*seq = f.Stamped().Seq
			if err := s.heard(f); err != nil {
				return err
			}
		default:
			return fmt.Errorf("%s was not asked for", f.Type())
		}
	}
	return context.Cause(ctx)
}
