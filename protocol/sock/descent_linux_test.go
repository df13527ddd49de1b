package sock

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"relay-pty/protocol/process"
)

// TestDescent: whoever connected is known, with the process that started it, until it has ended:
// its connection may outlive it, and its number may be another's.
func TestDescent(t *testing.T) {
	path := filepath.Join(dir(t), "s")
	l, err := Listen(path, "alice")
	must(t, err)
	defer l.Close()
	seen := make(chan []process.Process, 1)
	ask := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() {
		served <- l.Serve(ctx, func(ctx context.Context, c *Conn) {
			for range 2 {
				seen <- c.Descent(os.Getpid())
				<-ask
			}
		})
	}()
	defer func() { cancel(); <-served }()
	defer close(ask)
	cmd := exec.CommandContext(ctx, "sh", "-c", `nc -U "$1"; :`, "sh", path)
	stdin, err := cmd.StdinPipe()
	must(t, err)
	must(t, cmd.Start())
	line := <-seen
	if len(line) != 2 || line[0].Argv[0] != "nc" || line[1].PID != cmd.Process.Pid {
		t.Fatalf("got %v, want nc and %d", line, cmd.Process.Pid)
	}
	must(t, stdin.Close())
	nc, err := os.FindProcess(line[0].PID)
	must(t, err)
	must(t, nc.Kill())
	cmd.Wait() // the shell's status is nc's
	ask <- struct{}{}
	if line := <-seen; line != nil {
		t.Errorf("of one that has ended: got %v", line)
	}
}
