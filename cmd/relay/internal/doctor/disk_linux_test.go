package doctor

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"relay-pty/cmd/internal/testrig"
)

// TestADiskThatTakesNothing is found: root, who may write everywhere, can mount one that is full
// and one that is read-only; anybody else has directories that are not theirs to write.
func TestADiskThatTakesNothing(t *testing.T) {
	if os.Geteuid() == 0 {
		fullDisk(t)
	} else {
		directoryOfOthers(t)
	}
}

func fullDisk(t *testing.T) {
	p := newPatient(t)
	p.must(os.MkdirAll(p.store, 0o700))
	err := unix.Mount("relay-test", p.store, "tmpfs", 0, "size=64k,mode=0700")
	testrig.Require(t, "a small disk, which needs root", err)
	defer func() { p.must(unix.Unmount(p.store, 0)) }()
	want := func(problem string) {
		t.Helper()
		if found := p.Look(t.Context()); len(found) != 1 || !found[0].Broken || !strings.Contains(found[0].Problem, problem) {
			t.Errorf("got %+v, want %q", found, problem)
		}
	}
	want("is full: 65536 bytes are free")
	p.must(unix.Mount("", p.store, "", unix.MS_REMOUNT|unix.MS_RDONLY, "size=64k,mode=0700"))
	want("cannot be written: read-only file system")
}

func directoryOfOthers(t *testing.T) {
	p := newPatient(t)
	p.must(os.MkdirAll(p.store, 0o700))
	p.must(os.Chmod(p.store, 0o500))
	found := p.Look(t.Context())
	if len(found) != 1 || !strings.Contains(found[0].Problem, "cannot be written: permission denied") || !strings.Contains(found[0].Fix, "chmod u+rwx ") {
		t.Errorf("got %+v", found)
	}
}
