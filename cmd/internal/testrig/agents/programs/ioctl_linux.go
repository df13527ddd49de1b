package programs

import "golang.org/x/sys/unix"

// unread is how many bytes a read would find, in canonical mode those of whole lines; 0, when the
// terminal is gone.
func unread(fd int) int {
	n, _ := unix.IoctlGetInt(fd, unix.TIOCINQ)
	return n
}

// flush drops what is unread.
func flush(fd int) error { return unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }
