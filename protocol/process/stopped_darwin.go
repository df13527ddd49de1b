package process

import "golang.org/x/sys/unix"

// sstop is SSTOP of <sys/proc.h>.
const sstop = 4

// Stopped reports whether a process is stopped, as by SIGSTOP.
func Stopped(pid int) bool {
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	return err == nil && p.Proc.P_stat == sstop
}
