package process

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestStopped: a process with an awkward name is stopped from the signal on until it goes on.
func TestStopped(t *testing.T) {
	path := t.TempDir() + "/a) T ("
	sleep, err := exec.LookPath("cat")
	must(t, err)
	must(t, os.Symlink(sleep, path))
	cmd := exec.CommandContext(t.Context(), path)
	in, err := cmd.StdinPipe()
	must(t, err)
	must(t, cmd.Start())
	defer cmd.Wait()
	defer in.Close()
	pid := cmd.Process.Pid
	if Stopped(pid) || Stopped(0) || Stopped(os.Getpid()) {
		t.Error("one that runs is stopped")
	}
	for _, c := range []struct {
		signal syscall.Signal
		told   func(unix.WaitStatus) bool
		want   bool
	}{
		{syscall.SIGSTOP, unix.WaitStatus.Stopped, true}, {syscall.SIGCONT, unix.WaitStatus.Continued, false},
	} {
		must(t, syscall.Kill(pid, c.signal))
		var is unix.WaitStatus
		if _, err := unix.Wait4(pid, &is, unix.WUNTRACED|unix.WCONTINUED, nil); err != nil || !c.told(is) {
			t.Fatalf("after %v: %v, %v", c.signal, is, err)
		}
		if Stopped(pid) != c.want {
			t.Errorf("after %v it is stopped: %v", c.signal, !c.want)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
