package sock

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"relay-pty/protocol/own"
	"relay-pty/protocol/process"
)

// Descent is the process at the other end of a connection, as it connected, and those that it
// descends from, without end and what is above that. nil: it has ended, or the system does not
// tell.
//
// The credentials of a socket keep a number whose process may have ended, and which another has by
// then. Linux 6.5 gives a handle of the process itself, unix(7), by which the number is looked at
// before and after; an older one leaves that gap.
func Descent(c *net.UnixConn, end int) (line []process.Process) {
	own.Control(c, func(fd int) error { // a closed connection has nobody
		handle, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PEERPIDFD)
		if err != nil {
			_, pid, err := credentials(fd)
			line = process.Descent(pid, end)
			return err
		}
		defer unix.Close(handle)
		pid := numberOf(handle)
		if line = process.Descent(pid, end); numberOf(handle) != pid {
			line = nil
		}
		return nil
	})
	return line
}

// numberOf is the number of the process that a handle is of, pidfd_open(2); 0 of one that has
// ended, or is not of our namespace.
func numberOf(handle int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", handle))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "\nPid:")
	line, _, _ := strings.Cut(rest, "\n")
	n, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		return 0
	}
	return max(n, 0) // -1: it has ended
}
