package process

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestDescent: a process descends from the one that started it, up to the end that is asked for.
// Who was orphaned does not descend from it any more, and who has ended from nobody.
func TestDescent(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `sh -c 'echo $$; read line; echo $PPID; cat >/dev/null; :' inner <&3 & read line <&4; :`)
	near, child := pipe(t)
	hold, shell := pipe(t)
	cmd.ExtraFiles = []*os.File{child, shell}
	cmd.Env = append(os.Environ(), "MARK=here")
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	read := bufio.NewReader(out)
	var inner int
	_, err = fmt.Fscanln(read, &inner)
	must(t, err)

	line := Descent(inner, os.Getpid())
	if len(line) != 2 || line[0].PID != inner || line[1].PID != cmd.Process.Pid {
		t.Fatalf("of %d: got %v, want it and %d", inner, line, cmd.Process.Pid)
	}
	if got := line[0].Argv; len(got) != 4 || got[3] != "inner" {
		t.Errorf("got %q", got)
	}
	if all := Descent(inner, 0); len(all) < 3 || all[2].PID != os.Getpid() {
		t.Errorf("without an end: got %v", all)
	}
	if got := Environ(inner); !slices.Contains(got, "MARK=here") {
		t.Errorf("the environment is %q", got)
	}
	if Born(inner) < Born(cmd.Process.Pid) || Born(inner) == 0 {
		t.Errorf("born %d, of %d", Born(inner), Born(cmd.Process.Pid))
	}

	must(t, hold.Close())
	must(t, cmd.Process.Kill())
	must(t, unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil))
	if got := Descent(inner, os.Getpid()); slices.ContainsFunc(got, func(p Process) bool { return p.PID == cmd.Process.Pid }) {
		t.Errorf("an orphan: got %v", got)
	}
	must(t, near.Close())
	if rest, err := read.ReadString('\n'); strings.TrimSpace(rest) == "" {
		t.Errorf("the orphan has not ended: %q, %v", rest, err)
	}
	cmd.Wait() // it was killed
	if got := Descent(cmd.Process.Pid, 0); got != nil || Born(cmd.Process.Pid) != 0 {
		t.Errorf("who has ended: got %v", got)
	}
}

// pipe is one whose writing end is near.
func pipe(t *testing.T) (near, far *os.File) {
	t.Helper()
	far, near, err := os.Pipe()
	must(t, err)
	t.Cleanup(func() { near.Close(); far.Close() }) // the second time fails
	return near, far
}
