package sock

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"relay-pty/protocol"
	"relay-pty/protocol/process"
)

// Bounds of one connection.
const (
	maxQueued   = 1 << 20  // bytes of frames not yet written, counting perFrame for each
	perFrame    = 64       // bytes, for the bookkeeping of a frame
	keepBuffer  = 64 << 10 // a line buffer larger than this is let go after its line
	readerBytes = 4 << 10  // what is read at a time
)

// Why a connection's context ended.
var (
	ErrGone   = errors.New("client closed the connection")
	ErrLagged = errors.New("client read too slowly")
	ErrBroken = errors.New("client broke the protocol")
)

// Incoming is one line of a client: a request, or why it is none.
type Incoming struct {
	Request protocol.Request
	Error   *protocol.Error
}

// Conn is one client's connection. Its methods may be called from any goroutine.
type Conn struct {
	nc       *net.UnixConn
	incoming chan Incoming
	end      context.CancelCauseFunc
	wake     chan struct{}
	room     chan struct{}
	farewell time.Duration // how long the last line to a slow reader may take

	mu       sync.Mutex
	queue    []outgoing
	bytes    int // of the queue and of what is being written
	dropped  int
	finished bool // nothing more is accepted; what is queued goes out
	broken   bool // nothing more goes out
}

type outgoing struct {
	frame []byte
	seq   int64 // of an event, else 0
}

// Descent is the process that connected, and those that it descends from, as [Descent] tells.
func (c *Conn) Descent(end int) []process.Process { return Descent(c.nc, end) }

// Incoming receives the client's lines in their order, and is closed when the client
// will send no more, which is also how it half-closes. Each line is to be answered, in
// order, before the next one is received; an Error by [Conn.Refuse].
func (c *Conn) Incoming() <-chan Incoming { return c.incoming }

// Send queues a frame, with its newline, and never waits. It is false when the frame
// will not be written: the client is gone, or reads so slowly that 1 MiB is queued for
// it, which ends the connection with a lagged line.
func (c *Conn) Send(frame []byte) bool { return c.push(outgoing{frame: frame}) }

// SendEvent is Send for an event with its seq, which a lagged line repeats.
func (c *Conn) SendEvent(seq int64, frame []byte) bool { return c.push(outgoing{frame, seq}) }

// Pending is how many bytes are queued and not yet written. Whoever has much to send
// stops well below 1 MiB and goes on when [Conn.Room] receives.
func (c *Conn) Pending() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}

// Room receives when everything queued has been written. It means "look again".
func (c *Conn) Room() <-chan struct{} { return c.room }

// Lag ends the connection with a lagged line, as an overflow of Send does: for a
// handler whose source of events has moved on without this client.
func (c *Conn) Lag() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.finished && !c.broken {
		c.lagLocked()
	}
}

// lagLocked lets the frame that is being written end, and after it only the lagged line.
func (c *Conn) lagLocked() {
	c.dropped = len(c.queue) + 1
	c.queue, c.finished = nil, true
	c.nc.SetWriteDeadline(time.Now().Add(c.farewell)) // fails only on a closed connection
	c.end(ErrLagged)
	notify(c.wake)
}

// Answer encodes and sends f.
func (c *Conn) Answer(f protocol.Frame) bool {
	frame, err := protocol.Encode(f)
	return err == nil && c.Send(frame)
}

// Refuse answers with an error. After line_too_large the connection ends, as nobody
// knows where the next line begins.
func (c *Conn) Refuse(e *protocol.Error) bool {
	sent := c.Answer(e)
	if e.Code == protocol.LineTooLarge {
		c.end(ErrBroken)
	}
	return sent
}

func (c *Conn) push(o outgoing) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	size := len(o.frame) + perFrame
	switch {
	case c.broken || c.finished:
		if c.dropped > 0 {
			c.dropped++
		}
		return false
	case c.bytes > 0 && c.bytes+size > maxQueued:
		c.lagLocked()
		return false
	}
	c.queue = append(c.queue, o)
	c.bytes += size
	notify(c.wake)
	return true
}

// finish lets what is queued go out until the deadline, and nothing more.
func (c *Conn) finish(deadline time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dropped == 0 { // else a shorter one is set
		c.nc.SetWriteDeadline(deadline) // fails only on a closed connection
	}
	c.finished = true
	notify(c.wake)
}

