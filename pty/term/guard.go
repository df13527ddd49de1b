package term

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// watcher is what a guardian does: a shell, since one is everywhere and a tenth of a second process
// of ours. Its standard input is our lines, its output the screen, its standard error the terminal.
//
// It remembers the flags that we have switched, with the modes that we have set, and the last line
// of what to undo. Any line that is none of ours is the report of a fault of ours, and the end of
// lines our death. Then it writes what it was told to the screen, at once, for a prompt may follow;
// and if the modes are still those that we have set, and no shell's, it sets back what we had
// switched. Until it reads on, a fault with a long report does not end us: a shell that waits for
// us would take the terminal as we leave it for the wanted one.
//
// With our process id, $1, it is our [Front]: it hands on the signals that would end it, and
// reports on 3 those that would stop it; stops its process group, which is the shell's job, when we
// say so, in the background alone if we say that, and reports when that goes on; and has our exit
// status: as we told it, else that of the last signal that it handed on, of SIGKILL, or of a fault
// of the runtime. We are in that group, too, and do not heed the signal. What interrupts a read has
// no part of a line: each comes as a whole.
const watcher = `# relay-pty, as its shell sees it: stops at ^Z, while the wrapper goes on
w=$1 undo= ours= seen= status=137
exec 4>&2 2>/dev/null
trap "" PIPE
for s in HUP INT QUIT TERM TSTP CONT; do
	case $w$s in
	HUP | INT | QUIT | TERM | TSTP | CONT) trap "" $s ;;
	*HUP) trap "seen=1 status=129; kill -$s $w" $s ;;
	*INT) trap "seen=1 status=130; kill -$s $w" $s ;;
	*QUIT) trap "seen=1 status=131; kill -$s $w" $s ;;
	*TERM) trap "seen=1 status=143; kill -$s $w" $s ;;
	*) trap "seen=1; kill -$s $w" $s ;;
	esac
done
hear() { trap "seen=1; printf t >&3" TSTP; }
[ "$w" ] && hear
halt() {
	trap - TSTP
	kill -TSTP 0
	hear
}
while :; do
	if IFS= read -r line; then
		case $line in
		-) undo= ;;
		\\0*) undo=$line ;;
		=*) set -- ${line#=} && ours=$(stty -g <&4) ;;
		stop) halt; printf c >&3 ;;
		behind)
			read -r _ _ _ _ group _ _ front _ </proc/self/stat
			[ "$group" = "$front" ] || halt
			printf c >&3 ;;
		end*) status=${line#end } undo= ours= ;;
		*) status=2; break ;;
		esac
	elif [ "$seen" ]; then seen=
	else break
	fi
done
printf %b "$undo"
[ "$ours" ] && [ "$(stty -g <&4)" = "$ours" ] && stty "$@" <&4
cat >/dev/null
exit $status`

// watcherEnv is the watcher's environment: it needs little, and some shells run what theirs says.
func watcherEnv() []string { return []string{"PATH=" + os.Getenv("PATH")} }

// Guard is a process that gives the terminal back when we die and cannot: by SIGKILL, or by a fault
// of the runtime. It is our [Front]; without one it is in a session of its own, where no key and no
// hangup reaches it, and ends with us.
type Guard struct {
	pid    int      // 0: it is the front
	pipe   *os.File // its lines; nobody else has the end that we write to
	screen bool     // its output is a terminal

	mu     sync.Mutex // guards what follows
	undo   string
	asleep bool // the terminal is given back, for as long as we are stopped
}

// Guard sets a guardian on a raw terminal. Without a terminal it returns nil, of which all methods
// do nothing.
func (t *Terminal) Guard() (*Guard, error) {
	if t.tty == nil {
		return nil, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	_, err := readModes(t.out)
	g := &Guard{screen: err == nil}
	if t.front != nil {
		g.pipe = t.front.lines
	} else if err := g.start(t.out, t.tty); err != nil {
		return nil, fmt.Errorf("guard the terminal: %w", err)
	}
	if err := debug.SetCrashOutput(g.pipe, debug.CrashOptions{}); err != nil { // makes it blocking, too
		g.Dismiss()
		return nil, fmt.Errorf("guard the terminal: %w", err)
	}
	Control(g.pipe, narrow)                                                 // where it is wide, a short report ends us before the guardian is done
	fmt.Fprintf(g.pipe, "=%s\n", strings.Join(switchedBack(&t.saved), " ")) // it has room; it may be gone
	t.guard = g
	return g, nil
}

// start starts a guardian that has a screen and a terminal.
func (g *Guard) start(screen, tty *os.File) error {
	lines, pipe, err := os.Pipe() // both close-on-exec
	if err != nil {
		return err
	}
	defer lines.Close() // the guardian has it
	var fds [3]uintptr
	for i, f := range []*os.File{lines, screen, tty} {
		err = errors.Join(err, Control(f, func(fd int) error { fds[i] = uintptr(fd); return nil }))
	}
	if err == nil {
		err = unix.SetNonblock(int(fds[0]), false) // a shell's read does not wait otherwise
	}
	if err == nil {
		g.pid, err = syscall.ForkExec("/bin/sh", []string{"sh", "-c", watcher, "relay-pty"}, &syscall.ProcAttr{
			Dir: "/", Env: watcherEnv(), Files: fds[:], Sys: &syscall.SysProcAttr{Setsid: true},
		})
	}
	if err != nil {
		pipe.Close() // of no use
		return err
	}
	g.pipe = pipe
	return nil
}

// Tell says what has to be written to the terminal's screen if we die now; "" is nothing. It
// returns false when the guardian is too far behind to hear it.
func (g *Guard) Tell(undo string) bool {
	if g == nil || !g.screen {
		return true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.undo = undo
	return g.asleep || g.tellLocked(undo)
}

// sleep reports whether the terminal is given back for now.
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

// Dismiss ends the guardian's watch without a deed.
func (g *Guard) Dismiss() {
	if g == nil {
		return
	}
	if g.pid == 0 { // it goes on as the front
		g.sleep(true)
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
