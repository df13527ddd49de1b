package disk

import (
	"fmt"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// calls are the system calls that are told of. Openat only where it may make a file.
func calls(tells bool) []uint32 {
	list := []uint32{
		unix.SYS_PWRITE64, unix.SYS_FTRUNCATE, unix.SYS_FDATASYNC, unix.SYS_FSYNC, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2,
		unix.SYS_LINKAT, unix.SYS_UNLINKAT, unix.SYS_MKDIRAT, unix.SYS_WRITE,
	}
	if tells {
		list = append(list, unix.SYS_SENDTO, unix.SYS_SENDMSG, unix.SYS_WRITEV)
	}
	return list
}

// Where seccomp_data has its fields.
const (
	dataCall, dataArch, dataArgs = 0, 4, 16

	openFlags = dataArgs + 2*8 // the lower half, in the byte order of amd64 and arm64
)

var architectures = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}

// program is a filter that lets all calls pass but those, which a listener is told of.
func program(list []uint32) ([]unix.SockFilter, error) {
	arch, ok := architectures[runtime.GOARCH]
	if !ok {
		return nil, fmt.Errorf("no filter for %s", runtime.GOARCH)
	}
	jump := func(op uint16, k uint32, yes, no int) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | op | unix.BPF_K, K: k, Jt: uint8(yes), Jf: uint8(no)}
	}
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	end := func(action uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
	}
	n := len(list)
	p := []unix.SockFilter{load(dataArch), jump(unix.BPF_JEQ, arch, 0, n+4), load(dataCall)} // n+4: to allow
	for i, call := range list {
		p = append(p, jump(unix.BPF_JEQ, call, n-i+3, 0)) // to notify
	}
	return append(p,
		jump(unix.BPF_JEQ, unix.SYS_OPENAT, 0, 2),
		load(openFlags),
		jump(unix.BPF_JSET, unix.O_CREAT, 1, 0),
		end(unix.SECCOMP_RET_ALLOW),
		end(unix.SECCOMP_RET_USER_NOTIF),
	), nil
}

// install puts the filter on this thread and all that it starts, and returns the listener.
func install(p []unix.SockFilter) (fd int, err error) {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return 0, err
	}
	prog := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	set := func(flags uintptr) (uintptr, syscall.Errno) {
		r, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&prog)))
		return r, errno
	}
	// Without the second flag, new in Linux 5.19, a signal may make a call be told of twice.
	r, errno := set(unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV)
	if errno == unix.EINVAL {
		r, errno = set(unix.SECCOMP_FILTER_FLAG_NEW_LISTENER)
	}
	if errno != 0 {
		return 0, fmt.Errorf("seccomp: %w", errno)
	}
	return int(r), nil
}
