package slot

import (
	"bytes"
	"context"
	"sync"
	"time"

	"relay-pty/protocol"
	"relay-pty/protocol/sock"
)

// Conn is a connection to a wrapper. Frames must be read; it is closed at the end.
type Conn struct {
	client *sock.Client
	Frames chan protocol.Frame
	hung   chan struct{}
	once   sync.Once
}

// dial connects, and tries again until ctx ends: the wrapper may be about to start.
func dial(ctx context.Context, path string) (*Conn, error) {
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		client, err := sock.Dial(ctx, path)
		if err == nil {
			c := &Conn{client: client, Frames: make(chan protocol.Frame, 64), hung: make(chan struct{})}
			go c.read(context.WithoutCancel(ctx))
			return c, nil
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// nonsense is the type of what a line becomes that is no frame: an event without a number.
const nonsense = "nonsense"

func (c *Conn) read(ctx context.Context) {
	defer close(c.Frames)
	for {
		line, err := c.client.NextLine(ctx)
		if err != nil {
			return // a line that was cut off is none
		}
		f, err := protocol.DecodeEvent(line)
		if err != nil {
			f = &protocol.Unknown{Name: nonsense, Line: line}
		}
		select {
		case c.Frames <- f:
		case <-c.hung:
			return
		}
	}
}

// writeLimit is longer than any fault holds a wrapper.
const writeLimit = 30 * time.Second

// Send writes requests at once; an error means that the connection is of no use any more.
func (c *Conn) Send(requests ...protocol.Request) error {
	var lines bytes.Buffer
	for _, r := range requests {
		line, err := protocol.Encode(r)
		if err != nil {
			return err
		}
		lines.Write(line)
	}
	late := time.AfterFunc(writeLimit, c.Close)
	defer late.Stop()
	return c.client.SendLine(lines.Bytes())
}

// Close hangs up.
func (c *Conn) Close() {
	c.once.Do(func() {
		close(c.hung)
		c.client.Close() // nothing to flush
	})
}
