package disk

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Verdict is what becomes of a call; the zero one lets it pass.
type Verdict struct {
	Errno syscall.Errno // it fails
	Kill  bool          // the process is killed before it
	Short int           // of a Write: only so many bytes are written, then Errno or Kill, if any
}

// Watch looks on at processes. Its methods may be called from any goroutine.
type Watch struct {
	dir    string
	tells  bool
	fd     int
	decide func(n int, c Call) Verdict
	stop   *os.File
	done   chan struct{}

	mu    sync.Mutex
	calls []Call
	n     int
}

// Start calls run on a thread whose children are watched until Close, and theirs. For each
// call that changes something under dir, an absolute path, decide is asked, with how many
// there were, this one included; nil lets all pass. It is called by one goroutine, and the
// process waits meanwhile. With tells, what is written to sockets is recorded, too.
func Start(dir string, tells bool, decide func(n int, c Call) Verdict, run func() error) (*Watch, error) {
	p, err := program(calls(tells))
	if err != nil {
		return nil, err
	}
	if decide == nil {
		decide = func(int, Call) Verdict { return Verdict{} }
	}
	w := &Watch{dir: dir, tells: tells, decide: decide, done: make(chan struct{})}
	ends, stop, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	w.stop = stop
	began := make(chan error, 1)
	onThread(func() {
		fd, err := install(p)
		if err != nil {
			ends.Close() // nothing reads it
			close(w.done)
			began <- err
			return
		}
		w.fd = fd
		go w.serve(ends)
		began <- run()
	})
	select {
	case err = <-began:
	case <-time.After(patience):
		err = fmt.Errorf("wait for the processes that are to be watched to begin: not within %v", patience)
	}
	if err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// patience is how long a beginning and an end of a watch may take; only a failure takes that long.
const patience = time.Minute

// onThread calls f on a thread of its own, which then ends.
func onThread(f func()) {
	go func() {
		runtime.LockOSThread() // for good
		if unix.Gettid() != os.Getpid() {
			f()
			return
		}
		// The first thread never ends: f gets another one while this is taken.
		done := make(chan struct{})
		onThread(func() { defer close(done); f() })
		<-done
		runtime.UnlockOSThread()
	}()
}

// Close ends the watch; processes that still run find their calls failing. It panics when the
// decision about a call does not return: the test would leave a process that waits for ever.
func (w *Watch) Close() {
	w.stop.Close() // nothing is written to it
	select {
	case <-w.done:
	case <-time.After(patience):
		panic(fmt.Sprintf("disk: wait for the end of the watch: not within %v", patience))
	}
}

// Gone is closed when no watched process is left. Before Linux 6.11 that may be only when
// all have been waited for.
func (w *Watch) Gone() <-chan struct{} { return w.done }

// Calls returns what was done so far, in order.
func (w *Watch) Calls() []Call {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.calls)
}

// N is how many calls decide was asked about.
func (w *Watch) N() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.n
}

// What the kernel says, and is answered.
type (
	notice struct {
		id         uint64
		pid, flags uint32
		call       int32
		arch       uint32
		ip         uint64
		args       [6]uint64
	}
	reply struct {
		id    uint64
		val   int64
		errno int32
		flags uint32
	}
)

const (
	receive  = 0xc0502100
	send     = 0xc0182101
	goesOn   = 1 // the flag with which the call is done
	pollHung = unix.POLLHUP | unix.POLLERR
)

func (w *Watch) serve(ends *os.File) {
	defer close(w.done)
	defer unix.Close(w.fd)
	defer ends.Close()
	polls := []unix.PollFd{{Fd: int32(w.fd), Events: unix.POLLIN}, {Fd: int32(ends.Fd())}}
	for {
		if _, err := unix.Poll(polls, -1); err != nil && err != unix.EINTR {
			return
		}
		switch {
		case polls[1].Revents != 0:
			return
		case polls[0].Revents&unix.POLLIN != 0:
			var n notice
			if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(w.fd), receive, uintptr(unsafe.Pointer(&n))); errno != 0 {
				continue // the process is gone
			}
			r := w.answer(&n)
			r.id = n.id
			unix.Syscall(unix.SYS_IOCTL, uintptr(w.fd), send, uintptr(unsafe.Pointer(&r))) // unless the process is gone
		case polls[0].Revents&pollHung != 0:
			return // all are gone
		}
	}
}

