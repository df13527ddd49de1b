package home

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"

	"relay-pty/protocol/own"
	"relay-pty/protocol/sock"
)

// Socket is the router's socket while this process has it.
type Socket struct {
	net.Listener
	path string
	lock *own.Lock
	at   own.Place
}

// HeldError is that another router has the socket.
type HeldError struct {
	Path string
	PID  int // 0: not known
}

func (e *HeldError) Error() string {
	who := "the router that runs"
	if e.PID != 0 {
		who += fmt.Sprintf(" (pid %d)", e.PID)
	}
	return fmt.Sprintf("socket %s: held by %s", e.Path, who)
}

// Hint says what to do about it.
func (e *HeldError) Hint() string {
	return "use that one, or end it first; a second router needs an XDG_RUNTIME_DIR and a --store of its own"
}

// Take makes this process the one that may have the router's socket. One that a live router has is
// a
// *HeldError.
func (h Home) Take() (*Socket, error) {
	lock, err := own.Hold(h.Socket+".lock", "socket "+h.Socket, "XDG_RUNTIME_DIR", "relay")
	var held *own.HeldError
	if errors.As(err, &held) {
		return nil, &HeldError{h.Socket, held.PID}
	}
	if err != nil {
		return nil, err
	}
	// Somebody may have removed the lock of a router that lives, and older ones have none.
	if pid, lives := sock.Listening(h.Socket); lives {
		lock.Release()
		return nil, &HeldError{h.Socket, pid}
	}
	return &Socket{path: h.Socket, lock: lock}, nil
}

// Listen opens the socket in the place of one that a dead router left. It is 0600 before it has a
// name, and listens before it has its own: who sees it come can connect.
func (s *Socket) Listen(ctx context.Context) error {
	temp := fmt.Sprintf("%s.%d", s.path, os.Getpid())
	// A process that had our number may have left it.
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	private := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
		if e := c.Control(func(fd uintptr) { err = syscall.Fchmod(int(fd), 0o600) }); e != nil {
			return e
		}
		return err
	}}
	l, err := private.Listen(ctx, "unix", temp)
	if err != nil {
		return err
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := os.Rename(temp, s.path); err != nil {
		l.Close() // already failing
		return err
	}
	s.Listener = l
	s.at, err = own.At(s.path)
	return err
}

// Files are the socket and its lock.
func (s *Socket) Files() []string { return []string{s.path, s.lock.Path()} }

// Keep makes the lock anew where it was removed. A socket that was removed nobody finds again,
// which is an error.
func (s *Socket) Keep() (anew bool, err error) {
	if anew, err = s.lock.Keep(); err == nil {
		err = s.at.Gone()
	}
	return anew, err
}

// Release lets another router have the socket. What is left of it there tells who comes that nobody
// listens.
func (s *Socket) Release() {
	if s.Listener != nil {
		s.Close() // nothing is lost with it
	}
	s.lock.Release()
}
