package term

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// openPTY returns a pollable master and a slave, both close-on-exec. The rig
// opens its own terminal, so that it does not rest on the code it tests.
func openPTY() (master, slave *os.File, err error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("open /dev/ptmx: %w", err)
	}
	master = os.NewFile(uintptr(fd), "/dev/ptmx") // nonblocking: the poller takes it
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		master.Close() // of no use
		return nil, nil, fmt.Errorf("unlock terminal: %w", err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		master.Close() // of no use
		return nil, nil, fmt.Errorf("number of terminal: %w", err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		master.Close() // of no use
		return nil, nil, err
	}
	return master, slave, nil
}

// Modes is a terminal's settings; equal settings compare equal.
type Modes = unix.Termios

func getModes(f *os.File) (Modes, error) {
	var m Modes
	err := control(f, func(fd int) error {
		t, err := unix.IoctlGetTermios(fd, unix.TCGETS)
		if err == nil {
			m = *t
		}
		return err
	})
	return m, err
}

func isRaw(m Modes) bool { return m.Lflag&unix.ICANON == 0 }

func setSize(f *os.File, rows, cols int) error {
	ws := &unix.Winsize{Row: uint16(rows), Col: uint16(cols)}
	return control(f, func(fd int) error { return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, ws) })
}

// control runs op without taking f from the poller, as f.Fd would.
func control(f *os.File, op func(fd int) error) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var opErr error
	if err := conn.Control(func(fd uintptr) { opErr = op(int(fd)) }); err != nil {
		return err
	}
	return opErr
}

// socketpair returns two ends, close-on-exec; ours is pollable, so that Close
// wakes a read.
func socketpair() (ours, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("socketpair: %w", err)
	}
	if err := unix.SetNonblock(fds[0], true); err != nil {
		return nil, nil, err
	}
	return os.NewFile(uintptr(fds[0]), "keeper"), os.NewFile(uintptr(fds[1]), "keeper"), nil
}
