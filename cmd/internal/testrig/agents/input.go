package agents

import (
	"errors"
	"io"

	"golang.org/x/sys/unix"
)

// input waits for the terminal in a goroutine but reads in the composer's
// loop. So a stalled composer leaves everything in the kernel, where what
// came apart joins, as it does for an agent whose event loop is stalled.
type input struct {
	fd    int
	ready chan struct{} // something can be read
	again chan struct{} // it was; wait for more
	buf   []byte
}

func newInput(fd int) *input {
	in := &input{fd: fd, ready: make(chan struct{}), again: make(chan struct{}), buf: make([]byte, 64<<10)}
	go in.wait()
	return in
}

// wait runs until the process ends: a read that failed is never followed by again.
func (in *input) wait() {
	for {
		fds := []unix.PollFd{{Fd: int32(in.fd), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, -1); errors.Is(err, unix.EINTR) {
			continue
		}
		in.ready <- struct{}{}
		<-in.again
	}
}

// read returns what is there; call it once for each receive from ready.
func (in *input) read() ([]byte, error) {
	n, err := unix.Read(in.fd, in.buf)
	if errors.Is(err, unix.EINTR) {
		n, err = 0, nil
	} else if err == nil && n == 0 {
		err = io.EOF
	}
	if err != nil {
		return nil, err
	}
	in.again <- struct{}{}
	return in.buf[:n], nil
}

// unread tells how many bytes read would return; unix.TIOCINQ is FIONREAD.
func (in *input) unread() int {
	n, err := unix.IoctlGetInt(in.fd, unix.TIOCINQ)
	if err != nil {
		return 0 // the terminal is gone, and the next read says so
	}
	return n
}
