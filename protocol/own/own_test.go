package own

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// TestNeverTwoLocks: of all who want a lock one has it, also while its owners give it up.
func TestNeverTwoLocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	var owners, turns atomic.Int32
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 2000 {
				release, err := Hold(path, "lock", "alice")
				if err != nil {
					continue
				}
				turns.Add(1)
				if n := owners.Add(1); n != 1 {
					t.Errorf("%d owners", n)
				}
				runtime.Gosched()
				owners.Add(-1)
				release()
			}
		})
	}
	wg.Wait()
	if turns.Load() == 0 {
		t.Error("nobody ever got it")
	}
}

// TestLockOnARemovedFile: the lock of a file that lost its name is worth nothing.
func TestLockOnARemovedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := Hold(path, "lock", "alice")
	if err != nil {
		t.Fatal(err)
	}
	os.Remove(path)
	second, err := Hold(path, "lock", "bob")
	if err != nil {
		t.Fatal(err)
	}
	first()
	if _, err := Hold(path, "lock", "carol"); err == nil {
		t.Error("the first one's end took the second one's file along")
	}
	second()
}

func TestHeldErrorTellsWho(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	release, err := Hold(path, "journal of alice", "alice")
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	_, err = Hold(path, "journal of alice", "bob")
	var held *HeldError
	if !errors.As(err, &held) || held.PID != os.Getpid() || held.Name != "alice" || held.Started.IsZero() || held.Hint() == "" {
		t.Errorf("got %#v", err)
	}
}
