package testrig

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Switches are the context switches of all threads of a process since they began (proc(5),
// /proc/PID/task/TID/status): an idle process has no new ones.
func Switches(t testing.TB, pid int) (sum int) {
	t.Helper()
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil || len(tasks) == 0 {
		t.Fatalf("process %d has no threads: %v", pid, err)
	}
	for _, task := range tasks {
		for name, value := range figures(t, task) {
			if strings.HasSuffix(name, "ctxt_switches") {
				sum += value
			}
		}
	}
	return sum
}

// Memory is the PSS of a process in KiB: what it shares with others is divided among them (proc(5),
// /proc/PID/smaps_rollup).
func Memory(t testing.TB, pid int) int {
	t.Helper()
	kib, ok := figures(t, fmt.Sprintf("/proc/%d/smaps_rollup", pid))["Pss"]
	if !ok {
		t.Fatalf("the kernel does not tell the memory of process %d", pid)
	}
	return kib
}

// figures are the numbers of a file whose lines are a name, a colon and a number.
func figures(t testing.TB, path string) map[string]int {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]int{}
	for line := range strings.Lines(string(text)) {
		name, rest, _ := strings.Cut(line, ":")
		if word := strings.Fields(rest); len(word) > 0 {
			if n, err := strconv.Atoi(word[0]); err == nil {
				all[name] = n
			}
		}
	}
	return all
}
