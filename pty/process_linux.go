package pty

import (
	"errors"

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
