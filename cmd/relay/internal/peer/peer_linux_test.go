package peer

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/protocol/registry"
)

// TestForeign: who asks is known by the connection: a shell with the token is of the agent's
// session, one below a daemon of an agent's is not, and one of a background session only where that
// is what the agent's own has become. Above the wrapper nothing counts.
func TestForeign(t *testing.T) {
	dir := testrig.Dir(t)
	daemon := filepath.Join(dir, "claude")
	must(t, os.WriteFile(daemon, []byte("shift 2; \"$@\"; :\n"), 0o700))
	for _, c := range []struct {
		what  string
		argv  []string
		env   string
		agent registry.Record
		want  string // what the reason holds; "": it is of the session
	}{
		{"a shell", []string{"sh", "-c", "nc -U $S; :"}, "", registry.Record{}, ""},
		{"below a daemon", []string{"sh", daemon, "daemon", "run", "nc", "-U"}, "", registry.Record{}, "Claude Code"},
		{"the wrapper is below the daemon", []string{"sh", daemon, "daemon", "run", "nc", "-U"}, "", registry.Record{PID: -1}, ""},
		{"of a background session", []string{"nc", "-U"}, "CLAUDE_JOB_DIR=/h/jobs/j1", registry.Record{}, "session j1"},
		{"of the agent's own", []string{"nc", "-U"}, "CLAUDE_JOB_DIR=/h/jobs/j1", registry.Record{Job: "j1"}, ""},
	} {
		t.Run(c.what, func(t *testing.T) {
			path := filepath.Join(dir, strings.ReplaceAll(c.what, " ", "")[:4])
			l, err := net.Listen("unix", path)
			must(t, err)
			defer l.Close()
			ctx, cancel := context.WithCancel(t.Context())
			cmd := exec.CommandContext(ctx, c.argv[0], append(c.argv[1:], path)...)
			cmd.Env = append(os.Environ(), "S="+path, c.env)
			in, err := cmd.StdinPipe()
			must(t, err)
			must(t, cmd.Start())
			defer func() { in.Close(); cancel(); cmd.Wait() }() // it was killed
			conn, err := l.Accept()
			must(t, err)
			defer conn.Close()
			if c.agent.PID != 0 {
				c.agent.PID = cmd.Process.Pid
			}
			asked := With(ctx, conn)
			for range 2 {
				if got := Foreign(asked, c.agent); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
					t.Errorf("got %q, want %q in it", got, c.want)
				}
			}
		})
	}
	if got := Foreign(With(t.Context(), nil), registry.Record{}); got != "" {
		t.Errorf("over TCP: got %q", got)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
