package registry

import (
	"bytes"
	"os"
	"strconv"
)

// born is when a process was started, in the system's ticks since it booted, which no change of a
// clock moves; 0 where there is no such process, or one that has ended and waits for its parent.
func born(pid int) int64 {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:]) // from the third on: the second may hold anything
	const state, started = 0, 19
	if len(fields) <= started || bytes.ContainsAny(fields[state], "ZXx") {
		return 0
	}
	ticks, err := strconv.ParseInt(string(fields[started]), 10, 64)
	if err != nil {
		return 0
	}
	return ticks
}
