package tty

import (
	"errors"
	"io"

	"golang.org/x/sys/unix"
)

// Input waits for the terminal in a goroutine but reads in its owner's loop.
// So a stalled program leaves everything in the kernel, where what came apart
// joins, as it does for a program whose event loop is stalled.
type Input struct {
	fd    int
	ready chan struct{} // something can be read
	again chan struct{} // it was; wait for more
	buf   []byte
}

// NewInput reads fd. Its goroutine runs until the process ends.
func NewInput(fd int) *Input {
	in := &Input{fd: fd, ready: make(chan struct{}), again: make(chan struct{}), buf: make([]byte, 64<<10)}
	go in.wait()
	return in
}

func (in *Input) wait() {
	for {
		if !in.poll(-1) {
			continue
		}
		in.ready <- struct{}{}
		<-in.again
	}
}

// poll tells whether a read would not block, after at most ms milliseconds.
func (in *Input) poll(ms int) bool {
	fds := []unix.PollFd{{Fd: int32(in.fd), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(fds, ms)
		if !errors.Is(err, unix.EINTR) {
			return n > 0
		}
	}
}

// Ready receives when there is something to read, or was: a flush or another
// program may have taken it since.
func (in *Input) Ready() <-chan struct{} { return in.ready }

// Read returns what is there, at most limit bytes unless limit is 0, and
// nothing when it has gone. Call it once for each receive from Ready. seen is
// told them first of all. The bytes are valid until the next call. An error
// means the end of the input: io.EOF, or that the terminal hung up.
func (in *Input) Read(limit int, seen func([]byte)) ([]byte, error) {
	n := 0
	if in.poll(0) {
		buf := in.buf
		if limit > 0 {
			buf = buf[:min(limit, len(buf))]
		}
		var err error
		if n, err = unix.Read(in.fd, buf); errors.Is(err, unix.EINTR) {
			n, err = 0, nil
		} else if err == nil && n == 0 {
			err = io.EOF
		}
		if err != nil {
			return nil, err
		}
		seen(in.buf[:n])
	}
	in.again <- struct{}{}
	return in.buf[:n], nil
}
