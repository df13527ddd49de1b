package pty

import (
	"errors"
	"math"

	"golang.org/x/sys/unix"
)

// wait waits for the next change of the process's status and takes it; ok is false when another look is needed. It first waits without taking, then
// takes under the lock, so that nobody signals a number that was just given back.
func (p *process) wait() (ws unix.WaitStatus, ok bool) {
	err := unix.Waitid(unix.P_PID, p.pid, nil, unix.WEXITED|unix.WSTOPPED|unix.WCONTINUED|unix.WNOWAIT, nil)
	if errors.Is(err, unix.EINTR) {
		return 0, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	pid, err := unix.Wait4(p.pid, &ws, unix.WNOHANG|unix.WUNTRACED|unix.WCONTINUED, nil)
	if err != nil { // only when SIGCHLD is ignored for all of our process: the status is lost, the end is not
		ws, pid = 0, p.pid
	}
	if pid != p.pid {
		return 0, false
	}
	p.recordLocked(ws)
	return ws, true
}

// sealFiles keeps from the agent what we inherited beyond 0, 1 and 2: a stray terminal or lock in it would outlive its owner. Our own files are
// close-on-exec anyway, and kernels before 5.11 leave the others alone.
func sealFiles() {
	unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) // see above
}
