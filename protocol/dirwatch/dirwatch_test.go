package dirwatch

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must come; only a failure takes that long.
const patience = time.Minute

func changes(t *testing.T, d *Dir, what string) {
	t.Helper()
	select {
	case <-d.Changed():
	case <-time.After(patience):
		t.Fatalf("%s is not told: not within %v", what, patience)
	}
}

func TestChangesAreTold(t *testing.T) {
	mounts = func(func()) func() { return func() {} } // others mount what they like
	defer func() { mounts = Mounts }()
	dir := t.TempDir()
	d, err := Watch(dir, func(name string) bool { return strings.HasSuffix(name, ".json") })
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	act := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "a.json")
	act(os.WriteFile(filepath.Join(dir, "other"), nil, 0o600))
	act(os.WriteFile(filepath.Join(dir, "temp"), []byte("x"), 0o600))
	select {
	case <-d.Changed():
		t.Error("a file that nobody cares for is told")
	default:
	}
	act(os.Rename(filepath.Join(dir, "temp"), file))
	changes(t, d, "a file that came")
	act(os.Remove(file))
	changes(t, d, "a file that went")
	act(os.RemoveAll(dir))
	changes(t, d, "the directory's end")
}

func TestNoDirectory(t *testing.T) {
	if d, err := Watch(filepath.Join(t.TempDir(), "none"), nil); err == nil {
		t.Errorf("got %v", d)
	}
}

// TestNoNotifierIsLeft: other programs have used up what the system lets a user have. The directory
// is watched all the same; one that is not there is still an error.
func TestNoNotifierIsLeft(t *testing.T) {
	notifier = func() (*fsnotify.Watcher, error) {
		return nil, os.NewSyscallError("inotify_init1", syscall.EMFILE)
	}
	defer func() { notifier = fsnotify.NewWatcher }()
	if err := Left(); !errors.Is(err, syscall.EMFILE) {
		t.Errorf("what is left: %v", err)
	}
	dir := t.TempDir()
	d, err := Watch(dir, func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		changes(t, d, "that one should look")
	}
	d.Close()
	if _, err := Watch(filepath.Join(dir, "none"), nil); !os.IsNotExist(errors.Unwrap(err)) {
		t.Errorf("a directory that is not there: %v", err)
	}
}
