package pty

import "golang.org/x/sys/unix"

const (
	getTermios      = unix.TIOCGETA
	setTermiosDrain = unix.TIOCSETAW // after pending output; keeps type-ahead, which TIOCSETAF would throw away
	unreadInput     = 0x4004667f     // FIONREAD, from <sys/filio.h>
	disabledChar    = 0xff           // a control character that is switched off
)
