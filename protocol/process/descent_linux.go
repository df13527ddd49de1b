package process

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// stat is what stands in /proc/PID/stat from the state, its third field, on; nil: there is no such
// process.
func stat(pid int) []string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])) // behind the name, which may hold anything
	if len(fields) <= started {
		return nil
	}
	return fields
}

// Where fields stand in what stat returns.
const (
	state   = 0
	parent  = 1
	started = 19
)

// Born is when a process was started, in the system's ticks since it booted, which no change of a
// clock moves; 0 where there is no such process, or one that has ended and waits for its parent.
func Born(pid int) int64 {
	is := stat(pid)
	if is == nil || strings.ContainsAny(is[state], "ZXx") {
		return 0
	}
	return number(is[started])
}

// Start is when a process was started, as the system writes it; "" where there is no such process.
func Start(pid int) string {
	if is := stat(pid); is != nil {
		return is[started]
	}
	return ""
}

// Descent is the process and those that it descends from, the nearest first, without end and what
// is above that; with 0 up to the first of all. Who was orphaned descends from whoever adopted it.
// nil: there is no such process, or the system does not tell.
func Descent(pid, end int) (line []Process) {
	for child := int64(0); pid > 0 && pid != end; {
		is := stat(pid)
		if is == nil || child != 0 && number(is[started]) > child {
			return line // its number is another's by now, who is younger than its child
		}
		line = append(line, Process{pid, Argv(pid)})
		child, pid = number(is[started]), int(number(is[parent]))
	}
	return line
}

// Argv is a process's command line; nil where the system does not tell, or the process has ended.
func Argv(pid int) []string { return words(pid, "cmdline") }

// Environ is the environment that a process was started with; nil where the system does not tell.
func Environ(pid int) []string { return words(pid, "environ") }

// words are what a file of a process holds, each ended by a NUL.
func words(pid int, file string) []string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/" + file)
	if err != nil || len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
}

// number is a field of stat's; 0 for none.
func number(field string) int64 {
	n, _ := strconv.ParseInt(field, 10, 64) // the kernel writes no others
	return n
}

// Below is the process and those below it that belong to it, at most so many. Source:
// proc_tid_children(5).
func Below(pid, most int, belongs func(pid int) bool) []int {
	all := []int{pid}
	for i := 0; i < len(all) && len(all) < most; i++ {
		threads, _ := filepath.Glob("/proc/" + strconv.Itoa(all[i]) + "/task/[0-9]*/children") // the pattern is well formed
		for _, path := range threads {
			children, _ := os.ReadFile(path) // of a thread that has ended: none
			for word := range strings.FieldsSeq(string(children)) {
				if child := int(number(word)); belongs(child) {
					all = append(all, child)
				}
			}
		}
	}
	return all
}

// Masks reports whether a signal is in a mask of a process, or of a thread of ours: SigPnd, SigIgn,
// SigCgt. Source: proc_pid_status(5).
func Masks(pid int, mask string, sig syscall.Signal) bool {
	status, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status") // of one that has ended: none
	_, rest, _ := strings.Cut(string(status), "\n"+mask+":\t")
	line, _, _ := strings.Cut(rest, "\n")
	bits, err := strconv.ParseUint(line, 16, 64)
	return err == nil && bits>>(sig-1)&1 != 0
}
