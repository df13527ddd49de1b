package sock

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"relay-pty/protocol/own"
)

// MaxPath is the longest socket path in bytes: sun_path less its NUL on Linux.
const MaxPath = 107

// Listener owns a socket path from Listen to Close.
type Listener struct {
	path  string
	lock  *own.Lock // of the path
	ln    *net.UnixListener
	inode os.FileInfo
	close sync.Once

	firstLine time.Duration // how long a new connection may take for its first line
	grace     time.Duration // how long frames may still go out once Serve ends
	drain     time.Duration // how long they may when one connection ends
	farewell  time.Duration // how long the last line to a slow reader may take
}

// Listen takes the socket path for the agent called name: it locks PATH.lock for as
// long as the process lives, reclaims a socket that a dead owner left, and listens
// with mode 0600 from the first instant. The name is shown to whom we keep out.
//
// Errors: *[own.HeldError] when a live process has the path, *[own.PathError] for a path that
// cannot be used or something in its way, which is neither followed nor removed. Both
// have a Hint.
func Listen(path, name string) (*Listener, error) {
	if err := checkPath(path); err != nil {
		return nil, err
	}
	lock, err := own.Hold(path+".lock", "socket "+path, name)
	if err != nil {
		return nil, err
	}
	l := &Listener{path: path, lock: lock,
		firstLine: 30 * time.Second, grace: time.Second, drain: 30 * time.Second, farewell: time.Second}
	if err := l.listen(); err != nil {
		lock.Release()
		return nil, err
	}
	return l, nil
}

func checkPath(path string) error {
	switch {
	case len(path) > MaxPath:
		return &own.PathError{Path: path, Problem: fmt.Sprintf("a socket path may have at most %d bytes, this one has %d", MaxPath, len(path)), Advice: "choose a shorter --socket"}
	case path == "" || strings.IndexByte(path, 0) >= 0:
		return &own.PathError{Path: path, Problem: "not a path", Advice: "choose another --socket"}
	case path[0] == '@':
		// net would take it for an abstract name, which has no owner and no mode.
		return &own.PathError{Path: path, Problem: "a socket path may not begin with @", Advice: "write ./" + path}
	}
	return nil
}

// listen binds under the lock. Fchmod gives the socket its mode before it has a name,
// and umask can only narrow it. Systems that refuse that (not Linux) leave a moment in
// which umask alone keeps others out.
func (l *Listener) listen() error {
	if err := reclaim(l.path); err != nil {
		return err
	}
	f, late, err := bind(l.path)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	defer f.Close() // a duplicate of it listens
	ln, err := net.FileListener(f)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	l.ln = ln.(*net.UnixListener)
	l.ln.SetUnlinkOnClose(false) // it would remove whatever has our name by then
	if late != nil {
		err = os.Chmod(l.path, 0o600)
	}
	if err == nil {
		l.inode, err = os.Lstat(l.path)
	}
	if err != nil {
		l.ln.Close() // already failing
		return fmt.Errorf("listen: %w", err)
	}
	return nil
}

// bind makes the listening socket by hand: the net package's own way in, made for all
// networks, would link its name resolver, a twentieth of the wrapper. late is why
// the socket could not be given its mode before its name.
func bind(path string) (f *os.File, late, err error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socket", err)
	}
	f = os.NewFile(uintptr(fd), path)
	unix.CloseOnExec(fd)
	late = unix.Fchmod(fd, 0o600)
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: path}); err != nil {
		f.Close() // already failing
		return nil, nil, os.NewSyscallError("bind", err)
	}
	if err := unix.Listen(fd, backlog); err != nil {
		f.Close() // already failing
		return nil, nil, os.NewSyscallError("listen", err)
	}
	return f, late, nil
}

// backlog is how many connections may wait to be accepted; the system may allow fewer.
const backlog = 4096

// reclaim makes room for our socket: it removes a dead one of ours and nothing else.
// We hold the lock, but someone may have removed the lock file of a live owner, so
// only a socket on which nobody listens is dead.
func reclaim(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	const advice = "remove it, or choose another --socket"
	switch {
	case own.UID(info) != os.Geteuid():
		return &own.PathError{Path: path, Problem: fmt.Sprintf("there is %s of uid %d in the way", own.Kind(info.Mode()), own.UID(info)), Advice: advice}
	case info.Mode()&fs.ModeSocket == 0:
		return &own.PathError{Path: path, Problem: "there is " + own.Kind(info.Mode()) + " in the way", Advice: advice}
	}
	if pid, alive := Listening(path); alive {
		return &own.HeldError{What: "socket " + path, PID: pid}
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reclaim: %w", err)
	}
	return nil
}

// Listening says whether a process listens on the socket at path, and which: 0 where that is
// not known. It connects for a moment, and so disturbs nobody.
func Listening(path string) (pid int, alive bool) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return 0, true // we cannot tell: leave it alone
	}
	defer unix.Close(fd)
	unix.CloseOnExec(fd)
	if err := unix.SetNonblock(fd, true); err != nil {
		return 0, true
	}
	switch err := unix.Connect(fd, &unix.SockaddrUnix{Name: path}); err {
	case nil:
		_, pid, _ := credentials(fd) // without them the pid is unknown
		return pid, true
	case unix.ECONNREFUSED, unix.ENOENT:
		return 0, false
	default: // EAGAIN: alive, with a full backlog
		return 0, true
	}
}

// Path is the socket's path.
func (l *Listener) Path() string { return l.path }

// Close stops listening and gives the path up: it removes the socket if it is still
// ours, then the lock file. Serve must have returned.
func (l *Listener) Close() error {
	var err error
	l.close.Do(func() {
		if now, serr := os.Lstat(l.path); serr == nil && os.SameFile(now, l.inode) {
			err = os.Remove(l.path)
		}
		err = errors.Join(err, l.ln.Close())
		l.lock.Release()
	})
	return err
}
