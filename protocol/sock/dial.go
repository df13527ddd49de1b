package sock

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"relay-pty/protocol"
	"relay-pty/protocol/own"
)

// maxFrame bounds a line that a client reads, in bytes. Ours are far smaller.
const maxFrame = 16 << 20

// Client is the other end of a connection. One goroutine at a time may read from it, and one
// write to it.
type Client struct {
	nc   *net.UnixConn
	r    *bufio.Reader
	line []byte // the start of a line whose rest did not come in time
	asks int
}

// Dial connects to the socket of a wrapper, which must belong to us or to root: in a
// directory that all may write to, anybody can put a socket of that name.
func Dial(ctx context.Context, path string) (*Client, error) {
	nc, err := Connect(ctx, path)
	if err != nil {
		return nil, err
	}
	return &Client{nc: nc, r: bufio.NewReader(nc)}, nil
}

// Connect is the connection alone.
func Connect(ctx context.Context, path string) (*net.UnixConn, error) {
	name, done, err := reach(path)
	if err != nil {
		return nil, err
	}
	defer done()
	var d net.Dialer
	made, err := d.DialContext(ctx, "unix", name)
	if forbids(name, err) {
		return nil, &SandboxError{path}
	}
	if err != nil {
		return nil, err
	}
	nc := made.(*net.UnixConn)
	if !permitted(nc) {
		nc.Close() // nothing sent
		return nil, &own.PathError{Path: path, Problem: "its owner is neither we nor root", Advice: "find out who put it there", Foreign: true}
	}
	return nc, nil
}

// Ask sends a request and returns its answer, to an inject its first result. A refusal is a
// *[protocol.Error]. What else comes before the answer is passed over: whoever wants that, too,
// sends and reads by Send and Next, or follows by a connection of its own. When ctx ends first
// the request may count all the same; the client stays usable, unless the other side has read
// only a part of it.
func (c *Client) Ask(ctx context.Context, r protocol.Request) (protocol.Frame, error) {
	c.asks++
	tag := "ask-" + strconv.Itoa(c.asks)
	r.SetTag(tag)
	line, err := protocol.Encode(r)
	if err != nil {
		return nil, err
	}
	sent := 0
	err = until(ctx, c.nc.SetWriteDeadline, func() (err error) { sent, err = c.nc.Write(line); return err })
	if err != nil && sent > 0 {
		c.Close() // the rest of the request cannot follow
	}
	if err != nil {
		return nil, fmt.Errorf("send %s: %w", r.Type(), err)
	}
	var why error // what was said last and answers no request
	for {
		f, err := c.Next(ctx)
		if err != nil {
			return nil, fmt.Errorf("answer to %s: %w", r.Type(), cmp.Or(why, err))
		}
		a, ok := f.(protocol.Answer)
		refused, _ := f.(*protocol.Error)
		switch {
		case !ok:
		case refused != nil && a.Tag() == "":
			why = refused
		case refused != nil && a.Tag() == tag:
			return nil, refused
		case a.Tag() == tag:
			return a, nil
		}
	}
}

// Send writes one frame; it waits as long as the other side does not read.
func (c *Client) Send(f protocol.Frame) error {
	line, err := protocol.Encode(f)
	if err != nil {
		return err
	}
	return c.SendLine(line)
}

// SendLine writes bytes as they are.
func (c *Client) SendLine(line []byte) error {
	_, err := c.nc.Write(line)
	return err
}

// Next returns the next frame, as [protocol.DecodeEvent] does; io.EOF when there will be none,
// and the cause of ctx when it ends first.
func (c *Client) Next(ctx context.Context) (protocol.Frame, error) {
	line, err := c.NextLine(ctx)
	if err != nil {
		return nil, err
	}
	return protocol.DecodeEvent(line)
}

// NextLine is Next for the line itself, without its newline.
func (c *Client) NextLine(ctx context.Context) ([]byte, error) {
	var line []byte
	err := until(ctx, c.nc.SetReadDeadline, func() (err error) { line, err = c.readLine(); return err })
	return line, err
}

// until does what waits for the other side, at most until ctx ends, by a deadline that limit sets.
func until(ctx context.Context, limit func(time.Time) error, do func() error) error {
	over := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		limit(time.Unix(1, 0)) // fails only on a closed connection
		close(over)
	})
	err := do()
	if !stop() {
		<-over
		limit(time.Time{}) // for the next call
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = context.Cause(ctx)
		}
	}
	return err
}

func (c *Client) readLine() ([]byte, error) {
	for {
		part, err := c.r.ReadSlice('\n')
		c.line = append(c.line, part...)
		switch {
		case err == nil:
			line := bytes.TrimSuffix(c.line, []byte{'\n'})
			c.line = nil
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err // of a line without its end nothing is known
		case len(c.line) > maxFrame:
			return nil, fmt.Errorf("read frame: over %d bytes", maxFrame)
		}
	}
}

// CloseWrite says that nothing more will be sent; answers still come.
func (c *Client) CloseWrite() error { return c.nc.CloseWrite() }

// Close ends the connection.
func (c *Client) Close() error { return c.nc.Close() }
