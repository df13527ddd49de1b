package term

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// ErrHangup is the end of keys from a terminal that is gone.
var ErrHangup = errors.New("terminal hung up")

// Terminal is the human's terminal, or what stands in its place: standard input and output may be
// files, pipes or closed. Both stay in the blocking mode they came in, since that belongs to
// whoever shares them.
type Terminal struct {
	in, out  *os.File
	tty      *os.File // whose modes are ours to switch: in, else out, else nil
	fd       int      // its number
	keyboard bool     // it is in
	signals  chan os.Signal
	front    *Front        // nil: it is we whom a shell stops
	found    chan struct{} // has room for one: the front is stopped, and nobody told us
	handed   chan struct{} // has room for one: a signal that came while we were away
	over     chan struct{} // closed when nothing waits any more for us to be in front
	ends     sync.Once     // of over

	mu    sync.Mutex    // guards what follows
	saved unix.Termios  // as found
	own   bool          // found while no other job was in front of us: they are no shell's that edits its own line
	guard *Guard        // nil: none watches
	raw   bool          // raw is wanted; while we are suspended the modes are nevertheless the saved ones
	away  chan struct{} // closed when we go on; nil: the front is not stopped, as far as we know
}

// Open looks at in and out and remembers the terminal's modes. It fails only when a terminal does
// not tell its modes. Begun in the background of a shell's job control it first waits, stopped, to
// be brought to the front if keys come from the terminal: what is set until then is for the shell's
// own editing. From then on a closed pipe is a write error and no longer a signal that ends the
// process; ignoring the signal instead would be inherited by the agent. front, which may be nil,
// is what we are behind.
func Open(front *Front, in, out *os.File) (*Terminal, error) {
	t := &Terminal{
		in: in, out: out, front: front, signals: make(chan os.Signal, 2),
		found: make(chan struct{}, 1), handed: make(chan struct{}, 1), over: make(chan struct{}),
	}
	if front != nil {
		t.signals = front.signals
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	for _, f := range []*os.File{in, out} {
		_, err := readModes(f)
		switch {
		case err == nil:
			t.tty, t.keyboard = f, f == in
			Control(f, func(fd int) error { t.fd = fd; return nil }) // worked just now
			if t.keyboard {
				Control(f, drain) // where the kernel cannot let us wait, the modes are what there is
			}
			return t, t.findLocked() // nobody else has t yet
		case errors.Is(err, unix.EIO): // a terminal, but hung up
			return nil, fmt.Errorf("read terminal modes: %w", err)
		}
	}
	return t, nil
}

// findLocked remembers the terminal's modes.
func (t *Terminal) findLocked() error {
	t.own = !t.background()
	modes, err := readModes(t.tty)
	if err != nil {
		return fmt.Errorf("read terminal modes: %w", err)
	}
	t.saved = *modes
	return nil
}

func readModes(f *os.File) (modes *unix.Termios, err error) {
	err = Control(f, func(fd int) error {
		modes, err = GetModes(fd)
		return err
	})
	return modes, err
}

// IsDisplay reports whether output goes to a terminal.
func (t *Terminal) IsDisplay() bool {
	_, err := readModes(t.out)
	return err == nil
}

// Size is the size that the first terminal among output, input and /dev/tty tells, even if it tells
// 0×0, since the agent alone would see that too. Without any terminal it is 24 rows and 80 columns.
func (t *Terminal) Size() Winsize {
	for _, f := range []*os.File{t.out, t.in} {
		if w, err := GetSize(f); err == nil {
			return w
		}
	}
	if f, err := os.OpenFile("/dev/tty", os.O_RDWR|unix.O_NOCTTY, 0); err == nil {
		defer f.Close() // only asked
		if w, err := GetSize(f); err == nil {
			return w
		}
	}
	return Winsize{Rows: DefaultRows, Cols: DefaultCols}
}

// Lend gives m, the modes of a new tty for an agent, what the terminal's modes were when it was
// opened, unless another job had it then. Keys that do not come from a terminal are not echoed,
// since nothing would echo them to a bare agent.
func (t *Terminal) Lend(m *unix.Termios) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tty != nil && t.own {
		*m = t.saved
	}
	if !t.keyboard {
		m.Lflag &^= unix.ECHO
	}
}

// Raw switches the terminal to raw mode: every key is a byte for the agent, every byte of output is
// the agent's. Type-ahead is kept. Where keys do not come from a terminal only its output becomes
// raw, or line ends would be made into \r\n twice: then ^C still means us.
func (t *Terminal) Raw() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.raw = t.tty != nil
	if t.raw { // now, since a stop that nobody catches would leave the shell with a raw terminal
		signal.Notify(t.signals, syscall.SIGCONT)
		if t.front == nil {
			signal.Notify(t.signals, syscall.SIGTSTP)
		}
	}
	return t.enterLocked()
}

// resume makes the terminal raw again if that is still wanted.
func (t *Terminal) resume() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer t.guard.sleep(false)
	return t.enterLocked()
}

func (t *Terminal) enterLocked() error {
	switch {
	case !t.raw:
		return nil
	case t.front != nil && t.background(): // and not stopped: who has us run there will give us the terminal
		return nil
	case t.keyboard:
		return t.set(rawModes(t.saved))
	case t.background(): // as a program that only writes, we may go on there
		return nil
	case !t.own:
		if err := t.findLocked(); err != nil {
			return err
		}
	}
	modes := t.saved
	modes.Oflag &^= unix.OPOST
	return t.set(modes)
}

