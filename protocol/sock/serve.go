package sock

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"relay-pty/protocol"
	"relay-pty/protocol/own"
)

// MaxConns is the most connections served at a time.
const MaxConns = 256

// Handler serves one connection: it receives from [Conn.Incoming] until that is closed
// and nothing is outstanding for the client any more, or until ctx ends, which it does
// with Serve's, when the client is gone, or when it read too slowly. What it has sent
// before it returns still goes out. It runs in a goroutine of its own.
type Handler func(ctx context.Context, c *Conn)

// Serve accepts connections and runs handle for each until ctx ends or accepting
// fails, and returns why, after every connection has ended. Clients of another uid,
// root's apart, get not_authorized; those over [MaxConns] get too_many_connections.
//
// When ctx ends, handlers have as long as they need, and their last frames a second.
func (l *Listener) Serve(ctx context.Context, handle Handler) error {
	stop := context.AfterFunc(ctx, l.end)
	defer stop()
	var conns sync.WaitGroup
	defer conns.Wait()
	slots := make(chan struct{}, MaxConns)
	return acceptLoop(ctx, l.accept, func(nc *net.UnixConn) {
		if !permitted(nc) {
			turnAway(nc, protocol.NotAuthorized, "this socket is for its owner and root")
			return
		}
		select {
		case slots <- struct{}{}:
		default:
			turnAway(nc, protocol.TooManyConnections, "all connections are taken")
			return
		}
		conns.Go(func() {
			defer func() { <-slots }()
			l.serveConn(ctx, nc, handle)
		})
	})
}

// acceptLoop hands each new connection to admit, which must not wait. When the system
// is short of something it pauses, ever longer, instead of asking again at once.
func acceptLoop(ctx context.Context, accept func() (*net.UnixConn, error), admit func(*net.UnixConn)) error {
	const shortest, longest = 5 * time.Millisecond, time.Second
	for pause := shortest; ; {
		nc, err := accept()
		switch {
		case err == nil:
			pause = shortest
			admit(nc)
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !passing(err):
			return err
		default:
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			pause = min(2*pause, longest)
		}
	}
}

func passing(err error) bool {
	for _, errno := range []error{unix.EMFILE, unix.ENFILE, unix.ENOBUFS, unix.ENOMEM, unix.ECONNABORTED} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

func permitted(nc *net.UnixConn) bool {
	peer := -1
	err := own.Control(nc, func(fd int) (err error) {
		peer, _, err = credentials(fd)
		return err
	})
	return err == nil && (peer == os.Geteuid() || peer == 0)
}

// turnAway tells a client why it is not served. It does not wait: the line fits the
// empty buffer of a new connection.
func turnAway(nc *net.UnixConn, code protocol.Code, why string) {
	defer nc.Close() // nothing to flush
	if frame, err := protocol.Encode(&protocol.Error{Code: code, Message: why}); err == nil {
		nc.Write(frame) // a courtesy
	}
}

func (l *Listener) serveConn(ctx context.Context, nc *net.UnixConn, handle Handler) {
	connCtx, end := context.WithCancelCause(ctx)
	c := &Conn{nc: nc, incoming: make(chan Incoming), end: end, wake: make(chan struct{}, 1), room: make(chan struct{}, 1), farewell: l.farewell}
	var reader, writer sync.WaitGroup
	writer.Go(c.write)
	reader.Go(func() {
		if c.read(connCtx, l.firstLine) {
			c.watch()
		}
	})
	handle(connCtx, c)
	end(nil)
	c.finish(time.Now().Add(l.drain))
	stop := context.AfterFunc(ctx, func() { nc.SetWriteDeadline(time.Now().Add(l.grace)) }) // fails only on a closed connection
	writer.Wait()
	stop()
	nc.Close() // everything that could be written is; this wakes the reader
	reader.Wait()
}
