package e2e

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"relay-pty/cmd/internal/testrig"
)

// asking are commands that ask the router, with the exit status of each when that is stopped.
var asking = []struct {
	line string
	want int
}{
	{"ls", 1}, {"status", 1}, {"status bob", 1}, {"screen bob", 1}, {"queue bob", 1}, {"wait bob", 1}, {"wait nobody --timeout 30s", 1},
	{"pause bob", 1}, {"resume bob", 1}, {"keys bob Enter", 1}, {"send bob hi", 1}, {"send bob hi --wait=30s --json", 1}, {"reply m-1 hi", 1},
	{"recv", 1}, {"recv --wait", 1}, {"recv --follow --consume", 1}, {"show m-1", 1}, {"cancel m-1", 1}, {"redeliver m-1", 1},
	{"remind 5m x", 1}, {"remind --list", 1}, {"join #x --as ci", 1}, {"leave #x --as ci", 1}, {"log", 1}, {"log bob --dead", 1},
	{"events", 1}, {"events --follow", 1}, {"doctor", 1}, {"run ann --headless -- cat", 1},
}

// TestAStoppedRouterIsTold by every command within some seconds, with its process and the way out;
// by one, too, that has waited since before.
func TestAStoppedRouterIsTold(t *testing.T) {
	t.Parallel()
	ctx := testrig.Within(t, 2*patience)
	u := newUser(t)
	u.wraps(ctx, "bob", "cat")
	u.does(ctx, "wait", "bob")
	pids := running(u.dir, aRouter)
	if len(pids) != 1 {
		t.Fatalf("the routers are %v", pids)
	}
	var all sync.WaitGroup
	told := func(line string, want int, out []byte, err error) {
		status := 0
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			status = exit.ExitCode()
		}
		says := fmt.Sprintf("the router (process %d) is stopped", pids[0])
		if status != want || !strings.Contains(string(out), says) || !strings.Contains(string(out), "kill -CONT "+strconv.Itoa(pids[0])) {
			t.Errorf("relay %s: exit status %d\n%s", line, status, out)
		}
	}
	waits := u.command(ctx, "wait", "bob", "--state", "blocked")
	says, err := waits.StderrPipe()
	must(t, err)
	must(t, waits.Start())
	lines := bufio.NewReader(says)
	if line, err := lines.ReadString('\n'); err != nil || !strings.Contains(line, "waiting until it is blocked") {
		t.Fatalf("wait says %q, %v", line, err)
	}
	all.Go(func() {
		rest, _ := io.ReadAll(lines) // what is missing shows
		told("wait, begun before", 1, rest, waits.Wait())
	})
	must(t, syscall.Kill(pids[0], syscall.SIGSTOP))
	limited, cancel := context.WithTimeoutCause(ctx, patience, errors.New("a command hangs"))
	defer cancel()
	for _, c := range asking {
		all.Go(func() {
			out, err := u.command(limited, strings.Fields(c.line)...).CombinedOutput()
			told(c.line, c.want, out, err)
		})
	}
	all.Wait()
	must(t, syscall.Kill(pids[0], syscall.SIGCONT))
	u.does(ctx, "ls")
}

// TestAStoppedWrapperIsTold by ls, status and doctor, and by commands that need its answer.
func TestAStoppedWrapperIsTold(t *testing.T) {
	t.Parallel()
	ctx := testrig.Within(t, 2*patience)
	u := newUser(t)
	u.wraps(ctx, "bob", "cat")
	u.does(ctx, "wait", "bob")
	var pid int
	for _, p := range running(u.dir, "relay-pty\x00--name\x00bob") {
		pid = p
	}
	must(t, syscall.Kill(pid, syscall.SIGSTOP))
	defer syscall.Kill(pid, syscall.SIGCONT)
	ls, wants := regexp.MustCompile(`(?m)^bob +stopped \(its wrapper\)`), map[string]string{
		"status":     "its wrapper is stopped: relay doctor",
		"status bob": "bob stopped (its wrapper)",
		"screen bob": fmt.Sprintf("the wrapper of bob is stopped: kill -CONT %d", pid),
		"queue bob":  fmt.Sprintf("kill -CONT %d", pid),
		"wait bob":   "the wrapper of bob is stopped",
		"doctor":     fmt.Sprintf("the wrapper of bob (process %d) is stopped", pid),
		"ls --json":  `"wrapper_stopped":true`,
	}
	if out := u.does(ctx, "ls"); !ls.MatchString(out) {
		t.Errorf("ls shows\n%s", out)
	}
	for line, want := range wants {
		out, _ := u.command(ctx, strings.Fields(line)...).CombinedOutput() // some fail, as they should
		if !strings.Contains(string(out), want) {
			t.Errorf("relay %s says\n%s\nwant %q", line, out, want)
		}
	}
	if got := strings.TrimSpace(u.does(ctx, "wait", "bob", "--state", "stopped")); got != "bob stopped" {
		t.Errorf("wait says %q", got)
	}
	must(t, syscall.Kill(pid, syscall.SIGCONT))
	u.does(ctx, "wait", "bob")
	if out := u.does(ctx, "ls"); ls.MatchString(out) {
		t.Errorf("it goes on, and ls shows\n%s", out)
	}
}
