package pty

import "golang.org/x/sys/unix"

const (
	unreadInput  = unix.TIOCINQ
	disabledChar = 0 // a control character that is switched off
)
