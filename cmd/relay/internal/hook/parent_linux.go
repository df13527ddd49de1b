package hook

import (
	"os"

	"golang.org/x/sys/unix"
)

// watchParent calls gone when the process that started us has ended, until stop is called. It is
// an error if it has ended by now.
func watchParent(pid int, gone func()) (stop func(), err error) {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return nil, err
	}
	if os.Getppid() != pid {
		unix.Close(fd)
		return nil, os.ErrProcessDone
	}
	f := os.NewFile(uintptr(fd), "parent")
	raw, err := f.SyscallConn()
	if err != nil {
		f.Close()
		return nil, err
	}
	go func() {
		raw.Read(func(fd uintptr) bool { // until it has ended, or f is closed
			n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
			return n > 0 || err != nil && err != unix.EINTR
		})
		gone()
	}()
	return func() { f.Close() }, nil
}
