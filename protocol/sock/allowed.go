package sock

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Allowed is nil where this process may connect to sockets, and else says that it may not: agents
// run their commands in sandboxes in which connect(2) fails with EPERM.
func Allowed() error {
	const nowhere = "/dev/null/socket"
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fd)
		err = unix.Connect(fd, &unix.SockaddrUnix{Name: nowhere})
		unix.Close(fd) // it is connected to nothing
	}
	return sandboxed("", err)
}

// sandboxed is what EPERM means.
func sandboxed(path string, err error) error {
	if !errors.Is(err, unix.EPERM) {
		return nil
	}
	return &SandboxError{path}
}

// SandboxError is that this process may not connect to sockets.
type SandboxError struct{ Path string }

func (e *SandboxError) Error() string {
	const what = "this process may not open sockets (a sandbox)"
	if e.Path == "" {
		return what
	}
	return e.Path + ": " + what
}

// Hint says what to do about it.
func (e *SandboxError) Hint() string {
	return "inside an agent use relay's tools, send_message and the others; they work outside of the sandbox"
}
