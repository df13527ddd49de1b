// Package tty is what a program does to its own terminal: settings, the
// foreground job, and reads that can wait.
package tty

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// When says what a change of settings does to input that nobody read yet.
type When uint

// TCSANOW keeps unread input; TCSAFLUSH drops it.
const (
	Now   When = setNow
	Flush When = setFlush
)

// Modes is a terminal's settings.
type Modes = unix.Termios

// Terminal is a program's terminal and the settings it found there.
type Terminal struct {
	fd    int
	first Modes
	err   error // it is no terminal
}

// Open remembers f's settings. When f is no terminal, changes of them fail.
func Open(f *os.File) *Terminal {
	t := &Terminal{fd: int(f.Fd())}
	if first, err := unix.IoctlGetTermios(t.fd, getModes); err != nil {
		t.err = err
	} else {
		t.first = *first
	}
	return t
}

// Fd is the terminal's descriptor.
func (t *Terminal) Fd() int { return t.fd }

// Change applies edit to the present settings.
func (t *Terminal) Change(w When, edit func(*Modes)) error {
	if t.err != nil {
		return t.err
	}
	now, err := unix.IoctlGetTermios(t.fd, getModes)
	if err != nil {
		return err
	}
	edit(now)
	return unix.IoctlSetTermios(t.fd, uint(w), now)
}

// Raw hands over every byte as it comes, as cfmakeraw does.
func (t *Terminal) Raw(w When) error {
	return t.Change(w, func(m *Modes) {
		m.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
		m.Oflag &^= unix.OPOST
		m.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN
		m.Cflag = m.Cflag&^(unix.CSIZE|unix.PARENB) | unix.CS8
		m.Cc[unix.VMIN], m.Cc[unix.VTIME] = 1, 0
	})
}

// Restore brings back the settings that Open found.
func (t *Terminal) Restore(w When) error {
	return t.Change(w, func(m *Modes) { *m = t.first })
}

// Settings tells whether the terminal collects lines and whether it echoes.
func (t *Terminal) Settings() (canonical, echo bool) {
	m, err := unix.IoctlGetTermios(t.fd, getModes)
	if err != nil {
		return false, false // no terminal does neither
	}
	return m.Lflag&unix.ICANON != 0, m.Lflag&unix.ECHO != 0
}

// Unread tells how many bytes a read would find: in canonical mode those of
// whole lines.
func (t *Terminal) Unread() int {
	n, err := unix.IoctlGetInt(t.fd, unreadInput)
	if err != nil {
		return 0 // the terminal is gone, and the next read says so
	}
	return n
}

// Size is 0, 0 when it is unknown.
func (t *Terminal) Size() (rows, cols int) {
	ws, err := unix.IoctlGetWinsize(t.fd, unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0
	}
	return int(ws.Row), int(ws.Col)
}

// Foreground is the process group that the terminal's keys go to, 0 when
// there is none.
func (t *Terminal) Foreground() int {
	n, err := unix.IoctlGetInt(t.fd, unix.TIOCGPGRP)
	if err != nil {
		return 0
	}
	return n
}

// TakeForeground makes the caller's own group the foreground job again.
func (t *Terminal) TakeForeground() error {
	signal.Ignore(syscall.SIGTTOU) // it stops a background group that asks
	defer signal.Reset(syscall.SIGTTOU)
	return unix.IoctlSetPointerInt(t.fd, unix.TIOCSPGRP, unix.Getpgrp())
}
