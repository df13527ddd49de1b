package registry

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"

	"relay-pty/protocol/process"
)

// TestWhoCannotBeReachedIsNotDead: a wrapper whose process lives runs, though its socket is not
// to be seen. One that was killed does not, nor one whose number another process has by now.
func TestWhoCannotBeReachedIsNotDead(t *testing.T) {
	d := dir(t)
	cmd := exec.Command("cat")
	input, err := cmd.StdinPipe()
	must(t, err)
	must(t, cmd.Start())
	alive := Record{Name: "alice", Socket: d + "/unseen", PID: cmd.Process.Pid, PIDStarted: process.Born(cmd.Process.Pid)}
	reused := Record{Name: "bob", Socket: d + "/unseen", PID: cmd.Process.Pid, PIDStarted: alive.PIDStarted - 1}
	older := Record{Name: "carol", Socket: d + "/unseen", PID: cmd.Process.Pid}
	for _, r := range []Record{alive, reused, older} {
		text, err := json.Marshal(r)
		must(t, err)
		must(t, os.WriteFile(in(d, r.Name+".json"), text, 0o600))
	}
	if list, err := List(d); err != nil || named(list) != "alice " {
		t.Errorf("got %q, %v", named(list), err)
	}
	input.Close()
	must(t, unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)) // who has ended may be waited for later
	if list, err := List(d); err != nil || len(list) > 0 {
		t.Errorf("it has ended: got %q, %v", named(list), err)
	}
	must(t, cmd.Wait())
	if me := (Record{}).Itself(); me.PID != os.Getpid() || !me.Lives() {
		t.Errorf("this process: %+v", me)
	}
}
