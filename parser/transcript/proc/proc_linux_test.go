package proc

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// family is a shell in a session of its own, that reads a file and writes another, with a cat that
// it started; another cat has a session of its own.
func family(t *testing.T, dir string) (shell int) {
	t.Helper()
	for _, name := range []string{"near", "far"} {
		must(t, unix.Mkfifo(filepath.Join(dir, name), 0o600))
	}
	must(t, os.WriteFile(filepath.Join(dir, "log"), nil, 0o600))
	far := exec.Command("cat", "far")
	far.Dir, far.SysProcAttr = dir, &syscall.SysProcAttr{Setsid: true}
	must(t, far.Start())
	t.Cleanup(func() { far.Process.Kill(); far.Wait() }) // it was killed
	cmd := exec.Command("sh", "-c", "exec 3<log 4>>own; cat near & echo begun; wait")
	cmd.Dir, cmd.SysProcAttr = dir, &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); cmd.Wait() }) // they were killed
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"near", "far"} {
		pipe, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY, 0) // opens when cat reads it
		must(t, err)
		t.Cleanup(func() { pipe.Close() })
	}
	return cmd.Process.Pid
}

func TestFamily(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	shell := family(t, dir)
	group := Group(shell)
	if len(group) != 2 || group[0] != shell {
		t.Fatalf("the group of %d is %v, want it and a cat", shell, group)
	}
	near := group[1]
	if got := Main(shell, "cat"); got != near {
		t.Errorf("cat is %d, want %d", got, near)
	}
	if got := Main(shell, "nobody"); got != shell {
		t.Errorf("a program that does not run is %d, want the child, %d", got, shell)
	}
	rivals, known := Rivals(shell, "cat", "", dir)
	if !known || len(rivals) != 1 || slices.Contains(group, rivals[0]) {
		t.Fatalf("the rivals are %v, %v, want the one cat that left", rivals, known)
	}
	if got, _ := Rivals(shell, "cat", "far", dir); len(got) > 0 {
		t.Errorf("without those whose argument is far there are %v", got)
	}
	if got, _ := Rivals(shell, "cat", "near", dir); !slices.Equal(got, rivals) {
		t.Errorf("without those whose argument is near there are %v", got)
	}
	if got, _ := Rivals(shell, "cat", "", "/"); len(got) > 0 && slices.Contains(got, rivals[0]) {
		t.Errorf("in another directory there are %v", got)
	}
	if got := Directory(near); got != dir {
		t.Errorf("cat works in %s, want %s", got, dir)
	}
	own := filepath.Join(dir, "own")
	if got := Written(shell, func(path string) bool { return filepath.Dir(path) == dir }); !slices.Equal(got, []string{own}) {
		t.Errorf("the shell writes %v, want %s", got, own)
	}
}

func TestAges(t *testing.T) {
	us, child := os.Getpid(), family(t, t.TempDir())
	if a, b := Older(us, child), Older(child, us); a < 0 || b > 0 || a != -b {
		t.Errorf("we are %v s older than our child, it %v s older than we", a, b)
	}
	const nobody = 1 << 22 // the most that a process can have, and one more
	if got := Older(nobody, child); got >= 0 {
		t.Errorf("a process that does not exist is %v s older", got)
	}
	if got := StartOf(nobody, "fallback"); got != "" {
		t.Errorf("a process that does not exist began at %q", got)
	}
	if _, err := strconv.Atoi(StartOf(us, "fallback")); err != nil {
		t.Errorf("we began at %v", err)
	}
}

func TestSame(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(dir, link))
	for path, want := range map[string]bool{dir: true, link: true, filepath.Dir(dir): false, filepath.Join(dir, "none"): false} {
		if got := Same(path, dir); got != want {
			t.Errorf("Same(%s, %s) = %v", path, dir, got)
		}
	}
}
