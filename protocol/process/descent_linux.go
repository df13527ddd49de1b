package process

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// stat is what stands in /proc/PID/stat from the state, its third field, on; nil: there is no such
// process.
func stat(pid int) [][]byte {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:]) // behind the name, which may hold anything
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
	if is == nil || bytes.ContainsAny(is[state], "ZXx") {
		return 0
	}
	return number(is[started])
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
		line = append(line, Process{pid, words(pid, "cmdline")})
		child, pid = number(is[started]), int(number(is[parent]))
	}
	return line
}

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

func number(field []byte) int64 {
	n, err := strconv.ParseInt(string(field), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
