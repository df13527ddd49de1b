package sock

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"

	"relay-pty/protocol"
)

// maxFrame bounds a line that a client reads, in bytes. Ours are far smaller.
const maxFrame = 16 << 20

// Client is the other end of a connection. Sending and receiving may go on in two
// goroutines.
type Client struct {
	nc *net.UnixConn
	r  *bufio.Reader
}

// Dial connects to the socket of a wrapper, which must belong to us or to root: in a
// directory that all may write to, anybody can put a socket of that name.
func Dial(ctx context.Context, path string) (*Client, error) {
	if err := checkPath(path); err != nil {
		return nil, err
	}
	var d net.Dialer
	nc, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	c := &Client{nc: nc.(*net.UnixConn), r: bufio.NewReader(nc)}
	if !permitted(c.nc) {
		nc.Close() // nothing sent
		return nil, &PathError{path, "its owner is neither we nor root", "find out who put it there"}
	}
	return c, nil
}

// Send writes one frame; it waits while the other side does not read.
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

// Next returns the next line without its newline; io.EOF when there will be none.
func (c *Client) Next() ([]byte, error) {
	var line []byte
	for {
		part, err := c.r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return bytes.TrimSuffix(line, []byte{'\n'}), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err // of a line without its end nothing is known
		case len(line) > maxFrame:
			return nil, fmt.Errorf("read frame: over %d bytes", maxFrame)
		}
	}
}

// CloseWrite says that nothing more will be sent; answers still come.
func (c *Client) CloseWrite() error { return c.nc.CloseWrite() }

// Close ends the connection.
func (c *Client) Close() error { return c.nc.Close() }
