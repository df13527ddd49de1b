package term

import (
	"errors"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"relay-pty/protocol/signals"
)

const (
	getTermios      = unix.TCGETS
	setTermiosDrain = unix.TCSETSW // after pending output; keeps type-ahead, which TCSETSF would throw away
)

// drain waits until output is written. As whoever sets modes, a process in the background is
// stopped by it first, until it is in front.
func drain(fd int) error {
	for {
		if err := unix.IoctlSetInt(fd, unix.TCSBRK, 1); !errors.Is(err, unix.EINTR) { // tcdrain(3)
			return err
		}
	}
}

// narrow makes a pipe hold no more than two pages: one that a line may still be in, one for the
// next.
func narrow(fd int) error {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, 2*os.Getpagesize())
	return err
}

// stopSelf stops our process by SIGTSTP, as ^Z stops other programs: shells tell it from SIGSTOP,
// and say so. It returns when we are continued, or at once where nobody could do that. The runtime
// never gives the signal its default action back, so that is done here for the moment.
func stopSelf() error {
	runtime.LockOSThread() // a signal to the thread itself is taken before the call returns
	defer runtime.UnlockOSThread()
	defer signals.Act(signals.Default, unix.SIGTSTP)()
	return unix.Tgkill(os.Getpid(), unix.Gettid(), unix.SIGTSTP)
}
