package testrig

import (
	"os"
	"syscall"
	"testing"
	"time"

	"relay-pty/inject/agents/rig"
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
	for left := []int(nil); ; left = rig.Inhabitants(dir, left) { // to look at everybody takes long
		if len(left) == 0 {
			left = rig.Inhabitants(dir, rig.Everybody())
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
