package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/agents"
	"relay-pty/cmd/internal/testrig/realagent"
)

func init() { ownAgents["sandbox"] = sandbox }

// forbidden says how a sandbox answers, by the value of envSandbox: which system call, and how.
var forbidden = map[string]struct {
	call   uint32
	answer syscall.Errno
}{
	"codex":    {unix.SYS_CONNECT, unix.EPERM},
	"landlock": {unix.SYS_CONNECT, unix.EACCES},
	"docker":   {unix.SYS_SOCKET, unix.EPERM},
	"systemd":  {unix.SYS_SOCKET, unix.EAFNOSUPPORT},
}

const envSandbox = "RELAY_FAKE_SANDBOX"

// sandbox runs the command behind it where sockets are of no use, as agents' sandboxes have it.
func sandbox() int {
	runtime.LockOSThread() // the filter is a thread's, and that of the program which it becomes
	const load, equal, answer = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_RET | unix.BPF_K
	how := forbidden[os.Getenv(envSandbox)]
	filter := []unix.SockFilter{
		{Code: load, K: 0}, // the number of the system call
		{Code: equal, K: how.call, Jf: 1},
		{Code: answer, K: unix.SECCOMP_RET_ERRNO | uint32(how.answer)},
		{Code: answer, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	if err == nil {
		err = unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
	}
	if err == nil {
		err = syscall.Exec("/bin/sh", append([]string{"sh"}, os.Args[1:]...), os.Environ())
	}
	fmt.Fprintln(os.Stderr, "no sandbox:", err)
	return 99
}

// inSandboxes are all commands that need a socket, as a shell has them, by name.
var inSandboxes = map[string]string{
	"run": "run carol --headless -- cat", "run without a name": "run --headless -- cat", "ls": "ls", "status": "status",
	"status of one": "status bob", "explain": "explain bob", "screen": "screen bob", "queue": "queue bob", "wait": "wait bob",
	"pause": "pause bob", "resume": "resume bob", "keys": "keys bob Enter",
	"send": "send bob hello", "send and wait": "send bob hello --wait=1s",
	"reply": "reply m-1 hello", "recv": "recv", "recv --follow": "recv --follow", "show": "show m-1", "show last": "show last",
	"cancel": "cancel m-1", "redeliver": "redeliver m-1", "remind": "remind 5m x", "join": "join '#a'", "leave": "leave '#a'",
	"log": "log", "events": "events", "events --follow": "events --follow", "doctor": "doctor", "doctor --fix": "doctor --fix",
	"demo": "demo --builtin", "serve": "serve", "hook": "hook claude Stop", "hook that waits": "hook claude Stop wait", "mcp": "mcp",
	"relay-pty": "", "send --json": "send bob hello --json", "ls --json": "ls --json", "show --json": "show m-1 --json",
}

// socketless are the commands that need none.
var socketless = []string{"skill", "help", "completion"}

// overTools is what an agent asks of `relay mcp`.
const overTools = `{"jsonrpc":"2.0","id":1,"method":"initialize",` +
	`"params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"send_message","arguments":{"to":"bob","body":"hello"}}}`

// tellsOfItsSandbox runs all commands in one sandbox, each of which must tell why it cannot work
// there, and what does.
func tellsOfItsSandbox(ctx context.Context, u *user, inside func(script string) *exec.Cmd) {
	t := u.t
	const end, why = "\x1e", "this process may not open sockets (a sandbox)"
	var script strings.Builder
	fmt.Fprintf(&script, "PATH=%s:$PATH\n", u.bin)
	for name, line := range inSandboxes {
		command := "relay " + line
		switch name {
		case "hook", "hook that waits":
			command = "echo '{}' | RELAY_SOCKET=/dev/null RELAY_TOKEN=t " + command
		case "mcp":
			command = "(echo '" + overTools + "'; exec sleep 1) | " + command
		case "relay-pty":
			command = "relay-pty --name dora --headless -- cat"
		}
		fmt.Fprintf(&script, "printf '%s\\n'; (%s) </dev/null 2>&1; printf '%%s%s' $?\n", name, command, end)
	}
	out, err := inside(script.String()).CombinedOutput()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) && failed.ExitCode() == 99 {
		testrig.Require(t, "a sandbox (seccomp)", errors.New(string(out)))
	}
	must(t, err)
	told := 0
	for row := range strings.SplitSeq(strings.TrimSuffix(string(out), end), end) {
		name, said, _ := strings.Cut(row, "\n")
		name = name[strings.LastIndexByte(name, '\n')+1:]
		at := strings.LastIndexByte(said, '\n') + 1
		text, code := said[:at], said[at:]
		wants, status := []string{"relay: sandbox: " + why, "send_message, or writes ->relay:NAME"}, "1"
		switch {
		case name == "mcp":
			wants, status = []string{`"sandbox: ` + why + `; write -`}, "0"
		case strings.HasPrefix(name, "hook"):
			wants, status = []string{"relay: sandbox: /dev/null: " + why}, "0"
		case strings.HasPrefix(name, "doctor"):
			wants[0] = "broken: sandbox: " + why
		case name == "relay-pty":
			wants[0], status = "relay-pty: "+why, "125"
		case strings.HasSuffix(name, "--json"):
			wants = append(wants, `{"code":"sandbox","message":"`+why+`"}`)
		}
		told++
		for _, want := range wants {
			if code != status || strings.Count(text, want) != 1 || strings.Count(text, "broken:") > 1 || strings.Contains(text, "held by") {
				t.Errorf("%s ends with %s, want %s and %q:\n%s", name, code, status, want, text)
			}
		}
	}
	if told != len(inSandboxes) {
		t.Errorf("%d of %d commands were run:\n%s", told, len(inSandboxes), out)
	}
	if _, err := os.Stat(u.dir + "/relay"); err == nil {
		t.Errorf("something was made in %s", u.dir)
	}
}

// TestCommandsInASandbox say that they may not connect, and what works instead; the doctor calls
// nothing dead, and gives no advice that does not help.
func TestCommandsInASandbox(t *testing.T) {
	t.Parallel()
	for how := range forbidden {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			ctx := testrig.Within(t, patience)
			tellsOfItsSandbox(ctx, u, func(script string) *exec.Cmd {
				cmd := exec.CommandContext(ctx, os.Args[0], "-c", script)
				cmd.Env, cmd.Dir = append(slices.Clone(u.env), agents.EnvAgent+"=sandbox", envSandbox+"="+how), u.dir
				return cmd
			})
		})
	}
	t.Run("each command has its row", func(t *testing.T) {
		u := newUser(t)
		_, list, _ := strings.Cut(u.does(testrig.Within(t, patience), "--help"), "Agents:")
		for _, m := range regexp.MustCompile(`(?m)^  ([a-z]+) `).FindAllStringSubmatch(list, -1) {
			if _, has := inSandboxes[m[1]]; !has && !slices.Contains(socketless, m[1]) {
				t.Errorf("what does relay %s say in a sandbox?", m[1])
			}
		}
	})
}

// TestRealCommandsInCodexSandbox: the same in that of Codex, where nothing can be written, either.
func TestRealCommandsInCodexSandbox(t *testing.T) {
	t.Parallel()
	u, codex := newUser(t), realagent.SetUp(t, agentrig.Codex(), testrig.Dir(t))
	ctx := testrig.Within(t, patience)
	tellsOfItsSandbox(ctx, u, func(script string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, codex.Argv[0], "sandbox", "--", "sh", "-c", script)
		cmd.Env, cmd.Dir = u.with(codex.Env), u.dir
		return cmd
	})
}
