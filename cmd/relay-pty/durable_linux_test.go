package main

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

// TestFullDisk: what was accepted before stays, nothing is accepted while the disk is
// full, the terminal works, and it recovers.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := scratch(t)
	disk := filepath.Join(dir, "disk")
	must(t, os.Mkdir(disk, 0o700))
	testrig.Require(t, "a small disk, which needs root", syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=1m"))
	t.Cleanup(func() { must(t, syscall.Unmount(disk, syscall.MNT_DETACH)) })
	w := startIn(t, dir, term.Options{Argv: []string{"cat"}}, "--state-dir", disk)
	w.inject("m1", "hello")
	w.delivers("m1", "echo")
	filler, err := os.Create(filepath.Join(disk, "filler"))
	must(t, err)
	defer filler.Close()
	for err == nil {
		_, err = filler.Write(make([]byte, 4096))
	}
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
	must(t, w.client.Send(map[string]any{"type": "status"}))
	f, err := w.client.Wait(patience(t, "status"), func(f testrig.Frame) bool { return f.Type() == "status" })
	if err != nil || !strings.Contains(f.Raw, `"degraded":true`) {
		t.Errorf("status: %s, %v", f.Raw, err)
	}
	must(t, w.Type("typed by hand\r"))
	must(t, w.WaitText(patience(t), "typed by hand"))
	must(t, os.Remove(filler.Name()))
	must(t, filler.Close())
	w.recovers(accepted + 2)
	w.kill()
	w = startIn(t, dir, term.Options{Argv: []string{"cat"}}, "--state-dir", disk)
	w.delivers("m1", "echo") // replayed
}
