package tty

import "golang.org/x/sys/unix"

const (
	getModes    = unix.TCGETS
	setNow      = unix.TCSETS
	setFlush    = unix.TCSETSF
	unreadInput = unix.TIOCINQ
)
