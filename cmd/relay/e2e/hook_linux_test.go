package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"relay-pty/cmd/internal/testrig"
)

// TestWaitingHookEndsWithItsParent: nobody else ends one that waits for an agent which is gone.
func TestWaitingHookEndsWithItsParent(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	ctx := testrig.Within(t, patience)
	const parent = `"$0" hook Stop wait & read -r x`
	u.wraps(ctx, "alice", "sh", "-c", `sh -c '`+parent+`' `+u.bin+`/relay; exec cat`)
	const waits = "\x00hook\x00Stop\x00wait\x00"
	u.becomes(ctx, "one that waits", func() bool { return len(running(u.dir, waits)) == 1 })
	shells := processes(u.dir, func(_, line []byte) bool { return string(line) == "sh\x00-c\x00"+parent+"\x00"+u.bin+"/relay\x00" })
	if len(shells) != 1 {
		t.Fatalf("its parents are %v", shells)
	}
	// One that has not looked yet whose child it is may find the parent that it got instead.
	u.becomes(ctx, "one that watches its parent", func() bool { return watches(running(u.dir, waits)[0], shells[0]) })
	must(t, syscall.Kill(shells[0], syscall.SIGKILL))
	u.becomes(ctx, "no one that waits", func() bool { return len(running(u.dir, waits)) == 0 })
}

// watches reports whether a process has a pidfd of another.
func watches(pid, other int) bool {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fdinfo/*", pid)) // the pattern is sound
	return slices.ContainsFunc(files, func(file string) bool {
		info, _ := os.ReadFile(file) // closed by now
		return strings.Contains(string(info), fmt.Sprintf("\nPid:\t%d\n", other))
	})
}

// TestHooksOfAnAgent: run gives them to Claude Code's command line, beside what the user gives.
func TestHooksOfAnAgent(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	ctx := testrig.Within(t, patience)
	claude := filepath.Join(u.dir, "claude")
	must(t, os.WriteFile(claude, []byte("#!/bin/sh\n[ $1 = --version ] && exec echo 2.1.329\nprintf '%s\\n' \"$@\" >\"$0.args\"\n"), 0o700))
	u.does(ctx, "run", "alice", "--headless", "--socket", u.dir+"/alice", "--", claude, "--settings", `{"mine":1}`, "--continue")
	args, err := os.ReadFile(claude + ".args")
	must(t, err)
	lines := strings.Split(strings.TrimSpace(string(args)), "\n")
	if len(lines) != 4 || !strings.HasPrefix(lines[0], "--mcp-config=") || lines[1] != "--settings" || lines[3] != "--continue" {
		t.Fatalf("Claude Code is started with %q", lines)
	}
	for _, want := range []string{`"mine":1`, u.bin + "/relay' hook claude PostToolUse", `"asyncRewake":true`} {
		if !strings.Contains(lines[2], want) {
			t.Errorf("%s is not in %s", want, lines[2])
		}
	}
}
