package pty

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// wait waits for the next change of the process's status and takes it; ok is false when another
// look is needed. It first waits without taking, then takes under the lock, so that nobody signals
// a number that was just given back.
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

// sealFiles keeps from the agent what we inherited beyond 0, 1 and 2: a stray terminal or lock in
// it would outlive its owner. Our own files are close-on-exec anyway, and kernels before 5.11 leave
// the others alone.
func sealFiles() {
	unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) // see above
}

// WaitsInRead reports whether the agent's process waits in a read of its terminal. It looks at the
// process's first thread alone, and where the kernel does not tell, nobody asks.
func (s *Session) WaitsInRead() bool { return s.ReadPlace() != "" }

// ReadPlace tells the place in the agent's program that waits in a read from others that do: by how
// many bytes it wants, and whether into its stack. "" when none waits, or the kernel does not tell.
func (s *Session) ReadPlace() string {
	how, _ := s.reads(procDir(s.proc.pid))
	return how
}

// Reads reports whether any thread waits in a read of the terminal of the agent's process and of
// those that it has started in the same group. Where the kernel does not tell, one may.
func (s *Session) Reads() bool {
	for _, pid := range s.Group() {
		threads, err := filepath.Glob(procDir(pid) + "/task/[0-9]*")
		for _, dir := range threads {
			how, known := s.reads(dir)
			if how != "" || !known {
				return true
			}
		}
		if err != nil || len(threads) == 0 && pid == s.proc.pid {
			return true
		}
	}
	return false
}

// reads says how a thread waits in a read of the agent's terminal, "" if it does not, if the kernel
// tells. Source: proc_pid_syscall(5), the number of the call, its six arguments, the stack pointer,
// and where it is.
func (s *Session) reads(dir string) (how string, known bool) {
	call, err := os.ReadFile(dir + "/syscall")
	if err != nil {
		return "", errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ESRCH) // it has ended
	}
	words := strings.Fields(string(call))
	if len(words) < 8 || words[0] != strconv.Itoa(unix.SYS_READ) {
		return "", true
	}
	file, err := os.Readlink(dir + "/fd/" + strconv.FormatUint(hex(words[1]), 10))
	if err != nil || file != s.tty.name() {
		return "", true
	}
	return words[3] + " " + strconv.FormatBool(hex(words[2])-hex(words[7]) < stackSize), true
}

// stackSize is more than the part of a stack that a program uses, and less than what parts it from
// all else.
const stackSize = 8 << 20

// hex is the number in a word of the kernel's, as 0x1f.
func hex(word string) uint64 {
	n, _ := strconv.ParseUint(strings.TrimPrefix(word, "0x"), 16, 64) // the kernel writes no others
	return n
}

func procDir(pid int) string { return "/proc/" + strconv.Itoa(pid) }
