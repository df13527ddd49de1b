package term

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"relay-pty/pty/term"
)

// openPTY returns a pollable master and a slave. The rig opens its own terminal, so that it does
// not rest on the code it tests.
func openPTY() (master, slave *os.File, err error) {
	master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	n := 0
	err = term.Control(master, func(fd int) error {
		if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
			return fmt.Errorf("unlock terminal: %w", err)
		}
		n, err = unix.IoctlGetInt(fd, unix.TIOCGPTN)
		return err
	})
	if err == nil {
		slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		master.Close() // of no use
		return nil, nil, err
	}
	return master, slave, nil
}
