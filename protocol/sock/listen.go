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
	"relay-pty/protocol/regular"
)

// MaxPath is the longest socket path in bytes: sun_path less its NUL on Linux.
const MaxPath = 107

// flags choose another socket: its usual path has the agent's name.
const flags = "name or --socket"

// Listener owns a socket path from Listen to Close.
type Listener struct {
	path   string
	aside  string    // another name beside it, under which a socket is made before it gets the path; "": none
	lock   *own.Lock // of the path
	closed sync.Once

	mu    sync.Mutex
	lns   []*net.UnixListener // of the socket that has the path, behind those that it replaced
	inode os.FileInfo         // of that socket
	ended bool                // nobody is served any more

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
// have a Hint. A path of more than [MaxPath] bytes is for Linux, and for those who reach it by
// [Connect].
func Listen(path, name string) (*Listener, error) {
	l, err := Claim(path, name, flags)
	if err != nil {
		return nil, err
	}
	l.aside = ""
	if err := l.Open(); err != nil {
		l.lock.Release()
		return nil, err
	}
	return l, nil
}

// Claim takes the path as Listen does, and makes no socket until Open is called. The flag chooses
// another path.
func Claim(path, name, flag string) (*Listener, error) {
	_, done, err := reach(path)
	if err != nil {
		return nil, err
	}
	done()
	lock, err := own.Hold(path+".lock", "socket "+path, flag, name)
	if err != nil {
		return nil, err
	}
	return &Listener{path: path, aside: path + ".new", lock: lock,
		firstLine: 30 * time.Second, grace: time.Second, drain: 30 * time.Second, farewell: time.Second}, nil
}

// Open makes the socket. One that was claimed is moved to its path as it listens already, so that
// whoever sees it come can connect; its directory must be ours alone.
func (l *Listener) Open() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	ln, inode, err := l.open()
	if err == nil {
		l.lns, l.inode = []*net.UnixListener{ln}, inode
	}
	return err
}

// Files are the socket and its lock.
func (l *Listener) Files() []string { return []string{l.path, l.path + ".lock"} }

// Keep sees to it that the socket and its lock have their names: what was removed is made anew.
// Connections go on. What another process has by now is a *[own.HeldError], and what is in the
// way a *[own.PathError].
func (l *Listener) Keep() (anew bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended || len(l.lns) == 0 {
		return false, nil
	}
	if anew, err = l.lock.Keep(); err != nil || l.named() {
		return anew, err
	}
	ln, inode, err := l.open()
	if err != nil {
		return anew, err
	}
	l.lns[len(l.lns)-1].SetDeadline(time.Now().Add(leftOver)) // fails only on a closed listener
	l.lns, l.inode = append(l.lns, ln), inode
	return true, nil
}

// named reports whether our socket has the path.
func (l *Listener) named() bool {
	now, err := os.Lstat(l.path)
	return err == nil && os.SameFile(now, l.inode)
}

// leftOver is how long those are still accepted who connected to a socket while it had its name.
const leftOver = 100 * time.Millisecond

// accept takes the next connection.
func (l *Listener) accept() (*net.UnixConn, error) {
	for {
		l.mu.Lock()
		ln := l.lns[0]
		l.mu.Unlock()
		nc, err := ln.AcceptUnix()
		if !errors.Is(err, os.ErrDeadlineExceeded) || !l.replaced() {
			return nc, err
		}
	}
}

// replaced goes on to the next socket, if there is one.
func (l *Listener) replaced() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lns) == 1 {
		return false
	}
	l.lns[0].Close() // nobody can find it any more
	l.lns = l.lns[1:]
	return true
}

// end ends accept.
func (l *Listener) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	for _, ln := range l.lns {
		ln.SetDeadline(time.Unix(1, 0)) // fails only on a closed listener
	}
}

// CheckPath says why a path can be none of a socket that every program may connect to: a
// *[own.PathError].
func CheckPath(path string) error {
	switch {
	case len(path) > MaxPath:
		return &own.PathError{Path: path, Problem: fmt.Sprintf("a socket path may have at most %d bytes, this one has %d", MaxPath, len(path)),
			Advice: "choose a shorter --socket, or set XDG_RUNTIME_DIR to a directory with a shorter name"}
	case path == "" || strings.IndexByte(path, 0) >= 0:
		return &own.PathError{Path: path, Problem: "not a path", Advice: "choose another --socket"}
	case path[0] == '@':
		// net would take it for an abstract name, which has no owner and no mode.
		return &own.PathError{Path: path, Problem: "a socket path may not begin with @", Advice: "write ./" + path}
	}
	return nil
}

