package pty

import (
	"errors"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"relay-pty/pty/term"
)

// master is our side of the PTY, with deadlines as a pollable file has them. The runtime's poller
// does not watch it: each piece of output would wake the poller's thread although the output loop
// is about to read the piece anyway, and that took a fifth of the throughput. A reader or writer
// that has to wait does so in poll(2). At any time one goroutine may read and one may write.
type master struct {
	f       *os.File // non-blocking, unknown to the runtime; Fd would make it blocking
	in, out bell

	flushMu sync.Mutex // held while a piece is read, so that what the kernel told with it is known to all who ask later
	flushed time.Time  // when input was last thrown away
}

func newMaster(ptmx *os.File) (*master, error) {
	f, err := plain(ptmx)
	if err != nil {
		return nil, err
	}
	m := &master{f: f}
	err = term.Control(f, func(fd int) error { return syscall.SetNonblock(fd, true) })
	if err == nil {
		err = m.in.init()
	}
	if err == nil {
		err = m.out.init()
	}
	if err != nil {
		m.Close() // nobody uses it
		return nil, err
	}
	return m, nil
}

// plain returns a duplicate of f for which the runtime uses no poller, and makes both blocking.
func plain(f *os.File) (*os.File, error) {
	fd, err := duplicate(f)
	if err != nil {
		return nil, err
	}
	if err := syscall.SetNonblock(fd, false); err != nil {
		unix.Close(fd) // nobody uses it
		return nil, err
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

func duplicate(f *os.File) (dup int, err error) {
	err = term.Control(f, func(fd int) (err error) {
		dup, err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
		return err
	})
	return dup, err
}

// Read reads what the agent wrote. Where there is nothing to read, it calls rest and then waits. It
// returns os.ErrDeadlineExceeded and os.ErrClosed as files do.
func (m *master) Read(p []byte, rest func()) (n int, err error) {
	for {
		if err := m.in.due(); err != nil {
			return 0, err
		}
		if n, err = m.take(p); !errors.Is(err, unix.EAGAIN) {
			return n, err
		}
		rest()
		if err := m.wait(&m.in, unix.POLLIN); err != nil {
			return 0, err
		}
	}
}

// take reads a piece of what is there: a byte that tells what happened to the tty, as packet mode
// has it, or zero and output.
func (m *master) take(p []byte) (n int, err error) {
	m.flushMu.Lock()
	defer m.flushMu.Unlock()
	n, err = m.f.Read(p)
	if n > 0 && p[0]&unix.TIOCPKT_FLUSHREAD != 0 {
		m.flushed = time.Now()
	}
	return n, err
}

// lastFlush is when the agent last threw away unread input, be it that the reader, which a blocked
// terminal may hold up, has not come to hear of it; then it is news. Source: ioctl_tty(2), TIOCPKT:
// POLLPRI says that there is something to tell besides output, as a flush or other modes; a read
// then gives the byte that tells it, alone.
func (m *master) lastFlush() (at time.Time, news bool) {
	m.flushMu.Lock()
	defer m.flushMu.Unlock()
	term.Control(m.f, func(fd int) error { // closed: no more comes
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLPRI}}
		if _, err := unix.Poll(fds, 0); err != nil || fds[0].Revents&unix.POLLPRI == 0 {
			return nil
		}
		var event [1]byte
		if n, err := unix.Read(fd, event[:]); err == nil && n == 1 && event[0]&unix.TIOCPKT_FLUSHREAD != 0 {
			m.flushed, news = time.Now(), true
		}
		return nil
	})
	return m.flushed, news
}

// Write types all of p, or says how much of it was taken.
func (m *master) Write(p []byte) (n int, err error) {
	for {
		if err := m.out.due(); err != nil {
			return n, err
		}
		took, err := m.f.Write(p[n:])
		n += took
		if !errors.Is(err, unix.EAGAIN) {
			return n, err
		}
		if err := m.wait(&m.out, unix.POLLOUT); err != nil {
			return n, err
		}
	}
}

// wait waits until the PTY has something, or the bell has.
func (m *master) wait(b *bell, events int16) error {
	timeout, err := b.sleep()
	if err != nil {
		return err
	}
	defer b.awake()
	return term.Control(m.f, func(fd int) error {
		return term.Control(b.ear, func(ear int) error {
			fds := []unix.PollFd{{Fd: int32(fd), Events: events}, {Fd: int32(ear), Events: unix.POLLIN}}
			if _, err := unix.Poll(fds, timeout); err != unix.EINTR {
				return err
			}
			return nil
		})
	})
}

// Close ends all use, at once. What waits then gets os.ErrClosed.
func (m *master) Close() {
	m.in.end()
	m.out.end()
	m.f.Close() // nobody uses it any more
}

// bell ends the waits of a reader or a writer: at a deadline, when that is changed, and for good.
type bell struct {
	ear, cord *os.File // a pipe, that holds a byte when the sleeper was woken

	mu       sync.Mutex // guards what follows
	deadline time.Time  // zero: none
	rung     bool       // the next wait ends at once
	asleep   bool       // someone waits, and was not woken yet
	over     bool
}

func (b *bell) init() (err error) {
	b.ear, b.cord, err = os.Pipe()
	return err
}

// set changes the deadline.
func (b *bell) set(t time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.deadline = t
	b.ringLocked()
}

// ring makes a reader that waits, or is about to, look again.
func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rung = !b.asleep
	b.ringLocked()
}

func (b *bell) ringLocked() {
	if b.asleep {
		b.asleep = false
		b.cord.Write([]byte{0}) // there is room: only a sleeper is woken, and he takes it
	}
}

// due is the error of a wait that begins now, if it is over already.
func (b *bell) due() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.dueLocked()
}

func (b *bell) dueLocked() error {
	switch {
	case b.over:
		return os.ErrClosed
	case !b.deadline.IsZero() && !time.Now().Before(b.deadline):
		return os.ErrDeadlineExceeded
	}
	return nil
}

// sleep begins a wait, and returns how many milliseconds it may take, -1 for any number.
func (b *bell) sleep() (millis int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.dueLocked(); err != nil {
		return 0, err
	}
	b.asleep = true
	switch {
	case b.rung:
		b.rung = false
		return 0, nil
	case b.deadline.IsZero():
		return -1, nil
	}
	return int(time.Until(b.deadline)/time.Millisecond) + 1, nil
}

// awake ends a wait.
func (b *bell) awake() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.asleep {
		b.ear.Read(make([]byte, 1)) // the byte that woke us; closed: then nobody sleeps any more
	}
	b.asleep = false
}

func (b *bell) end() {
	b.mu.Lock()
	b.over = true
	b.ringLocked()
	b.mu.Unlock()
	b.cord.Close() // nothing more is written to it
	b.ear.Close()  // it was only read; a sleeper holds it until the byte in it has woken him
}
