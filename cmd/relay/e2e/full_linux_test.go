package e2e

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

// TestFullDisk: a router whose disk is full refuses with degraded, answers who looks, and goes on
// when there is room: with all that it had accepted, and with what an agent wrote meanwhile.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	disk := filepath.Join(u.dir, "state")
	must(t, os.Mkdir(disk, 0o700))
	testrig.Require(t, "a small disk, which needs root", syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=8m,mode=0700"))
	t.Cleanup(func() {
		endAll(t, u.dir)
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	elsewhere := t.TempDir() // for the wrapper's journal has troubles of its own
	u.wraps(ctx, "bob", "--state-dir", elsewhere, "--", "sh", "-c", `while read -r x; do case "$x" in *hello*) echo "->relay:human <<<done>>>" ;; esac; done`)
	u.does(ctx, "send", "bob", "one", "--id", "m-1", "--until", "delivered")
	var free syscall.Statfs_t
	must(t, syscall.Statfs(disk, &free))
	filler := filepath.Join(disk, "filler")
	must(t, os.WriteFile(filler, make([]byte, int(free.Bavail-10)*int(free.Bsize)), 0o600))
	router1 := running(u.dir, aRouter)
	var code int
	out, err := u.command(ctx, "send", "bob", "two", "--id", "m-2").CombinedOutput()
	if e, ok := err.(interface{ ExitCode() int }); ok {
		code = e.ExitCode()
	}
	if code != 1 || !strings.HasPrefix(string(out), "relay: degraded: ") || !strings.Contains(string(out), "make room") {
		t.Errorf("with a full disk: %v: %s", err, out)
	}
	if out := u.does(ctx, "show", "m-1"); !strings.Contains(out, "delivered") {
		t.Errorf("what was accepted is %s", out)
	}
	must(t, os.Remove(filler))
	u.does(ctx, "send", "bob", "hello", "--id", "m-3", "--until", "delivered")
	u.sees(ctx, "bob's answer", func(e router.Event) bool { return e.Type == router.TypeMessage && e.From == "bob" })
	if now := running(u.dir, aRouter); len(now) != 1 || len(router1) != 1 || now[0] != router1[0] {
		t.Errorf("the router was %v, and is %v", router1, now)
	}
	for _, e := range u.log(ctx) {
		if e.ID == "m-2" {
			t.Errorf("what was refused is in the log: %+v (%s)", e, protocol.Degraded)
		}
	}
}
