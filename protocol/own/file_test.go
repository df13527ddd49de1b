package own

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestWhatIsNoFileOfOurs is refused at once, with the way out, and left as it is, whatever it is
// opened for.
func TestWhatIsNoFileOfOurs(t *testing.T) {
	for name, c := range map[string]struct {
		make func(path string) error
		says string
	}{
		"a fifo":             {func(path string) error { return unix.Mkfifo(path, 0o600) }, "there is a fifo in the way"},
		"a directory":        {func(path string) error { return os.Mkdir(path, 0o700) }, "there is a directory in the way"},
		"a link":             {func(path string) error { return os.Symlink(path+".else", path) }, "there is a symbolic link in the way"},
		"a link to a device": {func(path string) error { return os.Symlink("/dev/zero", path) }, "there is a symbolic link in the way"},
		"a socket":           {func(path string) error { return unix.Mknod(path, unix.S_IFSOCK|0o600, 0) }, "there is a socket in the way"},
		"one that others can write": {func(path string) error {
			return errors.Join(os.WriteFile(path, []byte("x"), 0o600), os.Chmod(path, 0o622))
		}, "can be written by others (mode 0622)"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			must(t, c.make(path))
			before, err := os.Lstat(path)
			must(t, err)
			for _, flag := range []int{os.O_RDONLY, os.O_RDWR | os.O_CREATE, os.O_WRONLY | os.O_APPEND | os.O_CREATE} {
				opened := make(chan error, 1)
				go func() {
					f, err := Open(path, flag, "move it away")
					if err == nil {
						f.Close()
					}
					opened <- err
				}()
				select {
				case err = <-opened:
				case <-time.After(10 * time.Second):
					t.Fatalf("opened with %#x: no answer, not within ten seconds", flag)
				}
				var bad *PathError
				if !errors.As(err, &bad) || !strings.Contains(bad.Problem, c.says) || !strings.HasSuffix(bad.Hint(), "move it away") {
					t.Errorf("opened with %#x: got %v, want %q", flag, err, c.says)
				}
			}
			if err := Check(path, "move it away"); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("looked at: got %v, want %q", err, c.says)
			}
			after, err := os.Lstat(path)
			must(t, err)
			if !os.SameFile(before, after) || before.Mode() != after.Mode() {
				t.Errorf("it is %v now, was %v", after.Mode(), before.Mode())
			}
			if _, err := os.Lstat(path + ".else"); err == nil {
				t.Error("a link was followed")
			}
		})
	}
}

// TestAFileThatOthersCanRead is closed to them.
func TestAFileThatOthersCanRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(path, []byte("x"), 0o644))
	f, err := Open(path, os.O_RDWR, "")
	must(t, err)
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %v, %v", info.Mode(), err)
	}
}

// TestTrust: a directory that is to last is ours, and nobody else writes into it.
func TestTrust(t *testing.T) {
	for name, c := range map[string]struct {
		make func(dir string) error
		says string // "": nothing
	}{
		"ours": {func(dir string) error { return os.Mkdir(dir, 0o700) }, ""},
		"ours, which others can read": {func(dir string) error {
			return errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o755))
		}, ""},
		"a link of ours to it": {func(dir string) error { return errors.Join(os.Mkdir(dir+".else", 0o700), os.Symlink(dir+".else", dir)) }, ""},
		"one that anybody writes": {func(dir string) error {
			return errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o707))
		}, "can be written by anybody (mode 0707)"},
		"a link to one that anybody writes": {func(dir string) error {
			return errors.Join(os.Mkdir(dir+".else", 0o700), os.Chmod(dir+".else", 0o777), os.Symlink(dir+".else", dir))
		}, "can be written by anybody (mode 0777)"},
		"a file": {func(dir string) error { return os.WriteFile(dir, nil, 0o600) }, "is a file, not a directory"},
		"a fifo": {func(dir string) error { return unix.Mkfifo(dir, 0o600) }, "is a fifo, not a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "dir")
			must(t, c.make(dir))
			switch err := Trust(dir, "--store"); {
			case c.says == "" && err != nil:
				t.Errorf("got %v", err)
			case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
}

// TestWrite: what is in the place of the file is neither followed nor written.
func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	victim := path + ".else"
	must(t, os.WriteFile(victim, []byte("precious"), 0o600))
	must(t, os.Symlink(victim, path))
	must(t, Write(path, []byte("text")))
	if b, err := os.ReadFile(victim); string(b) != "precious" || err != nil {
		t.Errorf("what the link leads to holds %q, %v", b, err)
	}
	if b, err := Tail(path, "", 3); string(b) != "ext" || err != nil {
		t.Errorf("the end of the file is %q, %v", b, err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(left) > 0 || err != nil {
		t.Errorf("%v is left, %v", left, err)
	}
}
