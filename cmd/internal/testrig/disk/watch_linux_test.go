package disk

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig"
)

func TestMain(m *testing.M) {
	testrig.KnownStart()
	os.Exit(m.Run())
}

// watched runs a shell's script in a directory until it and all it started are gone.
func watched(t *testing.T, dir, script string, decide func(int, Call) Verdict) (calls []string, err error) {
	t.Helper()
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = dir
	w, err := Start(dir, false, decide, cmd.Start)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	late := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	defer late.Stop()
	err = cmd.Wait()
	select {
	case <-w.Gone():
	case <-time.After(patience):
		t.Errorf("all processes that were watched are gone: not within %v", patience)
	}
	for _, c := range w.Calls() {
		calls = append(calls, fmt.Sprint(c.What, " ", strings.TrimPrefix(c.Path, dir), " ", string(c.Data), " ", int(c.Err)))
	}
	return calls, err
}

// script uses its directory's name, as a wrapper does.
func script(dir string) string {
	return fmt.Sprintf("echo one >%[1]s/a; echo two >>%[1]s/a; mv %[1]s/a %[1]s/b; cat %[1]s/b >/dev/null", dir)
}

func TestCallsAreSeen(t *testing.T) {
	dir := t.TempDir()
	calls, err := watched(t, dir, script(dir), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"create /a  0", "write /a one\n 0", "write /a two\n 0", "rename /a  0"}
	if fmt.Sprint(calls) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", calls, want)
	}
}

func TestVerdicts(t *testing.T) {
	for name, c := range map[string]struct {
		at   int
		v    Verdict
		file string // what is in a, or in b
		ends string
	}{
		"a call fails":       {2, Verdict{Errno: syscall.ENOSPC}, "two\n", "<nil>"},
		"a write is cut off": {2, Verdict{Errno: syscall.ENOSPC, Short: 2}, "ontwo\n", "<nil>"},
		"a write is short":   {2, Verdict{Short: 2}, "one\ntwo\n", "<nil>"}, // the shell writes the rest
		"killed before":      {3, Verdict{Kill: true}, "one\n", "signal: killed"},
		"killed within":      {3, Verdict{Kill: true, Short: 1}, "one\nt", "signal: killed"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			_, err := watched(t, dir, script(dir), func(n int, _ Call) Verdict {
				if n == c.at {
					return c.v
				}
				return Verdict{}
			})
			if fmt.Sprint(err) != c.ends {
				t.Errorf("it ended with %v, want %s", err, c.ends)
			}
			b, err := os.ReadFile(filepath.Join(dir, "b"))
			if err != nil {
				b, err = os.ReadFile(filepath.Join(dir, "a"))
			}
			if err != nil || string(b) != c.file {
				t.Errorf("the file is %q, %v, want %q", b, err, c.file)
			}
		})
	}
}

// TestNotedIsDone: what was noted of a process was done, at whatever moment it is killed.
func TestNotedIsDone(t *testing.T) {
	for i := range 100 {
		dir := t.TempDir()
		cmd := exec.Command("sh", "-c", fmt.Sprintf("while :; do echo one >>%s/a; done", dir))
		enough := make(chan struct{})
		w, err := Start(dir, false, func(n int, _ Call) Verdict {
			if n == 10+i%3 {
				close(enough)
			}
			return Verdict{}
		}, cmd.Start)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		select {
		case <-enough:
		case <-time.After(patience):
			t.Errorf("the process writes: not within %v", patience)
		}
		cmd.Process.Kill()
		cmd.Wait() // it was killed
		select {
		case <-w.Gone():
		case <-time.After(patience):
			t.Fatalf("the killed process is gone: not within %v", patience)
		}
		noted := ""
		for _, c := range w.Calls() {
			noted += string(c.Data)
		}
		if b, err := os.ReadFile(filepath.Join(dir, "a")); err != nil || string(b) != noted {
			t.Fatalf("run %d: the file is %q, %v, noted was %q", i, b, err, noted)
		}
	}
}
