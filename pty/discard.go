package pty

import "golang.org/x/sys/unix"

// Discard takes back what was typed and the agent has not read, and tells how many bytes. It leaves nothing behind: the tty's own buffer is refilled
// from the kernel's as it empties. An unfinished line of a tty in canonical mode goes uncounted.
func (tx *Tx) Discard() (n int, err error) {
	err = tx.s.tty.use(func(fd int) error {
		for {
			unread, err := unix.IoctlGetInt(fd, unreadInput)
			if err != nil {
				return err
			}
			if err := flushInput(fd); err != nil {
				return err
			}
			n += unread
			if unread == 0 && !readable(fd, refill) {
				return nil
			}
		}
	})
	return n, err
}

// refill is how long, in milliseconds, the kernel may take to refill the tty's buffer.
const refill = 5

func readable(fd, millis int) bool {
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, millis)
	return n > 0 && err == nil
}
