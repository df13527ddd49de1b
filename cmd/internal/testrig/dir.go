package testrig

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// leaving is how long the processes that live in a directory may take to end before they are
// killed: real agents write their last files after the hangup.
const leaving = 10 * time.Second

// Dir is a directory with a short name, for sockets and for homes of agents. It goes when the
// test ends, with the processes whose environment names it: make it before what uses it.
func Dir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "rp")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { vacate(t, dir) })
	return dir
}

// vacate removes a directory when nobody lives in it any more.
func vacate(t testing.TB, dir string) {
	t.Helper()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	began := time.Now()
	for left := []int(nil); ; left = inhabitants(dir, left) { // to look at everybody takes long
		if len(left) == 0 {
			left = inhabitants(dir, everybody())
		}
		if len(left) == 0 && os.RemoveAll(dir) == nil {
			return
		}
		took := time.Since(began)
		if took > leaving {
			for _, pid := range left {
				syscall.Kill(pid, syscall.SIGKILL) // gone meanwhile: well
			}
		}
		if took > 3*leaving {
			t.Errorf("the end of all that write into %s: not within %v", dir, took)
			return
		}
		<-again.C
	}
}

// everybody is all other processes; nobody where the system has no /proc.
func everybody() (pids []int) {
	paths, _ := filepath.Glob("/proc/[0-9]*") // the pattern is well formed
	for _, path := range paths {
		if pid, _ := strconv.Atoi(filepath.Base(path)); pid != os.Getpid() { // a number by the pattern
			pids = append(pids, pid)
		}
	}
	return pids
}

// inhabitants are those of the processes whose environment names a directory or what is in it.
func inhabitants(dir string, among []int) (pids []int) {
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
