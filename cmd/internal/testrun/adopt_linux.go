package main

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// adopt makes this process the parent of what its descendants leave behind, and lets SIGTERM come
// when its own parent ends, for go run passes no signal on; see prctl(2).
func adopt() error {
	return errors.Join(unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGTERM), 0, 0, 0))
}

// orphans waits a while for the children that are left, then kills the others and returns their
// command lines. Children of a killed process become ours, and are killed in turn.
func orphans() (left []string) {
	known := map[string]bool{}
	for began := time.Now(); reap() && time.Since(began) < 2*dying; <-time.After(10 * time.Millisecond) {
		tasks, _ := filepath.Glob("/proc/self/task/*/children") // the pattern is sound
		for _, task := range tasks {
			children, _ := os.ReadFile(task) // a thread may just have ended, and so may a process
			for _, pid := range strings.Fields(string(children)) {
				if time.Since(began) < dying {
					continue
				}
				if line, _ := os.ReadFile("/proc/" + pid + "/cmdline"); !known[pid] {
					left = append(left, "process "+pid+" "+strings.ReplaceAll(string(line), "\x00", " "))
				}
				known[pid] = true
				if n, err := strconv.Atoi(pid); err == nil {
					syscall.Kill(n, syscall.SIGKILL)
				}
			}
		}
	}
	return left
}

// reap takes in children that have ended, and reports whether any is left.
func reap() bool {
	for {
		if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid <= 0 {
			return err == nil
		}
	}
}
