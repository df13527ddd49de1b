package pty

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"relay-pty/pty/term"
)

// arrival is how long, in milliseconds, the kernel may take to pass on what was written.
const arrival = 20

// TakeBack reads, in the agent's place, what was typed and the agent has not read: up to n bytes,
// of which it returns the number. A byte is read either by us or by the agent, so when it is what
// was written, nothing of that has arrived. In canonical mode only whole lines are found.
func (tx *Tx) TakeBack(n int) (got int, err error) {
	// Another description of the tty, since not to block is a matter of the description, and the
	// agent's is another one.
	tty, err := os.OpenFile(tx.s.tty.name(), os.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	if err != nil {
		return 0, err
	}
	defer tty.Close() // nothing was written to it
	err = term.Control(tty, func(fd int) error {
		buf := make([]byte, n)
		for got < n {
			m, err := unix.Read(fd, buf[got:])
			switch {
			case errors.Is(err, unix.EINTR):
			case errors.Is(err, unix.EAGAIN):
				if !readable(fd, arrival) {
					return nil
				}
			case err != nil || m == 0:
				return err
			}
			got += max(m, 0)
		}
		return nil
	})
	return got, err
}

func readable(fd, millis int) bool {
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, millis)
	return n > 0 && err == nil
}
