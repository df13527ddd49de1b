package agent

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig"
)

func TestMain(m *testing.M) {
	testrig.KnownStart()
	os.Exit(m.Run())
}

// TestWhatIsInFront (only Linux shows command lines) asks about real processes; one says when its
// exec is over.
func TestWhatIsInFront(t *testing.T) {
	var f front
	for _, c := range []struct {
		argv        []string
		shell, host string
	}{
		{[]string{"sh", "-c", "echo; read x"}, "", ""},
		{[]string{"bash", "-i"}, "bash", ""},
		{[]string{"cat"}, "", ""},
		{[]string{"bash", "-c", "exec -a ssh cat"}, "", "ssh"},
		{[]string{"bash", "-c", "exec -a fish bash -i"}, "bash", ""},
		{[]string{"bash", "-c", "exec -a bash cat"}, "", ""},
	} {
		ctx := testrig.Within(t, time.Minute)
		cmd := exec.CommandContext(ctx, c.argv[0], c.argv[1:]...)
		// Without a session of its own a shell that prompts would look at the terminal from which
		// the tests were begun, and stop them all where they are not in front.
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		in, err := cmd.StdinPipe()
		must(t, err)
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		io.WriteString(in, "echo\n") // each answers by a line, so it runs; a failure shows below
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatalf("a line of %q: %v, %v", c.argv, err, context.Cause(ctx))
		}
		for range 2 { // asked again it answers from memory
			got, shell := f.kind(cmd.Process.Pid), ""
			if got.shell != nil {
				shell = got.shell.Language
			}
			if shell != c.shell || got.host != c.host {
				t.Errorf("%q is %q of %q, want %q of %q", c.argv, shell, got.host, c.shell, c.host)
			}
		}
		in.Close()
		cmd.Wait() // its status means nothing here
	}
}
