package pty

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"relay-pty/pty/term"
)

// TTY is what the agent's terminal line tells about who reads it, and how.
type TTY struct {
	Canonical  bool // it reads lines, of at most 4095 bytes on Linux: the rest of a longer one is lost
	Echo       bool // the line echoes
	Signals    bool // ^C and its kin send signals
	Suspends   bool // ^Z is one of them
	Foreground int  // process group in the foreground
	Unread     int  // bytes typed and not read; at most 4095 are told, and none of an unfinished line
}

// TTY looks at the agent's terminal line. After the agent's end it returns ErrEnded.
func (s *Session) TTY() (TTY, error) {
	var t TTY
	err := s.tty.use(func(fd int) error {
		modes, err := term.GetModes(fd)
		if err != nil {
			return err
		}
		t.Canonical = modes.Lflag&unix.ICANON != 0
		t.Echo = modes.Lflag&unix.ECHO != 0
		t.Signals = modes.Lflag&unix.ISIG != 0
		t.Suspends = t.Signals && modes.Cc[unix.VSUSP] == 'Z'&0x1f
		readable(fd, 0) // makes the kernel pass on what was written: without, it may be on its way yet and count as read
		t.Unread, err = unix.IoctlGetInt(fd, unreadInput)
		return err
	})
	if err == nil {
		t.Foreground, err = s.foreground()
	}
	if err != nil && !errors.Is(err, ErrEnded) {
		err = fmt.Errorf("look at tty: %w", err)
	}
	return t, err
}

// foreground is the process group in the foreground of the tty, which the master side may ask for
// although it is not ours.
func (s *Session) foreground() (pgrp int, err error) {
	err = term.Control(s.ptmx.f, func(fd int) error {
		pgrp, err = unix.IoctlGetInt(fd, unix.TIOCGPGRP)
		return err
	})
	return pgrp, err
}

// Resize tells screen and agent the new size; the same size again tells nobody. The screen goes
// first, so that no repaint meets the old one.
func (s *Session) Resize(w Winsize) error {
	s.mu.Lock()
	defer s.mu.Unlock() // orders concurrent resizes; the ioctl does not wait
	if w == s.size {
		return nil
	}
	s.size = w
	s.screen.Resize(modelSize(w))
	select {
	case <-s.proc.done:
		return ErrEnded
	default:
		return term.SetSize(s.ptmx.f, w)
	}
}

// EndInput passes the end of an input that is no terminal on to an agent that reads lines: once the
// line has been quiet for 100 ms it types the tty's end-of-file character, twice when a line is
// unfinished, since the first one then only ends that. Where the tty is raw, no character means the
// end: it does nothing, and the agent lives on.
func (s *Session) EndInput(ctx context.Context) error {
	if err := s.quiet(ctx, drainQuiet); err != nil {
		return err
	}
	var eof []byte
	err := s.tty.use(func(fd int) error {
		modes, err := term.GetModes(fd)
		if err == nil && modes.Lflag&unix.ICANON != 0 && modes.Cc[unix.VEOF] != disabledChar {
			eof = []byte{modes.Cc[unix.VEOF]}
		}
		return err
	})
	if err != nil || eof == nil {
		return err
	}
	if last := s.keys.lastByte(); last != '\n' && last != '\r' {
		eof = append(eof, eof[0])
	}
	return s.Keys(eof)
}

// quiet waits until nothing was written or typed for d.
func (s *Session) quiet(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		since := time.Since(s.born) - time.Duration(max(s.lastOut.Load(), s.lastKey.Load()))
		if since >= d {
			return nil
		}
		timer.Reset(d - since)
		select {
		case <-timer.C:
		case <-s.proc.done:
			return ErrEnded
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// holder keeps the agent's side of the PTY open in our hands until the agent has ended. So the end
// of output can only show after that, never when an agent closes the tty for a while, or hangs it
// up; and the line's state can be read at any time.
type holder struct {
	mu sync.Mutex // guards what follows
	f  *os.File   // nil once the agent has ended
}

// use calls f with the tty's descriptor.
func (h *holder) use(f func(fd int) error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.f == nil {
		return ErrEnded
	}
	return term.Control(h.f, f)
}

// name is the tty's path, "" once the agent has ended.
func (h *holder) name() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.f == nil {
		return ""
	}
	return h.f.Name()
}

func (h *holder) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.f != nil {
		h.f.Close() // nothing was written to it
		h.f = nil
	}
}

// setModes gives a new tty the modes of the human's terminal. Without one it keeps the system's,
// and edits lines as UTF-8.
func setModes(tty *os.File, like *term.Terminal) error {
	return term.Control(tty, func(fd int) error {
		modes, err := term.GetModes(fd)
		if err != nil {
			return err
		}
		modes.Iflag |= unix.IUTF8
		if like != nil {
			like.Lend(modes)
		}
		return term.SetModes(fd, modes)
	})
}
