package programs

import "golang.org/x/sys/unix"

// unread is how many bytes a read would find, in canonical mode those of whole lines; 0, when the
// terminal is gone.
func unread(fd int) int {
	const fionread = 0x4004667f // from <sys/filio.h>
	n, _ := unix.IoctlGetInt(fd, fionread)
	return n
}

// flush drops what is unread.
func flush(fd int) error {
	const fread = 1 // from <sys/fcntl.h>
	return unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, fread)
}
