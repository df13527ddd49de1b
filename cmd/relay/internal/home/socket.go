package home

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"

	"relay-pty/protocol/own"
	"relay-pty/protocol/sock"
)

// Socket is the router's socket while this process has it.
type Socket struct{ *sock.Listener }

// Take makes this process the one that may have the router's socket. One that a live router has is
// an *[own.HeldError].
func (h Home) Take() (*Socket, error) {
	// Somebody may have removed the lock of a router that lives, and older ones have none.
	if pid, lives := sock.Listening(h.Socket); lives {
		return nil, &own.HeldError{What: "socket " + h.Socket, Flag: runtimeDir, PID: pid, Name: own.Router}
	}
	l, err := sock.Claim(h.Socket, own.Router, runtimeDir)
	if err != nil {
		return nil, err
	}
	return &Socket{l}, nil
}

// runtimeDir is what leads a router to another socket.
const runtimeDir = "XDG_RUNTIME_DIR"

// Addr is where the socket was.
func (s *Socket) Addr() net.Addr { return &net.UnixAddr{Name: s.Path(), Net: "unix"} }

// Close ends Accept; the socket's path stays ours.
func (s *Socket) Close() error {
	s.Deafen()
	return nil
}

// Keep makes the socket and its lock anew where they were removed, and the directory: a user's
// runtime directory goes at the last logout, and comes back at the next login. What cannot be made
// yet is an *AwayError; a router that has the socket by now is an *[own.HeldError].
func (s *Socket) Keep() (anew bool, err error) {
	path := s.Path()
	place := filepath.Dir(path)
	_, err = own.Dir(place, "agents")
	if err == nil {
		anew, err = s.Listener.Keep()
	}
	var held *own.HeldError
	if err != nil && !errors.As(err, &held) {
		err = &AwayError{path, err}
	}
	return anew, err
}

// AwayError is that the router's socket has no name for now, and why.
type AwayError struct {
	Path string
	err  error
}

func (e *AwayError) Error() string {
	return fmt.Sprintf("socket %s is gone, and is made anew as soon as that is possible: %v", e.Path, e.err)
}

func (e *AwayError) Unwrap() error { return e.err }

// Release lets another router have the socket.
func (s *Socket) Release() { s.Listener.Close() }
