package term

import (
	"errors"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

const (
	getTermios      = unix.TIOCGETA
	setTermiosDrain = unix.TIOCSETAW // after pending output; keeps type-ahead, which TIOCSETAF would throw away
)

// drain waits until output is written. As whoever sets modes, a process in the background is
// stopped by it first, until it is in front.
func drain(fd int) error {
	for {
		if err := unix.IoctlSetInt(fd, unix.TIOCDRAIN, 0); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// narrow does nothing: a pipe is as wide as the system makes it.
func narrow(int) error { return nil }

// stopSelf stops our process until someone continues it.
func stopSelf() error {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, unix.SIGCONT)
	defer signal.Stop(continued)
	if err := unix.Kill(os.Getpid(), unix.SIGSTOP); err != nil {
		return err
	}
	<-continued // the stop may reach us only after kill has returned
	return nil
}
