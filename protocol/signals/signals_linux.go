package signals

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"relay-pty/protocol/process"
)

// What the kernel does, as its struct sigaction begins with it.
const (
	Default Action = 0 // SIG_DFL
	Ignore  Action = 1 // SIG_IGN
)

// Act has the kernel do that at the signals, until it is undone.
func Act(what Action, sigs ...syscall.Signal) (undo func()) {
	old := make([][8]uint64, len(sigs)) // struct sigaction and more
	for i, s := range sigs {
		set(s, &[8]uint64{uint64(what)}, &old[i])
	}
	return func() {
		for i, s := range sigs {
			set(s, &old[i], nil)
		}
	}
}

func set(sig syscall.Signal, act, old *[8]uint64) {
	unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(act)), uintptr(unsafe.Pointer(old)), 8, 0, 0) // fails on bad arguments only
}

// settleMost is how long Settle waits for a thread; a handler takes microseconds.
const settleMost = 5 * time.Second

// Settle waits until each signal handler that runs now has returned. Handlers of Go's runtime block
// all signals while they run. So a thread takes a SIGURG, of which the runtime sends itself many,
// only when its handler has returned, also where the kernel has just begun to call the handler.
func Settle() error {
	threads, err := filepath.Glob("/proc/self/task/[0-9]*") // the pattern is sound
	if err != nil || len(threads) == 0 {
		return fmt.Errorf("wait for signal handlers: /proc/self/task cannot be read: %w", os.ErrNotExist)
	}
	tids := make([]int, len(threads))
	for i, dir := range threads {
		tids[i], _ = strconv.Atoi(filepath.Base(dir))  // as the kernel writes it
		unix.Tgkill(os.Getpid(), tids[i], unix.SIGURG) // gone: then it handles nothing
	}
	for _, tid := range tids {
		for late := time.Now().Add(settleMost); process.Masks(tid, "SigPnd", unix.SIGURG); runtime.Gosched() {
			if time.Now().After(late) {
				return fmt.Errorf("wait for signal handlers: thread %d has taken no signal for %v", tid, settleMost)
			}
		}
	}
	return nil
}
