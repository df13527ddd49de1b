package pty

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	proc "relay-pty/protocol/process"
)

// killWait is how long a killed agent may take to vanish before we stop waiting; only one stuck in
// the kernel takes that long.
const killWait = time.Second

// process is the agent's process. One goroutine, reap, owns its status. The process id is only used
// under mu and before the process is reaped, so no signal ever goes to a stranger who got the
// number next.
type process struct {
	pid    int
	done   chan struct{} // closed once status is set
	status int
	stops  chan bool

	mu      sync.Mutex // guards what follows
	reaped  bool
	stopped bool
	stands  bool      // it was made to stand still
	turned  time.Time // when it last stopped, or went on
}

func (p *process) init(pid int) {
	p.pid = pid
	p.done = make(chan struct{})
	p.stops = make(chan bool, 1)
}

// LookPath finds the command as a shell would.
func LookPath(args []string) (string, error) {
	if len(args) == 0 || args[0] == "" {
		return "", &exec.Error{Name: "", Err: exec.ErrNotFound}
	}
	path, err := exec.LookPath(args[0])
	if err != nil && !errors.Is(err, exec.ErrDot) { // a "." in PATH is the user's choice
		return "", err
	}
	return path, nil
}

// spawn starts the program on the tty. A file that is executable but no program the kernel knows is
// a shell script, as execvp(3) has it.
func spawn(path string, cfg Config, tty *os.File) (pid int, err error) {
	attr := &syscall.ProcAttr{Env: cfg.Env, Files: []uintptr{0, 1, 2}}
	if !cfg.Plain {
		sealFiles()
		fd := tty.Fd() // also makes it blocking, as a terminal must be
		attr.Files, attr.Sys = []uintptr{fd, fd, fd}, &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	}
	pid, err = syscall.ForkExec(path, cfg.Args, attr)
	if errors.Is(err, syscall.ENOEXEC) {
		pid, err = syscall.ForkExec("/bin/sh", append([]string{"sh", path}, cfg.Args[1:]...), attr)
	}
	if err != nil {
		return 0, &exec.Error{Name: cfg.Args[0], Err: &fs.PathError{Op: "exec", Path: path, Err: err}}
	}
	return pid, nil
}

// reap follows the agent's stops and continues until its end, and then lets everybody know.
func (s *Session) reap() {
	for {
		ws, ok := s.proc.wait()
		switch {
		case !ok:
		case ws.Stopped():
			s.proc.tellStop(true)
			s.wake()
		case ws.Continued():
			s.proc.tellStop(false)
			s.wake()
		default:
			s.proc.status = statusOf(ws)
			close(s.proc.done)
			s.keys.end()
			s.tty.close()                  // from now on the end of output can show
			s.ptmx.in.set(time.Unix(1, 0)) // wakes the output loop, which then drains
			s.wake()
			return
		}
	}
}

// recordLocked keeps what a status says about the process.
func (p *process) recordLocked(ws unix.WaitStatus) {
	if stopped := ws.Stopped(); stopped != p.stopped {
		p.stopped, p.turned = stopped, time.Now()
	}
	p.reaped = !ws.Stopped() && !ws.Continued()
}

// tellStop puts the latest news into the channel, in place of older ones.
func (p *process) tellStop(stopped bool) {
	select {
	case <-p.stops:
	default:
	}
	p.stops <- stopped // there is room: only we send
}

func statusOf(ws unix.WaitStatus) int {
	if ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return ws.ExitStatus()
}

// Done is closed when the agent has ended; its last output may still be on the way, which Run waits
// for.
func (s *Session) Done() <-chan struct{} { return s.proc.done }

// Wait waits for the agent's end, and returns its exit status, 128+n when signal n killed it.
func (s *Session) Wait() int {
	<-s.proc.done
	return s.proc.status
}

// stoppedSince reports whether the agent was stopped at any time since then.
func (s *Session) stoppedSince(then time.Time) bool {
	s.proc.mu.Lock()
	defer s.proc.mu.Unlock()
	return s.proc.stopped || s.proc.stands || s.proc.turned.After(then)
}

// Stopped reports whether the agent is stopped, as by SIGSTOP, or stands still by our word.
func (s *Session) Stopped() bool {
	s.proc.mu.Lock()
	defer s.proc.mu.Unlock()
	return s.proc.stopped || s.proc.stands
}

// Stand stops the agent, or continues it. It counts as stopped in between, though it may never be
// seen to be: a process that waits in vfork(2) for a child which is stopped, before it is another
// program, cannot stop.
func (s *Session) Stand(still bool) error {
	sig := unix.SIGCONT
	if still {
		sig = unix.SIGSTOP
	}
	err := s.Signal(sig)
	s.proc.mu.Lock()
	s.proc.stands, s.proc.turned = still && err == nil, time.Now()
	s.proc.mu.Unlock()
	s.wake()
	return err
}

// Stops tells when the agent stops (true) and goes on (false). Only the latest news is kept. It is
// for one reader, and never closed.
func (s *Session) Stops() <-chan bool { return s.proc.stops }

// Signal sends a signal to the process group in the foreground of the agent's tty, as the
// terminal's line would, and to the agent's own; to the agent's process alone if it is in ours. It
// returns ErrEnded when the agent has ended.
func (s *Session) Signal(sig syscall.Signal) error {
	s.proc.mu.Lock()
	defer s.proc.mu.Unlock()
	if s.proc.reaped {
		return ErrEnded
	}
	// The foreground first: the tty forgets it when the agent dies.
	if fg, err := s.foreground(); err == nil && fg > 0 && fg != s.proc.pid && ours(fg, s.proc.pid) {
		unix.Kill(-fg, sig) // a group that just ended needs no signal
	}
	to := -s.proc.pid
	if s.cfg.Plain {
		to = s.proc.pid
	}
	if err := unix.Kill(to, sig); err != nil {
		return fmt.Errorf("signal agent: %w", err)
	}
	return nil
}

// ours reports whether process group pgrp may be signalled as part of the session. The tty goes on
// naming a group that has ended, and its number may be someone else's by now: then its leader is of
// another session. A group without its leader keeps its number to itself.
func ours(pgrp, session int) bool {
	sid, err := unix.Getsid(pgrp)
	return err != nil || sid == session
}

// groupMost is how many processes of the agent's are looked at.
const groupMost = 32

// Group is the agent's process and, where the system tells, those below it that are in its group:
// in front with it, they read the same terminal.
func (s *Session) Group() []int {
	return proc.Below(s.proc.pid, groupMost, func(pid int) bool {
		pgrp, err := unix.Getpgid(pid)
		return err == nil && pgrp == s.proc.pid
	})
}

// Hangup tells the agent's process group and the foreground one that the terminal is gone, and
// kills them when the agent is still there after grace. It returns when the agent has ended, or one
// second after the kill.
func (s *Session) Hangup(grace time.Duration) {
	if s.Signal(unix.SIGHUP) != nil || s.Signal(unix.SIGCONT) != nil { // a stopped process takes no signal
		return
	}
	if s.endsWithin(grace) {
		return
	}
	if s.Signal(unix.SIGKILL) == nil {
		s.endsWithin(killWait)
	}
}

// endsWithin waits for the agent's end, at most d.
func (s *Session) endsWithin(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-s.proc.done:
		return true
	case <-timer.C:
		return false
	}
}
