package seat

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"sync"
	"time"
)

// Frame is one line from a wrapper.
type Frame struct {
	Type     string `json:"type"`
	ID       string `json:"id"`
	Req      string `json:"req"`
	Seq      int64  `json:"seq"`
	Status   string `json:"status"`
	Attempt  int    `json:"attempt"`
	Evidence string `json:"evidence"`
	Code     any    `json:"code"` // a word in an error, a number in exit
	Accept   bool   `json:"accept"`
	Message  string `json:"message"`
	Error    struct {
		Code string `json:"code"`
	} `json:"error"`
	Raw string `json:"-"` // of what is no inject_result
}

// Problem is the code of an error.
func (f Frame) Problem() string {
	s, _ := f.Code.(string) // exit has a number
	return s
}

// Conn is a connection to a wrapper. Frames must be read; it is closed at the end.
type Conn struct {
	nc     net.Conn
	Frames chan Frame
	hung   chan struct{}
	once   sync.Once
}

// dial connects, and tries again until ctx ends: the wrapper may be about to start.
func dial(ctx context.Context, path string) (*Conn, error) {
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	var d net.Dialer
	for {
		nc, err := d.DialContext(ctx, "unix", path)
		if err == nil {
			c := &Conn{nc: nc, Frames: make(chan Frame, 64), hung: make(chan struct{})}
			go c.read()
			return c, nil
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (c *Conn) read() {
	defer close(c.Frames)
	in := bufio.NewReaderSize(c.nc, 16<<10)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return // a line that was cut off is none
		}
		var f Frame
		if json.Unmarshal(line, &f) != nil {
			f = Frame{Type: "nonsense"}
		}
		if f.Type != "inject_result" {
			f.Raw = string(line)
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

// Write sends lines; an error means that the connection is of no use any more.
func (c *Conn) Write(lines []byte) error {
	c.nc.SetWriteDeadline(time.Now().Add(writeLimit)) // fails only on a closed one, as the write does
	_, err := c.nc.Write(lines)
	return err
}

// Close hangs up.
func (c *Conn) Close() {
	c.once.Do(func() {
		close(c.hung)
		c.nc.Close() // nothing to flush
	})
}

// Line is v as a line of JSON.
func Line(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("seat: " + err.Error()) // only what always can be encoded is
	}
	return append(b, '\n')
}
