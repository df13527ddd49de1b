package process

import (
	"bytes"
	"fmt"
	"os"
)

// Stopped reports whether a process is stopped, as by SIGSTOP. One that somebody traces is not.
func Stopped(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	end := bytes.LastIndexByte(stat, ')') // of its name, which may hold anything
	return err == nil && end >= 0 && bytes.HasPrefix(stat[end+1:], []byte(" T "))
}