// open binds under the lock. Fchmod gives the socket its mode before it has a name,
// and umask can only narrow it. Systems that refuse that (not Linux) leave a moment in
// which umask alone keeps others out.
func (l *Listener) open() (ln *net.UnixListener, inode os.FileInfo, err error) {
	if err := reclaim(l.path); err != nil {
		return nil, nil, err
	}
	path := l.path
	if l.aside != "" {
		path = l.aside
		if err := reclaim(path); err != nil { // an owner that was killed may have left it
			return nil, nil, err
		}
	}
	f, late, err := bind(path)
	if err != nil {
		return nil, nil, fmt.Errorf("listen: %w", err)
	}
	defer f.Close() // a duplicate of it listens
	made, err := net.FileListener(f)
	if err != nil {
		return nil, nil, fmt.Errorf("listen: %w", err)
	}
	ln = made.(*net.UnixListener)
	ln.SetUnlinkOnClose(false) // it would remove whatever has our name by then
	if late != nil {
		err = os.Chmod(path, 0o600)
	}
	if err == nil && path != l.path {
		err = os.Rename(path, l.path)
	}
	if err == nil {
		inode, err = os.Lstat(l.path)
	}
	if err != nil {
		ln.Close() // already failing
		return nil, nil, fmt.Errorf("listen: %w", err)
	}
	return ln, inode, nil
}

// bind makes the listening socket by hand: the net package's own way in, made for all
// networks, would link its name resolver, a twentieth of the wrapper. late is why
// the socket could not be given its mode before its name.
func bind(path string) (f *os.File, late, err error) {
	name, done, err := reach(path)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socket", err)
	}
	f = os.NewFile(uintptr(fd), path)
	unix.CloseOnExec(fd)
	late = unix.Fchmod(fd, 0o600)
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: name}); err != nil {
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
		problem := fmt.Sprintf("there is %s of uid %d in the way", regular.Kind(info.Mode()), own.UID(info))
		return &own.PathError{Path: path, Problem: problem, Advice: advice, Foreign: true}
	case info.Mode()&fs.ModeSocket == 0:
		return &own.PathError{Path: path, Problem: "there is " + regular.Kind(info.Mode()) + " in the way", Advice: advice}
	}
	if pid, alive := Listening(path); alive {
		return &own.HeldError{What: "socket " + path, Flag: flags, PID: pid}
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reclaim: %w", err)
	}
	return nil
}

// Listening reports whether a process listens on the socket at path, and which: 0 where that is
// not known. It connects for a moment, and so disturbs nobody.
func Listening(path string) (pid int, alive bool) {
	name, done, err := reach(path)
	if err != nil {
		return 0, false // nobody can listen at what is no path, or has no directory
	}
	defer done()
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return 0, true // we cannot tell: leave it alone
	}
	defer unix.Close(fd)
	unix.CloseOnExec(fd)
	if err := unix.SetNonblock(fd, true); err != nil {
		return 0, true
	}
	switch err := unix.Connect(fd, &unix.SockaddrUnix{Name: name}); err {
	case nil:
		_, pid, _ := credentials(fd) // without them the pid is unknown
		return pid, true
	case unix.ECONNREFUSED, unix.ENOENT, unix.ENOTDIR:
		return 0, false
	default: // EAGAIN: alive, with a full backlog
		return 0, true
	}
}

// Accept waits for the next connection of our uid, or of root.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		nc, err := l.accept()
		if err != nil {
			return nil, err
		}
		if permitted(nc) {
			return nc, nil
		}
		nc.Close() // the mode of the socket, or of its directory, was changed
	}
}

// Deafen ends Accept and Serve; the path stays ours.
func (l *Listener) Deafen() { l.end() }

// Path is the socket's path.
func (l *Listener) Path() string { return l.path }

// Close stops listening and gives the path up: it removes the socket if it is still
// ours, then the lock file. Serve must have returned. A socket that was claimed stays: its
// directory is ours alone, and it tells who comes that nobody listens.
func (l *Listener) Close() error {
	var err error
	l.closed.Do(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.ended = true
		if l.aside == "" && l.named() {
			err = os.Remove(l.path)
		}
		for _, ln := range l.lns {
			err = errors.Join(err, ln.Close())
		}
		l.lock.Release()
	})
	return err
}

// Peer is the process at the other end of a connection, as it was when it connected or began to
// listen; 0 where that is not known.
func Peer(c *net.UnixConn) (pid int) {
	own.Control(c, func(fd int) (err error) { // else it is not known
		_, pid, err = credentials(fd)
		return err
	})
	return pid
}
