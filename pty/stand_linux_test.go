package pty

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func init() { roles["vfork"] = vforkRole }

// vforkRole waits for a child that never becomes another program, as vfork(2) has it.
func vforkRole([]string) int {
	fmt.Println("up")
	child, _, errno := syscall.RawSyscall6(unix.SYS_CLONE, unix.CLONE_VFORK|uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	for child == 0 && errno == 0 {
		syscall.RawSyscall6(unix.SYS_PPOLL, 0, 0, 0, 0, 0, 0) // ends with a signal only
	}
	return 1
}

// vforks reports whether a thread of the process sleeps where no signal wakes it.
func vforks(t *testing.T, pid int) bool {
	t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	must(t, err)
	return slices.ContainsFunc(threads, func(name string) bool {
		stat, _ := os.ReadFile(name) // a thread may have ended
		return bytes.Contains(stat, []byte(") D "))
	})
}

// TestStandsInVfork: an agent counts as stopped from when it was made to stand still, though it
// cannot stop as long as it waits for a child that has stopped.
func TestStandsInVfork(t *testing.T) {
	r := begin(t, role(t, "vfork"))
	r.says("up")
	becomes(t, "it waits for the child", func() bool { return vforks(t, r.PID()) })
	changed := r.Watch()
	for _, still := range []bool{true, false} {
		select {
		case <-changed:
		default:
		}
		if err := r.Stand(still); err != nil || r.Stopped() != still {
			t.Errorf("made to stand still, %v: %v, stopped %v", still, err, r.Stopped())
		}
		<-changed
	}
	if !vforks(t, r.PID()) {
		t.Error("it does not wait for the child any more")
	}
	r.Signal(unix.SIGKILL)
	r.finish()
	if err := r.Stand(true); err == nil || r.Stopped() {
		t.Errorf("after its end: %v, stopped %v", err, r.Stopped())
	}
}
