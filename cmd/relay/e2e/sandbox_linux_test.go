package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/agents"
)

func init() { ownAgents["sandbox"] = sandbox }

// sandbox runs the command behind it where connect(2) fails, as agents' sandboxes have it.
func sandbox() int {
	runtime.LockOSThread() // the filter is a thread's, and that of the program which it becomes
	const load, equal, answer = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_RET | unix.BPF_K
	filter := []unix.SockFilter{
		{Code: load, K: 0}, // the number of the system call
		{Code: equal, K: unix.SYS_CONNECT, Jf: 1},
		{Code: answer, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{Code: answer, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	if err == nil {
		err = unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
	}
	if err == nil {
		err = syscall.Exec(os.Args[1], os.Args[1:], os.Environ())
	}
	fmt.Fprintln(os.Stderr, "no sandbox:", err)
	return 99
}

// TestCommandsInASandbox say that they may not connect, and what works instead; the doctor calls
// nothing dead, and gives no advice that does not help.
func TestCommandsInASandbox(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	ctx := testrig.Within(t, patience)
	u.wraps(ctx, "bob", "cat")
	inside := func(args ...string) (string, int) {
		outside := u.command(ctx, args...)
		cmd := exec.CommandContext(ctx, os.Args[0], outside.Args...)
		cmd.Env, cmd.Dir = append(outside.Env, agents.EnvAgent+"=sandbox"), u.dir
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	const why, way = "this process may not open sockets (a sandbox)", "use relay's tools, send_message and the others"
	for _, args := range [][]string{
		{"send", "bob", "hello"}, {"ls"}, {"recv"}, {"log"}, {"events"}, {"status", "bob"}, {"screen", "bob"}, {"queue", "bob"},
		{"remind", "5m", "x"}, {"wait", "bob"}, {"run", "carol", "--headless", "--", "cat"}, {"doctor"},
	} {
		out, code := inside(args...)
		if code == 99 {
			testrig.Require(t, "a sandbox (seccomp)", fmt.Errorf("%s", out))
		}
		if code != 1 || !strings.Contains(out, why) || !strings.Contains(out, way) {
			t.Errorf("%v ends with %d: %s", args, code, out)
		}
		if args[0] == "doctor" && strings.Count(out, "broken:") != 1 {
			t.Errorf("the doctor says %s", out)
		}
	}
}
