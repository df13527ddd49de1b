package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/term"
)

// smallDisk mounts a disk of its own at dir/disk.
func smallDisk(t *testing.T, dir string) string {
	t.Helper()
	disk := filepath.Join(dir, "disk")
	must(t, os.Mkdir(disk, 0o700))
	testrig.Require(t, "a small disk, which needs root", syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=1m,mode=0700"))
	t.Cleanup(func() { must(t, syscall.Unmount(disk, syscall.MNT_DETACH)) })
	return disk
}

// fill leaves no room on the disk until the file that it returns is removed.
func fill(t *testing.T, disk string) (filler string) {
	t.Helper()
	f, err := os.Create(filepath.Join(disk, "filler"))
	must(t, err)
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	must(t, f.Close())
	return f.Name()
}

// TestFullDiskFromTheStart: the human is told before the agent starts, and status is honest before
// anybody has sent anything.
func TestFullDiskFromTheStart(t *testing.T) {
	t.Parallel()
	dir := scratch(t)
	disk := smallDisk(t, dir)
	filler := fill(t, disk)
	w := startIn(t, dir, term.Options{Argv: []string{"cat"}}, "--state-dir", disk)
	must(t, w.WaitText(patience(t), "messages are refused"))
	w.wantStatus(map[string]any{"degraded": true, "accept": false})
	w.refused("m1")
	must(t, os.Remove(filler))
	w.recovers()
	w.wantStatus(map[string]any{"degraded": false, "accept": true})
}

// TestFullDisk: what was accepted before stays, nothing is accepted while the disk is
// full, the terminal works, and it recovers.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := scratch(t)
	disk := smallDisk(t, dir)
	w := startIn(t, dir, term.Options{Argv: []string{"cat"}}, "--state-dir", disk)
	w.inject("m1", "hello")
	w.delivers("m1", "echo")
	filler := fill(t, disk)
	accepted := 1
	for full := false; !full; accepted++ { // what the file has free is used up first
		id := fmt.Sprintf("m%d", accepted+1)
		w.inject(id, strings.Repeat("long ", 1000))
		if f := w.queued(id); f.Str("status") == "queued" {
			w.delivers(id, "echo")
		} else if full = true; f.Str("code") != "degraded" {
			t.Fatalf("refused: %s", f.Raw)
		}
		if accepted > 300 {
			t.Fatal("the disk is never full")
		}
	}
	w.wantStatus(map[string]any{"degraded": true, "accept": false})
	must(t, w.Type("typed by hand\r"))
	must(t, w.WaitText(patience(t), "typed by hand"))
	must(t, os.Remove(filler))
	w.recovers()
	w.kill()
	w = startIn(t, dir, term.Options{Argv: []string{"cat"}}, "--state-dir", disk)
	w.delivers("m1", "echo") // replayed
}
