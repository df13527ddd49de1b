package own

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
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
				held, err := Hold(path, "lock", "--lock", "alice")
				if err != nil {
					continue
				}
				turns.Add(1)
				if n := owners.Add(1); n != 1 {
					t.Errorf("%d owners", n)
				}
				runtime.Gosched()
				owners.Add(-1)
				held.Release()
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
	first, err := Hold(path, "lock", "--lock", "alice")
	must(t, err)
	os.Remove(path)
	second, err := Hold(path, "lock", "--lock", "bob")
	must(t, err)
	first.Release()
	if _, err := Hold(path, "lock", "--lock", "carol"); err == nil {
		t.Error("the first one's end took the second one's file along")
	}
	second.Release()
}

func TestHeldErrorTellsWho(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	held, err := Hold(path, "journal of alice", "--state-dir", "alice")
	must(t, err)
	defer held.Release()
	_, err = Hold(path, "journal of alice", "--state-dir", "bob")
	var who *HeldError
	if !errors.As(err, &who) || who.PID != os.Getpid() || who.Name != "alice" ||
		who.Hint() != "end that one, or choose another --state-dir" {
		t.Errorf("got %#v", err)
	}
}

// TestHeldErrorTellsOfARouter, which is found by itself, and is no wrapper.
func TestHeldErrorTellsOfARouter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	held, err := Hold(path, "store here", "--store", Router)
	must(t, err)
	defer held.Release()
	_, err = Hold(path, "store here", "--store", Router)
	var who *HeldError
	want := fmt.Sprintf("store here: held by the router that runs (pid %d)", os.Getpid())
	if !errors.As(err, &who) || err.Error() != want || !strings.HasPrefix(who.Hint(), "use that one") {
		t.Errorf("got %v (%#v), want %s", err, who, want)
	}
}

// TestWhatIsInTheWayOfALock: the way out is the flag of what the lock stands for.
func TestWhatIsInTheWayOfALock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	must(t, os.Mkdir(path, 0o700))
	_, err := Hold(path, "journal of alice", "--state-dir", "alice")
	var bad *PathError
	if !errors.As(err, &bad) || bad.Hint() != "remove it, or choose another --state-dir" {
		t.Errorf("got %#v", err)
	}
}

// TestLockInNoDirectory: a directory that is not there is told as that, by its name.
func TestLockInNoDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "nowhere")
	_, err := Hold(filepath.Join(dir, "lock"), "lock", "--lock", "alice")
	var told *PathError
	if !errors.As(err, &told) || told.Path != dir {
		t.Errorf("got %v, want what is wrong with %s", err, dir)
	}
}

// TestLockIsKept over the removal of its file, unless somebody else has taken it since.
func TestLockIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := Hold(path, "lock", "--lock", "alice")
	must(t, err)
	var held *HeldError
	for _, removed := range []bool{false, true} {
		if anew, err := first.Keep(); anew != removed || err != nil {
			t.Fatalf("kept: anew %v, %v", anew, err)
		}
		if _, err := Hold(path, "lock", "--lock", "bob"); !errors.As(err, &held) || held.Name != "alice" {
			t.Fatalf("kept, it is held by %+v (%v)", held, err)
		}
		os.Remove(path)
	}
	second, err := Hold(path, "lock", "--lock", "bob")
	must(t, err)
	if _, err := first.Keep(); !errors.As(err, &held) || held.Name != "bob" {
		t.Errorf("another has it: %v", err)
	}
	second.Release()
	if _, err := first.Keep(); err != nil {
		t.Errorf("the other has let go: %v", err)
	}
	first.Release()
	if _, err := first.Keep(); err == nil {
		t.Error("kept what was given up")
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a lock file is left")
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
