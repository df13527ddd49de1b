package term

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"relay-pty/protocol/process"
	"relay-pty/protocol/signals"
)

// frontVar names its front to a wrapper that is started behind one. It is taken out of the
// environment at once. For a child of another process it says that the front has ended.
const frontVar = "RELAY_PTY_FRONT"

// Numbers of the files that a wrapper behind a front is started with, beside 0, 1 and 2.
const (
	linesFile   = 3 // to write
	reportsFile = 4 // to read
)

// Begin has our process go on behind a front, where keys come from a terminal and a shell could
// stop us: then it returns in a new process. Elsewhere it returns nil. It comes before any signal
// is asked for: one that is caught is not ignored any more in what the process becomes.
func Begin() (*Front, error) {
	front, pid := os.Getenv(frontVar), os.Getppid()
	os.Unsetenv(frontVar) // cannot fail
	switch front {
	case "":
	case strconv.Itoa(pid):
		return behind(pid)
	default:
		return nil, ErrFrontGone
	}
	if _, err := GetModes(0); err != nil || !Stoppable() {
		return nil, nil
	}
	if err := becomeFront(); err != nil {
		return nil, fmt.Errorf("go behind a front: %w", err)
	}
	return nil, nil // never reached
}

// behind takes the ends of the front's pipes.
func behind(pid int) (*Front, error) {
	unix.CloseOnExec(linesFile)
	unix.CloseOnExec(reportsFile)
	if err := unix.SetNonblock(reportsFile, true); err != nil { // so who waits for it needs no thread
		return nil, fmt.Errorf("take the front's reports: %w", err)
	}
	f := &Front{
		pid: pid, lines: os.NewFile(linesFile, "lines"), reports: os.NewFile(reportsFile, "reports"),
		continued: make(chan struct{}, 1), signals: make(chan os.Signal, 2),
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTSTP) // it is not for us: the front reports its own, and stops at our word
	return f, nil
}

// becomeFront starts the wrapper and becomes its front, or tells why not. Who looks for the name of
// the program in front of a terminal, as tmux does, finds ours.
func becomeFront() error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	var lines, reports [2]int
	if err := errors.Join(unix.Pipe2(lines[:], unix.O_CLOEXEC), unix.Pipe2(reports[:], unix.O_CLOEXEC)); err != nil {
		return err
	}
	// What ends us from now on ends us at once, and then the wrapper sees that its front is gone.
	signals.Act(signals.Default, ending()...)
	if err := signals.Settle(); err != nil {
		return err
	}
	// A child that is stopped before it is another program would hold us up for ever, with its
	// shell. The wrapper ignores the signal until it asks for it.
	undo := signals.Act(signals.Ignore, unix.SIGTSTP)
	wrapper, err := syscall.ForkExec(program, os.Args, &syscall.ProcAttr{
		Env:   append(os.Environ(), fmt.Sprintf("%s=%d", frontVar, os.Getpid())),
		Files: []uintptr{0, 1, 2, linesFile: uintptr(lines[1]), reportsFile: uintptr(reports[0])},
	})
	undo()
	if err != nil {
		return err
	}
	name := filepath.Base(os.Args[0])
	if sh, err := os.Readlink("/bin/sh"); err == nil && strings.HasSuffix(sh, "box") {
		name = "sh" // busybox goes by it
	}
	// As the watcher has them: its lines, the screen, the terminal, and where to report. In that
	// order, since the lower ones of the pipes' own numbers may be among these.
	return errors.Join(
		unix.Dup3(0, 2, 0), unix.Dup3(lines[0], 0, 0), unix.Dup3(reports[1], 3, 0),
		syscall.Exec("/bin/sh", append([]string{name, "-c"}, watcher, "relay-pty", strconv.Itoa(wrapper)), watcherEnv()))
}

// ending are the signals that end us.
func ending() (list []syscall.Signal) {
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT} {
		if !signal.Ignored(s) {
			list = append(list, s)
		}
	}
	return list
}

// stopped reports whether the front is, whoever stopped it.
func (f *Front) stopped() bool { return process.Stopped(f.pid) }

// unstopped calls f on a thread that may set the terminal's modes from the background.
func unstopped(f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var stops, before unix.Sigset_t
	stops.Val[0] = 1 << (unix.SIGTTOU - 1)
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &stops, &before); err != nil {
		return err
	}
	defer unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil) // as it was
	return f()
}
