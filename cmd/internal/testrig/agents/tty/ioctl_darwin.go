package tty

import "golang.org/x/sys/unix"

const (
	getModes    = unix.TIOCGETA
	setNow      = unix.TIOCSETA
	setFlush    = unix.TIOCSETAF
	unreadInput = 0x4004667f // FIONREAD, from <sys/filio.h>
)
