package testrig

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"relay-pty/cmd/internal/await"
	"relay-pty/protocol/sock"
)

// Frame is one line received: the line, and what encoding/json makes of it.
type Frame struct {
	Raw    string
	Fields map[string]any
}

// Type is the frame's "type".
func (f Frame) Type() string { return f.Str("type") }

// Str is a string field, or "".
func (f Frame) Str(key string) string {
	s, _ := f.Fields[key].(string) // absent or not a string: ""
	return s
}

// Num is a number field, or -1.
func (f Frame) Num(key string) int64 {
	n, ok := f.Fields[key].(float64)
	if !ok {
		return -1
	}
	return int64(n)
}

// Client is a sock.Client that keeps every frame as it came, the line and its fields: tests
// judge the wire itself, not what package protocol makes of it.
type Client struct {
	conn *sock.Client
	reqs atomic.Int64 // made up so far

	state  await.State // guards what follows
	frames []Frame
	err    error
}

// Dial connects to path.
func Dial(ctx context.Context, path string) (*Client, error) {
	conn, err := sock.Dial(ctx, path)
	if err != nil {
		return nil, err
	}
	c := &Client{conn: conn}
	go c.read(context.WithoutCancel(ctx))
	return c, nil
}

func (c *Client) read(ctx context.Context) {
	for err := error(nil); err == nil; {
		var line []byte
		line, err = c.conn.NextLine(ctx)
		f := Frame{Raw: string(line) + "\n"}
		if err == nil {
			if e := json.Unmarshal(line, &f.Fields); e != nil {
				err = fmt.Errorf("line %q: %w", line, e)
			}
		}
		c.state.Change(func() {
			if c.err = err; err == nil {
				c.frames = append(c.frames, f)
			}
		})
	}
}

// Send writes v as one line.
func (c *Client) Send(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return c.SendRaw(string(b) + "\n")
}

// writeLimit is how long the other side may not read; only a failure takes that long.
const writeLimit = 10 * time.Second

// SendRaw writes s as it is. It hangs up when that takes too long.
func (c *Client) SendRaw(s string) error {
	late := time.AfterFunc(writeLimit, func() { c.conn.Close() })
	err := c.conn.SendLine([]byte(s))
	if !late.Stop() && err != nil {
		err = fmt.Errorf("write %.200q: not within %v", s, writeLimit)
	}
	return err
}

// Request sends fields with a "req" of its own and returns the first answer
// that carries it; an error line is an answer, too. Use it for requests that
// are valid JSON: the answer to others has no req.
func (c *Client) Request(ctx context.Context, fields map[string]any) (Frame, error) {
	req := "rig-" + strconv.FormatInt(c.reqs.Add(1), 10)
	fields = maps.Clone(fields)
	fields["req"] = req
	n := c.Len()
	if err := c.Send(fields); err != nil {
		return Frame{}, err
	}
	return c.wait(ctx, fmt.Sprintf("the answer to %v", fields), n, func(f Frame) bool { return f.Str("req") == req })
}

// Cancel asks to cancel a message and returns the answer, an inject_result or
// an error line.
func (c *Client) Cancel(ctx context.Context, id string) (Frame, error) {
	return c.Request(ctx, map[string]any{"type": "cancel", "id": id})
}

// Len is how many frames were received so far, for WaitFrom.
func (c *Client) Len() int {
	c.state.Lock()
	defer c.state.Unlock()
	return len(c.frames)
}

// Frames returns all received so far, oldest first.
func (c *Client) Frames() []Frame {
	c.state.Lock()
	defer c.state.Unlock()
	return slices.Clone(c.frames)
}

// Wait returns the first frame for which want is true, received before or
// from now on. It returns io.EOF when the other side closed without one.
func (c *Client) Wait(ctx context.Context, want func(Frame) bool) (Frame, error) {
	return c.WaitFrom(ctx, 0, want)
}

// WaitFrom is Wait that skips the first n frames.
func (c *Client) WaitFrom(ctx context.Context, n int, want func(Frame) bool) (Frame, error) {
	return c.wait(ctx, "a frame", n, want)
}

func (c *Client) wait(ctx context.Context, what string, n int, want func(Frame) bool) (found Frame, err error) {
	err = c.state.Until(ctx, func() (bool, error) {
		c.state.Lock()
		defer c.state.Unlock()
		for ; n < len(c.frames); n++ {
			if found = c.frames[n]; want(found) {
				return true, nil
			}
		}
		return false, c.err
	})
	if err != nil {
		return Frame{}, fmt.Errorf("wait for %s: %w", what, err)
	}
	return found, nil
}

// WaitStatus waits for the inject_result of id with status.
func (c *Client) WaitStatus(ctx context.Context, id, status string) (Frame, error) {
	return c.wait(ctx, status+" of "+id, 0, func(f Frame) bool {
		return f.Type() == "inject_result" && f.Str("id") == id && f.Str("status") == status
	})
}

// WaitEOF waits until the other side has closed.
func (c *Client) WaitEOF(ctx context.Context) error {
	_, err := c.wait(ctx, "the other side to close", 0, func(Frame) bool { return false })
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// CloseWrite says that no more will be sent; answers still come.
func (c *Client) CloseWrite() error { return c.conn.CloseWrite() }

// Close hangs up.
func (c *Client) Close() error { return c.conn.Close() }
