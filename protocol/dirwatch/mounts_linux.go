package dirwatch

import (
	"os"

	"golang.org/x/sys/unix"
)

// Mounts calls tell after each change of what is mounted, until end is called. Nothing else tells
// of a directory that is unmounted lazily, as a user's runtime directory is at the last logout:
// inotify(7) is silent while a file in it is open. Where the system does not tell, tell is never
// called.
func Mounts(tell func()) (end func()) {
	fd, err := unix.Open("/proc/self/mountinfo", unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return func() {}
	}
	table := os.NewFile(uintptr(fd), "mountinfo")
	raw, err := table.SyscallConn()
	if err != nil {
		table.Close() // nothing was written
		return func() {}
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		first := true
		raw.Read(func(uintptr) bool { // ends as the table is closed
			if !first {
				tell()
			}
			first = false
			return false
		})
	}()
	return func() {
		table.Close() // nothing was written
		<-ended
	}
}
