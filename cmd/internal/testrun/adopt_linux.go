package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// adopt makes this process the parent of all that its descendants leave
// behind; see prctl(2), PR_SET_CHILD_SUBREAPER.
func adopt() {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		fmt.Println("testrun: processes left behind are not seen:", err)
	}
}

// orphans waits until no child is left, at most for a while, then kills those
// that are, with all below them, and returns them.
func orphans(while time.Duration) []leaving {
	over := time.After(while)
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for reap() {
		select {
		case <-look.C:
		case <-over:
			return end()
		}
	}
	return nil
}

// reap takes in children that have ended; it returns whether any is left.
func reap() bool {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if err == syscall.EINTR || pid > 0 {
			continue
		}
		return err == nil
	}
}

// end kills the children that are left. Theirs become ours, and are killed in
// turn, until none is left.
func end() []leaving {
	var out []leaving
	known := map[int]bool{}
	for deadline := time.Now().Add(dying); reap() && time.Now().Before(deadline); {
		for _, pid := range children() {
			if !known[pid] {
				known[pid] = true
				out = append(out, process(pid))
			}
			syscall.Kill(pid, syscall.SIGKILL) // it may just have ended
		}
		<-time.After(5 * time.Millisecond)
	}
	return out
}

// children are the processes whose parent is a thread of this one.
func children() []int {
	tasks, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		return nil
	}
	var out []int
	for _, task := range tasks {
		b, _ := os.ReadFile(task) // a thread may end meanwhile
		for _, f := range strings.Fields(string(b)) {
			if pid, err := strconv.Atoi(f); err == nil {
				out = append(out, pid)
			}
		}
	}
	return out
}

// process describes a process: its command, and when it began.
func process(pid int) leaving {
	cmd, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // empty is told, too
	line := strings.TrimSpace(string(bytes.ReplaceAll(cmd, []byte{0}, []byte{' '})))
	return leaving{what: fmt.Sprintf("process %d %s", pid, clip(line)), started: started(pid)}
}

// started is when a process began, by the kernel's count of ticks since it
// booted; see proc(5), field 22 of stat.
func started(pid int) time.Time {
	const ticks = 100 // a second; Linux shows user space no other
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, ok := strings.Cut(string(stat), ") ")
	up, uerr := os.ReadFile("/proc/uptime")
	f := strings.Fields(rest)
	if err != nil || uerr != nil || !ok || len(f) < 20 {
		return time.Now()
	}
	since, _ := strconv.ParseFloat(f[19], 64) // 0 for what the kernel did not write
	now, _ := strconv.ParseFloat(strings.Fields(string(up))[0], 64)
	return time.Now().Add(-time.Duration((now - since/ticks) * float64(time.Second)))
}
