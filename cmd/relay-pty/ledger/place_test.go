package ledger

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"relay-pty/protocol/own"
	"relay-pty/queue"
)

// TestWhatIsNoJournalOfOurs: the wrapper starts at once, says what is in the way of its journal and
// what to do, and takes no messages; nothing is followed.
func TestWhatIsNoJournalOfOurs(t *testing.T) {
	at := func(dir string) string { return filepath.Join(dir, "alice.journal") }
	for name, c := range map[string]struct {
		put  func(dir string) error
		says string
	}{
		"a fifo":             {func(dir string) error { return unix.Mkfifo(at(dir), 0o600) }, "there is a fifo in the way"},
		"a directory":        {func(dir string) error { return os.Mkdir(at(dir), 0o700) }, "there is a directory in the way"},
		"a link":             {func(dir string) error { return os.Symlink(dir+".else", at(dir)) }, "there is a symbolic link in the way"},
		"a device":           {func(dir string) error { return os.Symlink("/dev/full", at(dir)) }, "there is a symbolic link in the way"},
		"a directory of all": {func(dir string) error { return os.Chmod(dir, 0o777) }, "can be written by anybody (mode 0777)"},
		"a file that others written": {func(dir string) error {
			return errors.Join(os.WriteFile(at(dir), nil, 0o600), os.Chmod(at(dir), 0o666))
		}, "can be written by others"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			must(t, errors.Join(os.Mkdir(dir, 0o700), c.put(dir)))
			r := begin(t, dir)
			defer r.stop()
			var way *own.PathError
			if err := r.Trouble(); !errors.As(err, &way) || !strings.Contains(err.Error(), c.says) || way.Hint() == "" {
				t.Errorf("the trouble is %v, want %q", err, c.says)
			}
			if _, _, err := r.Box.Enqueue(queue.Message{ID: "m1"}, time.Now()); err == nil {
				t.Error("a message was accepted that could not be kept")
			}
			if _, err := os.Lstat(dir + ".else"); err == nil {
				t.Error("a link was followed")
			}
		})
	}
}

// TestWhatIsNoPauseOfOurs is a pause without end, as one that cannot be read is, and nothing waits
// for it; the next pause is written into no other file.
func TestWhatIsNoPauseOfOurs(t *testing.T) {
	dir := t.TempDir()
	must(t, unix.Mkfifo(filepath.Join(dir, "alice.paused"), 0o600))
	r := begin(t, dir)
	defer r.stop()
	if !r.Box.Glance().Paused {
		t.Error("a pause that cannot be read does not hold")
	}
	victim := filepath.Join(t.TempDir(), "victim")
	must(t, os.WriteFile(victim, []byte("precious"), 0o600))
	must(t, os.Symlink(victim, filepath.Join(dir, "alice.paused.new")))
	must(t, r.Pause(time.Minute))
	if b, err := os.ReadFile(victim); string(b) != "precious" || err != nil {
		t.Errorf("what a link leads to holds %q, %v", b, err)
	}
}
