package pty

import "golang.org/x/sys/unix"

// vhangup hangs up our controlling terminal, which takes privilege.
func vhangup() error {
	if _, _, errno := unix.Syscall(unix.SYS_VHANGUP, 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}
