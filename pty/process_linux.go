package pty

import (
	"errors"
	"math"
	"os"
	"strconv"
	"strings"

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

// Asks says whether the agent's process waits in a read of its terminal. It looks at the process's first thread alone, and where the kernel does not tell,
// nobody asks. Source: proc_pid_syscall(5), the number of the call and its arguments.
func (s *Session) Asks() bool {
	dir := "/proc/" + strconv.Itoa(s.proc.pid)
	call, err := os.ReadFile(dir + "/syscall")
	if err != nil {
		return false
	}
	number, rest, _ := strings.Cut(string(call), " ")
	if number != strconv.Itoa(unix.SYS_READ) {
		return false
	}
	fd, _, _ := strings.Cut(strings.TrimPrefix(rest, "0x"), " ")
	n, err := strconv.ParseUint(fd, 16, 32)
	if err != nil {
		return false
	}
	file, err := os.Readlink(dir + "/fd/" + strconv.FormatUint(n, 10))
	return err == nil && file == s.tty.name()
}
