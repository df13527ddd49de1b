package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig"
)

// nohupAgent tells each SIGHUP and SIGINT that it gets, and ends at the first SIGHUP.
const nohupAgent = `trap 'echo hangup >>"$0"; exit 3' HUP; trap 'echo interrupt >>"$0"' INT
echo up >>"$0"; while :; do read x || exit 4; done`

// TestIgnoredSignalsStayIgnored: begun as nohup and a script's background begin a program, the
// wrapper outlives SIGHUP and SIGINT; it still ends at a SIGTERM, and its agent is one whom
// signals reach.
func TestIgnoredSignalsStayIgnored(t *testing.T) {
	t.Parallel()
	testrig.KnownStart() // the shells below start the wrapper with what they say alone
	for _, c := range []struct {
		name, before string
		outlives     []syscall.Signal
		ends         syscall.Signal
	}{
		{"as nohup", `trap "" HUP`, []syscall.Signal{syscall.SIGHUP, syscall.SIGHUP}, syscall.SIGTERM},
		{"as a script's background", `trap "" INT`, []syscall.Signal{syscall.SIGINT}, syscall.SIGHUP},
		{"as a job runner", `trap "" HUP INT`, []syscall.Signal{syscall.SIGHUP, syscall.SIGINT}, syscall.SIGTERM},
		{"from a shell, hung up", ":", nil, syscall.SIGHUP},
		{"from a shell, interrupted", ":", nil, syscall.SIGINT},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := scratch(t)
			heard := filepath.Join(dir, "heard")
			socket := filepath.Join(dir, "s")
			ctx := testrig.Within(t, time.Minute)
			cmd := exec.CommandContext(ctx, "/bin/sh", "-c", c.before+`; exec "$@"`, "sh",
				binary(t), "--name", "alice", "--socket", socket, "--headless", "--ephemeral", "--", "sh", "-c", nohupAgent, heard)
			cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir, "XDG_STATE_HOME="+dir)
			must(t, cmd.Start())
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			t.Cleanup(func() { cmd.Process.Kill() }) // gone already: well
			hears(t, heard, "up\n")
			for _, s := range c.outlives {
				must(t, cmd.Process.Signal(s))
				answers(t, ctx, socket) // it goes on
			}
			must(t, cmd.Process.Signal(c.ends))
			if err := <-ended; ctx.Err() != nil || cmd.ProcessState.ExitCode() != 128+int(c.ends) {
				t.Errorf("%v: ended with %v, %v, want status %d", c.ends, err, context.Cause(ctx), 128+c.ends)
			}
			hears(t, heard, "up\nhangup\n")
		})
	}
}

// hears waits until the agent has told want.
func hears(t *testing.T, file, want string) {
	t.Helper()
	becomes(t, fmt.Sprintf("%q in what the agent tells", want), func() bool {
		got, _ := os.ReadFile(file) // not there yet
		return string(got) == want
	})
}

// answers asks for the status on a new connection.
func answers(t *testing.T, ctx context.Context, socket string) {
	t.Helper()
	c, err := testrig.Dial(ctx, socket)
	must(t, err)
	defer c.Close()
	f, err := c.Request(ctx, map[string]any{"type": "status"})
	if err != nil || !strings.Contains(f.Raw, `"state"`) {
		t.Fatalf("after a signal: %s, %v", fmt.Sprint(f.Raw), err)
	}
}