// Restore gives the terminal back the modes in which Open found it, bit by bit, after pending
// output. It may be called from anywhere and any number of times. In the background it leaves the
// terminal alone: it is someone else's, and setting modes would stop us.
func (t *Terminal) Restore() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.leaveLocked()
	t.raw = false
	return err
}

func (t *Terminal) leaveLocked() error {
	switch {
	case !t.raw || !t.own && !t.keyboard: // the latter: its modes were never touched
		return nil
	case t.front != nil && t.front.killed():
		return t.giveBack()
	case t.background():
		return nil
	}
	return t.set(t.saved)
}

// giveBack does what our guardian would: as it was killed, its shell goes on and may have the
// terminal, in settings of its own or in ours.
func (t *Terminal) giveBack() error {
	modes, err := readModes(t.tty)
	if err != nil || *modes != rawModes(t.saved) {
		return err
	}
	return unstopped(func() error { return t.set(t.saved) })
}

// OnPanic restores the terminal, if there is one, and lets the panic go on. Every goroutine that
// runs while the terminal is raw defers it, since a panic runs only its own goroutine's deferred
// calls. It must itself be the deferred call.
func (t *Terminal) OnPanic() {
	if v := recover(); v != nil {
		if t != nil {
			t.Restore() // the panic matters more
		}
		panic(v)
	}
}

// background reports whether another process group has the terminal.
func (t *Terminal) background() bool {
	fg, err := unix.IoctlGetInt(t.fd, unix.TIOCGPGRP)
	return err == nil && fg != unix.Getpgrp() // not our controlling terminal: no job control on it
}

func (t *Terminal) set(modes unix.Termios) error {
	err := Control(t.tty, func(fd int) error {
		for {
			if err := SetModes(fd, &modes); !errors.Is(err, unix.EINTR) {
				return err
			}
		}
	})
	if err != nil {
		return fmt.Errorf("set terminal modes: %w", err)
	}
	return nil
}

// rawModes are those of cfmakeraw(3).
func rawModes(m unix.Termios) unix.Termios {
	m.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
	m.Oflag &^= unix.OPOST
	m.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN
	m.Cflag &^= unix.CSIZE | unix.PARENB
	m.Cflag |= unix.CS8
	m.Cc[unix.VMIN], m.Cc[unix.VTIME] = 1, 0
	return m
}

// CopyKeys reads what the human types and passes it to send, which must not keep it. It returns nil
// at the end of an input that is no terminal (also a closed one), ErrHangup when the terminal is
// gone, send's error, or the context's cause; but ctx is only looked at between reads, since
// nothing ends a blocked read of a terminal.
func (t *Terminal) CopyKeys(ctx context.Context, send func(p []byte) error) error {
	buf := make([]byte, 4<<10)
	for {
		n, err := t.read(buf)
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		if n > 0 {
			if err := send(buf[:n]); err != nil {
				return err
			}
		}
		switch {
		case err == nil:
		case errors.Is(err, unix.EAGAIN): // someone who shares our input made it non-blocking
			err = waitFor(t.in, unix.POLLIN, -1)
		case t.keyboard && (errors.Is(err, io.EOF) || errors.Is(err, unix.EIO)):
			return ErrHangup
		case errors.Is(err, io.EOF), errors.Is(err, unix.EBADF), errors.Is(err, os.ErrClosed):
			return nil
		default:
			return fmt.Errorf("read keys: %w", err)
		}
		if err != nil {
			return fmt.Errorf("wait for keys: %w", err)
		}
	}
}

// read reads what the human types. Behind a front it waits without reading, and reads only in
// front: it never takes what is typed for the shell.
func (t *Terminal) read(buf []byte) (n int, err error) {
	for t.front != nil {
		if err := waitFor(t.in, unix.POLLIN, -1); err != nil {
			return 0, fmt.Errorf("wait for keys: %w", err)
		}
		if !t.inFront() {
			return 0, ErrLeft
		}
		t.mu.Lock()
		if t.away == nil && waitFor(t.in, unix.POLLIN, 0) == nil {
			defer t.mu.Unlock()
			return t.in.Read(buf)
		}
		t.mu.Unlock()
	}
	return t.in.Read(buf)
}

// Write writes the agent's output to the terminal, when we are in front. Unlike the file's own
// Write it goes on when someone who shares the output made it non-blocking. What comes after
// [Terminal.Leave] and not in front is thrown away.
func (t *Terminal) Write(p []byte) (n int, err error) {
	if !t.inFront() {
		return len(p), nil
	}
	for {
		m, err := t.out.Write(p[n:])
		n += m
		if !errors.Is(err, unix.EAGAIN) {
			return n, err
		}
		if err := waitFor(t.out, unix.POLLOUT, -1); err != nil {
			return n, err
		}
	}
}

// waitFor waits until a file can be read or written, for some milliseconds, or for ever: -1. After
// these it returns EAGAIN.
func waitFor(f *os.File, events int16, ms int) error {
	return Control(f, func(fd int) error {
		fds := []unix.PollFd{{Fd: int32(fd), Events: events}}
		for {
			n, err := unix.Poll(fds, ms)
			switch {
			case err == nil && n == 0:
				return unix.EAGAIN
			case !errors.Is(err, unix.EINTR):
				return err
			}
		}
	})
}
