// Package proc reads from /proc (proc(5)) what the system tells of processes. Where
// there is none, nothing is known of them.
package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"relay-pty/protocol/process"
)

// Group returns child and those of its descendants that are in its session
// (setsid), which leaves out servers and what an agent's tools run.
func Group(child int) []int {
	session := sessionOf(child)
	return process.Below(child, 64, func(pid int) bool {
		sid, err := unix.Getsid(pid)
		return err == nil && sid == session
	})
}

// sessionOf is the session that pid is in; a child of ours leads its own.
func sessionOf(pid int) int {
	if sid, err := unix.Getsid(pid); err == nil {
		return sid
	}
	return pid
}

// Written returns the paths of the files that pid has open for writing and match says yes
// to. The permissions of the links beneath /proc/PID/fd tell how each file was opened (proc(5)).
func Written(pid int, match func(path string) bool) []string {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	fds, _ := os.ReadDir(dir)
	var found []string
	for _, fd := range fds {
		path, err := os.Readlink(filepath.Join(dir, fd.Name()))
		if err != nil || !match(path) || slices.Contains(found, path) {
			continue
		}
		if link, err := fd.Info(); err == nil && link.Mode()&0o200 != 0 {
			found = append(found, path)
		}
	}
	return found
}

// Directory is where pid works, or we do where the system does not tell.
func Directory(pid int) string {
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	if err != nil {
		path, _ = os.Getwd()
	}
	return path
}

// Same reports whether path names the directory dir, as the system tells it, perhaps
// by a link.
func Same(path, dir string) bool {
	if path == dir {
		return true
	}
	real, err := filepath.EvalSymlinks(path)
	return err == nil && real == dir
}

// runs reports whether pid runs a program of that name, itself or by an interpreter of its file,
// and its first argument is not but, if that is not empty. What merely starts the program, as
// `timeout 9 claude` or `sh -c claude`, does not run it.
func runs(pid int, name, but string) bool {
	args, at := process.Argv(pid), 0
	if len(args) == 0 {
		return false
	}
	if !named(args[0], name) && slices.Contains(interpreters, filepath.Base(args[0])) {
		at = 1 + slices.IndexFunc(args[1:], func(arg string) bool { return !strings.HasPrefix(arg, "-") })
		if at == 0 || slices.Contains(args[:at], "-c") {
			return false
		}
	}
	served := but != "" && at+1 < len(args) && args[at+1] == but
	return named(args[at], name) && !served
}

// interpreters run an agent's program from a file that they are given.
var interpreters = []string{"node", "nodejs", "bun", "deno", "sh", "bash", "dash"}

func named(path, name string) bool {
	base := filepath.Base(path)
	return strings.TrimSuffix(base, filepath.Ext(base)) == name
}

// Main is the process of that name among child's group, else child.
func Main(child int, name string) int {
	for _, pid := range Group(child) {
		if runs(pid, name, "") {
			return pid
		}
	}
	return child
}

// Rivals returns the processes, other than the agent's own and their ancestors, that run a program
// of that name in dir, but for those whose first argument is serves. It is false where the system
// does not tell.
func Rivals(child int, name, serves, dir string) (pids []int, known bool) {
	own, session := map[int]bool{}, sessionOf(child)
	for _, above := range process.Descent(child, 1) {
		own[above.PID] = true
	}
	paths, _ := filepath.Glob("/proc/[0-9]*")
	for _, path := range paths {
		pid, _ := strconv.Atoi(filepath.Base(path))
		if own[pid] || !runs(pid, name, serves) || Directory(pid) != dir {
			continue
		}
		if sid, err := unix.Getsid(pid); err == nil && sid != session {
			pids = append(pids, pid)
		}
	}
	return pids, len(paths) > 0
}

// Older says by how many seconds pid is older than child; less than 0 when it
// is younger, and when it is not known.
func Older(pid, child int) float64 {
	a, err := strconv.Atoi(process.Start(pid))
	b, err2 := strconv.Atoi(process.Start(child))
	if err != nil || err2 != nil {
		return -1
	}
	return float64(b-a) / 100 // clock ticks
}

// StartOf is field 22 of /proc/PID/stat (proc(5)), or fallback where there is no
// such file system.
func StartOf(pid int, fallback string) string {
	if start := process.Start(pid); start != "" {
		return start
	}
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		return fallback
	}
	return ""
}
