package sock

import "golang.org/x/sys/unix"

// credentials are those of the process at the other end of a connected socket.
func credentials(fd int) (uid, pid int, err error) {
	c, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return 0, 0, err
	}
	pid, err = unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID)
	return int(c.Uid), pid, err
}

// hungUp is always false: here a half-closed peer looks like one that is gone, so only
// a failing write tells.
func hungUp(int) bool { return false }
