package sock

import (
	"errors"
	"slices"

	"golang.org/x/sys/unix"
)

// Allowed is nil where this process may connect to sockets, and else a *[SandboxError]: agents run
// their commands in sandboxes that forbid it.
func Allowed() error {
	const file = "/dev/null" // which everybody may write
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fd)
		err = unix.Connect(fd, &unix.SockaddrUnix{Name: file + "/socket"})
		unix.Close(fd) // it is connected to nothing
	}
	if !forbids(file, err) {
		return nil
	}
	return &SandboxError{}
}

// forbids reports whether err, of a connection to the socket at path, is that of a sandbox: of
// seccomp (Codex, containers, systemd), or of rules beyond the file's own permissions (Landlock,
// AppArmor).
func forbids(path string, err error) bool {
	never := []error{unix.EPERM, unix.ENOSYS, unix.EAFNOSUPPORT} // what no socket answers
	return slices.ContainsFunc(never, func(e error) bool { return errors.Is(err, e) }) ||
		errors.Is(err, unix.EACCES) && unix.Access(path, unix.W_OK) == nil
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

// Code is its word for programs.
func (e *SandboxError) Code() string { return "sandbox" }

// Hint says what to do about it.
func (e *SandboxError) Hint() string {
	return "use relay outside of the sandbox; an agent in it calls its tool send_message, or writes ->relay:NAME <<<text>>> in its answer"
}