// answer decides about one call.
func (w *Watch) answer(n *notice) reply {
	pass := reply{flags: goesOn}
	c, ours := w.call(n)
	if !ours {
		return pass
	}
	if c.What == Tell {
		w.note(c)
		return pass
	}
	w.mu.Lock()
	w.n++
	at := w.n
	w.mu.Unlock()
	v := w.decide(at, c)
	r := pass
	switch {
	case v.Short > 0:
		r = w.short(n, &c, v)
	case v.Kill:
	case v.Errno != 0:
		c.Err, r = v.Errno, reply{errno: -int32(v.Errno)}
	case c.What != Create:
		var done bool
		if r, done = instead(n, &c); !done {
			return r
		}
	}
	if v.Kill {
		unix.Kill(c.PID, unix.SIGKILL)          // unless it is gone
		r = reply{errno: -int32(syscall.EINTR)} // if it was let go on, the call might be done before it dies
		if v.Short == 0 {
			return r
		}
	}
	w.note(c)
	return r
}

func (w *Watch) note(c Call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, c)
}

// instead does a call in the place of the process, so that it was done when it is noted: a
// process that is let go on may be killed from outside before it does it. Only a file is made
// by the process itself, which gets its descriptor; one without any bytes is no loss.
// Nothing was done for a process that is gone.
func instead(n *notice, c *Call) (r reply, done bool) {
	err := perform(n, *c)
	if err == nil {
		return reply{val: int64(len(c.Data))}, true
	}
	errno, _ := err.(syscall.Errno) // anything else is our own fault
	c.Err = max(errno, 1)
	return reply{errno: -int32(c.Err)}, !errors.Is(err, errGone)
}

func perform(n *notice, c Call) error {
	switch c.What {
	case Write:
		return onFD(n, func(fd int) error { return write(n, fd, c) })
	case Truncate:
		return onFD(n, func(fd int) error { return unix.Ftruncate(fd, c.Size) })
	case Sync:
		return onFD(n, unix.Fsync)
	case Rename:
		return unix.Rename(c.Path, c.To)
	case Link:
		return unix.Link(c.Path, c.To)
	case Mkdir:
		return unix.Mkdir(c.Path, uint32(n.args[2]))
	case Remove:
		return unix.Unlinkat(unix.AT_FDCWD, c.Path, int(n.args[2]))
	}
	return syscall.ENOSYS
}

func write(n *notice, fd int, c Call) error {
	got, err := 0, error(nil)
	if n.call == unix.SYS_WRITE { // which moves on
		got, err = unix.Write(fd, c.Data)
	} else {
		got, err = unix.Pwrite(fd, c.Data, c.Offset)
	}
	if err == nil && got < len(c.Data) {
		err = syscall.ENOSPC // the rest of what was noted is missing
	}
	return err
}

// short does the beginning of a write.
func (w *Watch) short(n *notice, c *Call, v Verdict) reply {
	c.Data = c.Data[:min(v.Short, len(c.Data))]
	err := onFD(n, func(fd int) error { return write(n, fd, *c) })
	if err != nil || v.Errno != 0 {
		return reply{errno: -int32(max(v.Errno, 1))}
	}
	return reply{val: int64(len(c.Data))}
}

// errGone is that a process was killed while it waited for its call, which was not done.
var errGone = errors.New("the process is gone")

// onFD calls f with the descriptor that is the call's first argument.
func onFD(n *notice, f func(fd int) error) error {
	// With a copy in a child that is about to start, the file would stay locked when all who
	// have locked it are gone.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	p, err := unix.PidfdOpen(leader(n.pid), 0)
	if err != nil {
		return errGone
	}
	defer unix.Close(p)
	fd, err := unix.PidfdGetfd(p, int(n.args[0]), 0)
	if err != nil {
		return errGone
	}
	defer unix.Close(fd)
	return f(fd)
}

