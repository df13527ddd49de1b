package term

import (
	"cmp"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// guardian is what [Guard] runs: a shell, since one is everywhere and a tenth of a second process
// of ours. It remembers the modes that we have set on the terminal, its standard error, and the
// last line that we told it. Any other line is the report of a fault of ours, and the end of lines
// our death. Then it writes what it was told to the screen, its standard output, at once, for a
// prompt may follow; and if the modes are still those that we have set, and no shell's, it sets
// back what we had switched. Until it reads on, a fault with a long report does not end us: a shell
// that waits for us would take the terminal as we leave it for the wanted one.
const guardian = `trap "" HUP INT QUIT TERM
exec 3>&2 2>/dev/null
ours=$(stty -g <&3)
while IFS= read -r line; do
	case $line in
	-) undo= ;;
	\\0*) undo=$line ;;
	*) break ;;
	esac
done
printf %b "$undo"
[ "$(stty -g <&3)" = "$ours" ] && stty "$@" <&3
exec cat >/dev/null`

// Guard is a process that gives the terminal back when we die and cannot: by SIGKILL, or by a fault
// of the runtime. It is in a session of its own, where no key and no hangup reaches it and no shell
// counts it to a job, and it ends with us.
type Guard struct {
	pid    int
	pipe   *os.File // its lines; nobody else has the end that we write to
	screen bool     // its output is a terminal

	mu     sync.Mutex // guards what follows
	undo   string
	asleep bool // the terminal is given back, for as long as we are stopped
}

// Guard starts the guardian of a raw terminal. Without a terminal it returns nil, of which all methods do nothing.
func (t *Terminal) Guard() (*Guard, error) {
	if t.tty == nil {
		return nil, nil
	}
	lines, pipe, err := os.Pipe() // both close-on-exec
	if err != nil {
		return nil, fmt.Errorf("guard the terminal: %w", err)
	}
	defer lines.Close() // the guardian has it
	t.mu.Lock()
	defer t.mu.Unlock()
	_, err = readModes(t.out)
	g := &Guard{pipe: pipe, screen: err == nil}
	if err := g.start(lines, t.out, t.tty, switchedBack(&t.saved)); err != nil {
		pipe.Close() // of no use
		return nil, fmt.Errorf("guard the terminal: %w", err)
	}
	t.guard = g
	return g, nil
}

// start starts the guardian with its lines, a screen and a terminal whose modes these arguments of stty(1) set back.
func (g *Guard) start(lines, screen, tty *os.File, stty []string) error {
	var fds [3]uintptr
	for i, f := range []*os.File{lines, screen, tty} {
		if err := Control(f, func(fd int) error { fds[i] = uintptr(fd); return nil }); err != nil {
			return err
		}
	}
	if err := unix.SetNonblock(int(fds[0]), false); err != nil { // a shell's read does not wait otherwise
		return err
	}
	if err := debug.SetCrashOutput(g.pipe, debug.CrashOptions{}); err != nil { // makes it blocking, too
		return err
	}
	Control(g.pipe, narrow) // where it is wide, a short report ends us before the guardian is done
	pid, err := syscall.ForkExec("/bin/sh", append([]string{"sh", "-c", guardian, "relay-pty"}, stty...), &syscall.ProcAttr{
		Dir: "/", Env: []string{"PATH=" + os.Getenv("PATH")}, Files: fds[:], Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		debug.SetCrashOutput(nil, debug.CrashOptions{}) // cannot fail
		return err
	}
	g.pid = pid
	return nil
}

// Tell says what has to be written to the terminal's screen if we die now; "" is nothing. It returns false when the guardian is too far behind to hear it.
func (g *Guard) Tell(undo string) bool {
	if g == nil || !g.screen {
		return true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.undo = undo
	return g.asleep || g.tellLocked(undo)
}

// sleep says whether the terminal is given back for now.
func (g *Guard) sleep(asleep bool) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.asleep = asleep; asleep {
		g.tellLocked("")
	} else {
		g.tellLocked(g.undo)
	}
}

// tellLocked writes a line, but does not wait for room.
func (g *Guard) tellLocked(undo string) bool {
	line := []byte("-")
	if undo != "" {
		line = line[:0]
	}
	for _, c := range []byte(undo) { // as the %b of printf(1) takes it
		line = fmt.Appendf(line, "\\0%03o", c)
	}
	line = append(line, '\n') // all in all fewer bytes than a pipe with room takes at once
	err := Control(g.pipe, func(fd int) error {
		room := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
		if n, err := unix.Poll(room, 0); n < 1 {
			return cmp.Or(err, error(unix.EAGAIN))
		}
		_, err := unix.Write(fd, line)
		return err
	})
	return err == nil
}

// Dismiss ends the guardian without a deed.
func (g *Guard) Dismiss() {
	if g == nil {
		return
	}
	unix.Kill(g.pid, unix.SIGKILL)                  // first, or it would take the end of lines for our death; it is our child, so nobody else has its number
	debug.SetCrashOutput(nil, debug.CrashOptions{}) // cannot fail
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pipe.Close() // nobody reads it
	for {
		if _, err := unix.Wait4(g.pid, nil, 0, nil); err != unix.EINTR {
			return
		}
	}
}

// switches are the flags that rawModes clears, by their names in stty(1).
var switches = []struct {
	name  string
	field func(*unix.Termios) bool
}{
	{"ignbrk", func(m *unix.Termios) bool { return m.Iflag&unix.IGNBRK != 0 }},
	{"brkint", func(m *unix.Termios) bool { return m.Iflag&unix.BRKINT != 0 }},
	{"parmrk", func(m *unix.Termios) bool { return m.Iflag&unix.PARMRK != 0 }},
	{"istrip", func(m *unix.Termios) bool { return m.Iflag&unix.ISTRIP != 0 }},
	{"inlcr", func(m *unix.Termios) bool { return m.Iflag&unix.INLCR != 0 }},
	{"igncr", func(m *unix.Termios) bool { return m.Iflag&unix.IGNCR != 0 }},
	{"icrnl", func(m *unix.Termios) bool { return m.Iflag&unix.ICRNL != 0 }},
	{"ixon", func(m *unix.Termios) bool { return m.Iflag&unix.IXON != 0 }},
	{"opost", func(m *unix.Termios) bool { return m.Oflag&unix.OPOST != 0 }},
	{"echo", func(m *unix.Termios) bool { return m.Lflag&unix.ECHO != 0 }},
	{"echonl", func(m *unix.Termios) bool { return m.Lflag&unix.ECHONL != 0 }},
	{"icanon", func(m *unix.Termios) bool { return m.Lflag&unix.ICANON != 0 }},
	{"isig", func(m *unix.Termios) bool { return m.Lflag&unix.ISIG != 0 }},
	{"iexten", func(m *unix.Termios) bool { return m.Lflag&unix.IEXTEN != 0 }},
	{"parenb", func(m *unix.Termios) bool { return m.Cflag&unix.PARENB != 0 }},
	{"cs5", func(m *unix.Termios) bool { return m.Cflag&unix.CSIZE == unix.CS5 }},
	{"cs6", func(m *unix.Termios) bool { return m.Cflag&unix.CSIZE == unix.CS6 }},
	{"cs7", func(m *unix.Termios) bool { return m.Cflag&unix.CSIZE == unix.CS7 }},
}

// switchedBack is what rawModes changes in the modes that were found, as arguments of stty(1).
func switchedBack(found *unix.Termios) []string {
	args := []string{"min", strconv.Itoa(int(found.Cc[unix.VMIN])), "time", strconv.Itoa(int(found.Cc[unix.VTIME]))}
	for _, s := range switches {
		if s.field(found) {
			args = append(args, s.name)
		}
	}
	return args
}
