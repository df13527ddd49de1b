package pty

import "golang.org/x/sys/unix"

const (
	getTermios      = unix.TCGETS
	setTermiosDrain = unix.TCSETSW // after pending output; keeps type-ahead, which TCSETSF would throw away
	unreadInput     = unix.TIOCINQ
	disabledChar    = 0 // a control character that is switched off
)
