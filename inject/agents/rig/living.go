package rig

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// Everybody is all other processes; nobody where the system has no /proc.
func Everybody() (pids []int) {
	paths, _ := filepath.Glob("/proc/[0-9]*") // the pattern is well formed
	for _, path := range paths {
		if pid, _ := strconv.Atoi(filepath.Base(path)); pid != os.Getpid() { // a number by the pattern
			pids = append(pids, pid)
		}
	}
	return pids
}

// Inhabitants are those of the processes whose environment names a directory, by its whole path, or
// what is in it.
func Inhabitants(dir string, among []int) (pids []int) {
	if !filepath.IsAbs(dir) || filepath.Clean(dir) == "/" {
		return nil // every environment names that
	}
	for _, pid := range among {
		env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err != nil {
			continue // gone, or not ours
		}
		if bytes.Contains(env, []byte(dir+"/")) || bytes.Contains(env, []byte(dir+"\x00")) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Vacate waits until nobody lives in a directory, and kills who does after grace. An agent starts
// processes that end a moment after it, some of them in groups of their own.
func Vacate(dir string, grace time.Duration) {
	const again, killWait = 20 * time.Millisecond, time.Second
	if real, err := filepath.EvalSymlinks(dir); err == nil { // which homes are made of
		dir = real
	}
	left := Inhabitants(dir, Everybody())
	for began := time.Now(); len(left) > 0 && time.Since(began) < grace+killWait; left = Inhabitants(dir, left) {
		for _, pid := range left {
			if time.Since(began) > grace {
				syscall.Kill(pid, syscall.SIGKILL) // gone meanwhile: well
			}
		}
		<-time.After(again)
	}
}
