package pty

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"relay-pty/pty/screen"
	"relay-pty/pty/term"
)

// ErrEnded is what writers and lookers get once the agent has ended.
var ErrEnded = errors.New("the agent has ended")

// Winsize is a terminal's size in cells.
type Winsize = term.Winsize

// defaultGrace is how long a hung-up agent may take to end.
const defaultGrace = 2 * time.Second

// Config says what to run, and who hears of its output.
type Config struct {
	// Args is the command and its arguments; the command is looked up in our own PATH.
	Args []string
	// Env is the agent's whole environment, given as it is.
	Env []string
	// Size is what the agent's tty says; the screen model takes 24 rows and 80 columns where it
	// says zero.
	Size Winsize
	// Like is the terminal whose modes (erase character, UTF-8, …) the agent's tty starts with;
	// nil, or not a terminal: the system's own.
	Like *term.Terminal
	// Output is the human's terminal. A Write that blocks holds the agent's output back, as a
	// terminal would, and nothing else.
	Output io.Writer
	// Tap hears every piece of output after Output and the screen did. It must return at once and
	// not keep p. It may be nil.
	Tap func(p []byte)
	// Plain gives the command our own files 0, 1 and 2 and leaves it in our session and process
	// group, as a shell would. The PTY is then nobody's: no output comes and nothing reads what is
	// typed.
	Plain bool
	// Grace is how long the agent may take to end when the context of Run ends or the output
	// breaks; 0 means 2 s.
	Grace time.Duration
}

// Session is a running agent and its PTY.
type Session struct {
	cfg  Config
	ptmx *master
	born time.Time
	proc process
	keys writer
	tty  holder

	mu     sync.Mutex // guards what follows; never held over I/O
	screen *screen.Screen
	size   Winsize

	watchers atomic.Pointer[[]chan struct{}]
	watchMu  sync.Mutex // held to replace watchers

	lastOut    atomic.Int64 // since born, nanoseconds; 0 is never
	lastKey    atomic.Int64
	lastReplay atomic.Int64

	helpers sync.WaitGroup // reaper, replay, hang-ups

	signs signs

	// Owned by the output loop until it ends.
	outErr error         // of Output
	untold time.Duration // after born: when the oldest output came of which watchers do not know; 0: none
}

// Start runs the command on a new PTY, as leader of its own session with the tty as its controlling
// terminal and file descriptors 0, 1 and 2, and nothing else open. Errors that concern the command
// are *exec.Error: errors.Is(err, exec.ErrNotFound) or fs.ErrNotExist for one that is not there,
// anything else for one that cannot be executed. Other errors are ours.
func Start(cfg Config) (*Session, error) {
	path, err := LookPath(cfg.Args)
	if err != nil {
		return nil, err
	}
	ptmx, tty, err := openPTY(cfg)
	if err != nil {
		return nil, err
	}
	s := &Session{cfg: cfg, ptmx: ptmx, size: cfg.Size, screen: screen.New(modelSize(cfg.Size))}
	s.keys.init(ptmx)
	s.tty.f = tty
	s.born = time.Now()
	pid, err := spawn(path, cfg, tty)
	if err != nil {
		tty.Close()  // nobody uses it
		ptmx.Close() // nobody uses it
		return nil, err
	}
	s.proc.init(pid)
	s.helpers.Go(s.reap)
	return s, nil
}

// openPTY opens a PTY of the size and modes that cfg asks for.
func openPTY(cfg Config) (ptmx *master, tty *os.File, err error) {
	polled, polledTTY, err := pty.Open()
	// Linux was seen, once, to make a terminal and to find no file of its name.
	for tries := 2; errors.Is(err, fs.ErrNotExist) && tries > 0; tries-- {
		polled, polledTTY, err = pty.Open()
	}
	if err != nil {
		return nil, nil, fmt.Errorf("open pty: %w", err)
	}
	defer polled.Close()    // a copy of it lives on
	defer polledTTY.Close() // so, too
	if tty, err = plain(polledTTY); err == nil {
		ptmx, err = newMaster(polled)
	}
	if err == nil {
		err = setModes(tty, cfg.Like)
	}
	if err == nil {
		err = term.SetSize(tty, cfg.Size)
	}
	if err == nil {
		err = packetMode(ptmx.f)
	}
	if err != nil {
		if tty != nil {
			tty.Close() // nobody uses it
		}
		if ptmx != nil {
			ptmx.Close() // nobody uses it
		}
		return nil, nil, fmt.Errorf("set up pty: %w", err)
	}
	return ptmx, tty, nil
}

// packetMode makes the master tell, with each read, whether the agent threw input away: nothing
// else does.
func packetMode(ptmx *os.File) error {
	return term.Control(ptmx, func(fd int) error { return unix.IoctlSetPointerInt(fd, unix.TIOCPKT, 1) })
}

// PID is the agent's process id, which is also its session and its first process group.
func (s *Session) PID() int { return s.proc.pid }

// View shows the screen to f, and holds the output back meanwhile: f must be short, and not keep
// the screen.
func (s *Session) View(f func(*screen.Screen)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s.screen)
}

// Watch returns a channel of capacity one that says "look again" after output, keys, a stop or the
// end, never how often. One is made by each call.
func (s *Session) Watch() <-chan struct{} {
	s.watchMu.Lock()
	defer s.watchMu.Unlock()
	c := make(chan struct{}, 1)
	var all []chan struct{}
	if old := s.watchers.Load(); old != nil {
		all = append(all, *old...)
	}
	all = append(all, c)
	s.watchers.Store(&all)
	return c
}

// wake tells all watchers to look again.
func (s *Session) wake() {
	all := s.watchers.Load()
	if all == nil {
		return
	}
	for _, c := range *all {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// LastOutput is when the agent last wrote; zero when it never did.
func (s *Session) LastOutput() time.Time { return s.at(&s.lastOut) }

// LastReplay is when keys that a transaction had kept were last typed; zero when never.
func (s *Session) LastReplay() time.Time { return s.at(&s.lastReplay) }

// LastFlush is when the agent last threw away what was typed and it had not read; zero when never.
// Asked after TTY, it knows of all that TTY saw.
func (s *Session) LastFlush() time.Time {
	at, news := s.ptmx.lastFlush()
	if news {
		s.wake() // the output loop does not hear of it any more
	}
	return at
}

// stamp sets a clock to now; times are kept relative to birth so that they stay monotonic.
func (s *Session) stamp(clock *atomic.Int64) time.Duration {
	now := max(1, time.Since(s.born))
	clock.Store(int64(now))
	return now
}

func (s *Session) at(clock *atomic.Int64) time.Time {
	if d := clock.Load(); d != 0 {
		return s.born.Add(time.Duration(d))
	}
	return time.Time{}
}

// grace is how long a hung-up agent may take.
func (s *Session) grace() time.Duration {
	if s.cfg.Grace > 0 {
		return s.cfg.Grace
	}
	return defaultGrace
}

// modelSize is the screen model's size for a tty's.
func modelSize(w Winsize) (rows, cols int) {
	rows, cols = w.Rows, w.Cols
	if rows <= 0 {
		rows = term.DefaultRows
	}
	if cols <= 0 {
		cols = term.DefaultCols
	}
	return rows, cols
}
