package bus

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"relay-pty/cmd/internal/testrig"
)

// TestFullDisk: events are refused while there is no room for them, what was accepted can be read,
// and as soon as there is room it goes on. Whether the log sees the end coming, or runs into it,
// with one event or several.
func TestFullDisk(t *testing.T) {
	for name, c := range map[string]struct {
		keeps int64
		one   int // how many events are written at once
	}{
		"seen coming": {reserve, 1}, "seen coming by many": {reserve, 64},
		"run into": {0, 1}, "run into by many": {0, 64},
	} {
		keeps, one := c.keeps, c.one
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			disk := t.TempDir()
			testrig.Require(t, "a small disk, which needs root", syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=12m"))
			t.Cleanup(func() {
				if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
					t.Error(err)
				}
			})
			filler := filepath.Join(disk, "filler")
			l := open(t, filepath.Join(disk, "store"))
			l.reserve = keeps
			var accepted int64
			add := func() error {
				list := make([]Event, one)
				for i := range list {
					list[i] = Event{"state", "bob", make([]byte, 4<<10+28<<10/one)}
				}
				first, n, err := l.Append(t.Context(), list...)
				if n > 0 && first != accepted+1 {
					t.Fatalf("event %d is behind %d", first, accepted)
				}
				accepted += int64(n)
				return err
			}
			for round := range 3 {
				var free syscall.Statfs_t
				if err := syscall.Statfs(disk, &free); err != nil {
					t.Fatal(err)
				}
				leaves := 3 * reserve / 2
				if err := os.WriteFile(filler, make([]byte, int(free.Bavail)*int(free.Bsize)-leaves), 0o600); err != nil {
					t.Fatal(err)
				}
				var err error
				for err == nil {
					err = add()
				}
				for range 3 {
					if !errors.Is(err, ErrFull) {
						t.Fatalf("round %d, after %d: %v", round, accepted, err)
					}
					if got := l.all(t, 0); int64(len(got)) != accepted {
						t.Errorf("round %d: %d of %d events are there while the disk is full", round, len(got), accepted)
					}
					err = add()
				}
				if err := os.Remove(filler); err != nil {
					t.Fatal(err)
				}
				if err := add(); err != nil {
					t.Errorf("round %d, with room again: %v", round, err)
				}
				if round == 1 {
					l.Close()
					l = open(t, filepath.Join(disk, "store"))
					l.reserve = keeps
				}
			}
			if got := l.all(t, 0); int64(len(got)) != accepted {
				t.Errorf("%d of %d events are there", len(got), accepted)
			}
			l.Close()
		})
	}
}