func notify(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default: // it has not looked yet
	}
}

// write is the writer's loop. It ends when the connection is finished and everything
// queued is written, or writing fails.
func (c *Conn) write() {
	var seq int64
	for {
		next, finished := c.next()
		switch {
		case next.frame != nil:
			if _, err := c.nc.Write(next.frame); err != nil {
				c.fail()
				return
			}
			seq = max(seq, next.seq)
			c.written(len(next.frame) + perFrame)
		case finished:
			c.sayLagged(seq)
			return
		default:
			<-c.wake
		}
	}
}

// next takes the oldest frame off the queue; without one it reports whether none will follow.
func (c *Conn) next() (o outgoing, finished bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) == 0 {
		c.queue = nil
		notify(c.room)
		return outgoing{}, c.finished
	}
	o, c.queue[0] = c.queue[0], outgoing{} // written frames are let go
	c.queue = c.queue[1:]
	return o, false
}

func (c *Conn) written(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bytes -= n
}

// fail makes the connection a sink: the client may be gone and have left requests that
// still count, so reading goes on.
func (c *Conn) fail() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.broken, c.queue, c.bytes = true, nil, 0
	notify(c.room) // there is room for ever
}

func (c *Conn) sayLagged(seq int64) {
	c.mu.Lock()
	dropped := c.dropped
	c.mu.Unlock()
	if dropped == 0 {
		return
	}
	l := &protocol.Lagged{Dropped: dropped}
	l.SetStamp(seq, time.Now().UnixMilli())
	if frame, err := protocol.Encode(l); err == nil {
		c.nc.Write(frame) // a courtesy to a client that may not read at all
	}
}

// read is the reader's loop: it hands on each line until the client will send no more
// or ctx ends. It is true at the end of the client's input.
func (c *Conn) read(ctx context.Context, firstLine time.Duration) (ended bool) {
	defer close(c.incoming)
	c.nc.SetReadDeadline(time.Now().Add(firstLine)) // fails only on a closed connection, and so does Read
	r := bufio.NewReaderSize(c.nc, readerBytes)
	var line []byte
	for first := true; ; first = false {
		var err error
		line, err = readLine(r, line[:0])
		if err == errLong {
			c.hand(ctx, Incoming{Error: protocol.TooLong()})
			return false
		}
		if first && err == nil {
			c.nc.SetReadDeadline(time.Time{}) // from here on a client may be silent for hours
		}
		if err == nil || err == io.EOF && len(line) > 0 {
			if req, refused := protocol.DecodeRequest(line); !c.hand(ctx, Incoming{req, refused}) {
				return false
			}
		}
		if err != nil {
			if err != io.EOF {
				c.end(ErrGone) // reset, first line overdue, or closed by us
			}
			return err == io.EOF
		}
		if cap(line) > keepBuffer {
			line = nil
		}
	}
}

func (c *Conn) hand(ctx context.Context, in Incoming) bool {
	select {
	case c.incoming <- in:
		return true
	case <-ctx.Done():
		return false
	}
}

// watch waits, after the client's last line, until it is gone altogether and not merely
// half-closed, or until we close the connection, and ends the connection: without it a
// subscriber that left would hold its place until the next event. It sleeps in the poller.
func (c *Conn) watch() {
	c.nc.SetReadDeadline(time.Time{}) // fails only on a closed connection, and so does Read
	if raw, err := c.nc.SyscallConn(); err == nil {
		raw.Read(func(fd uintptr) bool { return hungUp(int(fd)) }) // whatever its error, it is over
	}
	c.end(ErrGone)
}

var errLong = errors.New("line too long")

// readLine appends the next line to buf, without its newline. At the end of the input
// it returns what stands there with io.EOF. Never more than MaxLine bytes and one
// reader's buffer are held.
func readLine(r *bufio.Reader, buf []byte) ([]byte, error) {
	for {
		part, err := r.ReadSlice('\n')
		part, _ = bytes.CutSuffix(part, []byte{'\n'})
		if len(buf)+len(part) > protocol.MaxLine {
			return nil, errLong
		}
		buf = append(buf, part...)
		if err != bufio.ErrBufferFull {
			return buf, err
		}
	}
}