// leader is the process of a thread.
func leader(tid uint32) int {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", tid)) // gone: what is done next fails, too
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, "Tgid:"); ok {
			pid, _ := strconv.Atoi(strings.TrimSpace(v)) // always a number
			return pid
		}
	}
	return 0
}

// call is what a system call does, and whether it is any of our business.
func (w *Watch) call(n *notice) (c Call, ours bool) {
	switch n.call {
	case unix.SYS_PWRITE64, unix.SYS_FTRUNCATE, unix.SYS_FDATASYNC, unix.SYS_FSYNC, unix.SYS_WRITE, unix.SYS_SENDTO, unix.SYS_SENDMSG, unix.SYS_WRITEV:
		c, ours = w.onFile(n)
	default:
		c, ours = w.onName(n)
	}
	if ours {
		c.PID = leader(n.pid)
	}
	return c, ours && c.PID != 0
}

func (w *Watch) under(path string) bool { return path == w.dir || strings.HasPrefix(path, w.dir+"/") }

func (w *Watch) onFile(n *notice) (c Call, ours bool) {
	fd := fmt.Sprintf("/proc/%d/fd/%d", n.pid, n.args[0])
	path, err := os.Readlink(fd)
	if err != nil {
		return c, false
	}
	if strings.HasPrefix(path, "socket:") {
		if n.call == unix.SYS_SENDMSG || n.call == unix.SYS_WRITEV || !w.tells {
			return c, false
		}
		return Call{What: Tell, Conn: path, Data: memory(n, 1, n.args[2])}, true
	}
	if !w.under(path) {
		return c, false
	}
	var st unix.Stat_t
	if err := unix.Stat(fd, &st); err != nil {
		return c, false
	}
	c = Call{Path: strings.TrimSuffix(path, " (deleted)"), File: st.Ino}
	switch n.call {
	case unix.SYS_PWRITE64:
		c.What, c.Offset, c.Data = Write, int64(n.args[3]), memory(n, 1, n.args[2])
	case unix.SYS_WRITE:
		c.What, c.Offset, c.Data = Write, position(n), memory(n, 1, n.args[2])
	case unix.SYS_FTRUNCATE:
		c.What, c.Size = Truncate, int64(n.args[1])
	default:
		c.What = Sync
	}
	return c, true
}

// position is where a write without a place goes.
func position(n *notice) (at int64) {
	onFD(n, func(fd int) (err error) { at, err = unix.Seek(fd, 0, 1); return err }) // gone: then it is not done
	return at
}

func (w *Watch) onName(n *notice) (c Call, ours bool) {
	exists := func(path string) bool { _, err := os.Lstat(path); return err == nil }
	path := func(arg int) string {
		b := memory(n, arg, unix.PathMax)
		return string(b[:max(0, bytes.IndexByte(b, 0))])
	}
	switch n.call {
	case unix.SYS_OPENAT:
		c = Call{What: Create, Path: path(1)}
		return c, w.under(c.Path) && !exists(c.Path)
	case unix.SYS_MKDIRAT:
		c = Call{What: Mkdir, Path: path(1)}
		return c, w.under(c.Path) && !exists(c.Path)
	case unix.SYS_UNLINKAT:
		c = Call{What: Remove, Path: path(1)}
	case unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2:
		c = Call{What: Rename, Path: path(1), To: path(3)}
	case unix.SYS_LINKAT:
		c = Call{What: Link, Path: path(1), To: path(3)}
	}
	return c, w.under(c.Path) && exists(c.Path)
}

// memory is what the process has where an argument points, up to size bytes.
func memory(n *notice, arg int, size uint64) []byte {
	b := make([]byte, size)
	f, err := os.Open(fmt.Sprintf("/proc/%d/mem", n.pid))
	if err != nil {
		return nil
	}
	defer f.Close() // only read
	got, err := f.ReadAt(b, int64(n.args[arg]))
	if got == 0 && err != nil && !errors.Is(err, unix.EIO) {
		return nil
	}
	return b[:got]
}
