package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/protocol/own"
)

// TestWhatIsNoStoreOfOurs is refused at once, with the way out; nothing of it is followed, and what
// is there stays as it is.
func TestWhatIsNoStoreOfOurs(t *testing.T) {
	kinds := map[string]struct {
		put  func(path string) error
		says string
	}{
		"a fifo":      {func(path string) error { return unix.Mkfifo(path, 0o600) }, "there is a fifo in the way"},
		"a directory": {func(path string) error { return os.Mkdir(path, 0o700) }, "there is a directory in the way"},
		"a link":      {func(path string) error { return os.Symlink(path+".else", path) }, "there is a symbolic link in the way"},
		"a device":    {func(path string) error { return os.Symlink("/dev/full", path) }, "there is a symbolic link in the way"},
	}
	for _, file := range []string{"version", "lock", "relay.db", "relay.db-wal", "relay.db-shm", "newest"} {
		for name, c := range kinds {
			t.Run(name+" as "+file, func(t *testing.T) {
				dir := t.TempDir()
				must(t, c.put(filepath.Join(dir, file)))
				refused(t, dir, c.says)
				if _, err := os.Lstat(filepath.Join(dir, file+".else")); err == nil {
					t.Error("the link was followed")
				}
			})
		}
	}
	dir := t.TempDir()
	must(t, os.Chmod(dir, 0o777))
	refused(t, dir, "can be written by anybody (mode 0777)")
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	if _, err := Open(t.Context(), file, month); err == nil {
		t.Error("a file was opened as a store")
	}
}

func refused(t *testing.T, dir, says string) {
	t.Helper()
	_, err := Open(t.Context(), dir, month)
	var way *own.PathError
	if !errors.As(err, &way) || !strings.Contains(err.Error(), says) || way.Hint() == "" {
		t.Errorf("got %v, want %q", err, says)
	}
}

// TestSomebodyElsesStore is not believed: neither its directory, nor a file or a link in it.
func TestSomebodyElsesStore(t *testing.T) {
	var no error
	if os.Geteuid() != 0 {
		no = os.ErrPermission
	}
	testrig.Require(t, "another user, which needs root", no)
	const other = 65534
	for _, file := range []string{"", "version", "lock", "relay.db", "relay.db-wal", "newest"} {
		dir := t.TempDir()
		l := open(t, dir)
		_, err := l.add("state", "bob", []byte("x"))
		must(t, err)
		l.Close()
		for _, missing := range []string{"lock", "relay.db-wal"} {
			must(t, os.WriteFile(filepath.Join(dir, missing), nil, 0o600))
		}
		must(t, os.Lchown(filepath.Join(dir, file), other, other))
		refused(t, dir, "belongs to uid 65534")
	}
	dir := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(t.TempDir(), dir))
	must(t, os.Lchown(dir, other, other))
	refused(t, dir, "is a symbolic link of uid 65534")
}
