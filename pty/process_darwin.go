package pty

import (
	"errors"

	"golang.org/x/sys/unix"
)

// wait waits for the next change of the process's status and takes it; ok is false when another
// look is needed. Unlike on Linux there is an instant between the taking and the lock in which a
// signal could go to a new owner of the number.
func (p *process) wait() (ws unix.WaitStatus, ok bool) {
	_, err := unix.Wait4(p.pid, &ws, unix.WUNTRACED, nil)
	if errors.Is(err, unix.EINTR) {
		return 0, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil { // only when SIGCHLD is ignored for all of our process: the status is lost, the end is not
		ws = 0
	}
	p.recordLocked(ws)
	return ws, true
}

// sealFiles does nothing: there is no call for it here, and our own files are close-on-exec.
func sealFiles() {}

// WaitsInRead is false: nothing tells here what a process waits for.
func (s *Session) WaitsInRead() bool { return false }

// ReadPlace is empty for the same reason.
func (s *Session) ReadPlace() string { return "" }

// Reads is true: something may.
func (s *Session) Reads() bool { return true }
