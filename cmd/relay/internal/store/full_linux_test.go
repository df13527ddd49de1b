package store

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"relay-pty/cmd/internal/testrig"
)

// TestFullDisk: an event is refused while there is no room for it, what was accepted can be read,
// and as soon as there is room it goes on. Whether the log sees the end coming, or runs into it.
func TestFullDisk(t *testing.T) {
	for name, keeps := range map[string]int64{"seen coming": spare, "run into": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			disk := t.TempDir()
			testrig.Require(t, "a small disk, which needs root", syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=12m,mode=0700"))
			t.Cleanup(func() {
				if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
					t.Error(err)
				}
			})
			filler := filepath.Join(disk, "filler")
			l := open(t, filepath.Join(disk, "store"))
			l.spare = keeps
			var accepted int64
			add := func() error {
				seq, err := l.add("state", "bob", make([]byte, 32<<10))
				if err == nil && seq != accepted+1 {
					t.Fatalf("event %d is behind %d", seq, accepted)
				}
				if err == nil {
					accepted = seq
				}
				return err
			}
			for round := range 3 {
				var free syscall.Statfs_t
				must(t, syscall.Statfs(disk, &free))
				leaves := 3 * spare / 2
				must(t, os.WriteFile(filler, make([]byte, int(free.Bavail)*int(free.Bsize)-leaves), 0o600))
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
				must(t, os.Remove(filler))
				if err := add(); err != nil {
					t.Errorf("round %d, with room again: %v", round, err)
				}
				if round == 1 {
					l.Close()
					l = open(t, filepath.Join(disk, "store"))
					l.spare = keeps
				}
			}
			if got := l.all(t, 0); int64(len(got)) != accepted {
				t.Errorf("%d of %d events are there", len(got), accepted)
			}
			l.Close()
		})
	}
}
