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
		argv []string
		want kind
	}{
		{[]string{"sh", "-c", "echo; read x"}, kind{}},
		{[]string{"sh", "-i"}, kind{shell: true}},
		{[]string{"cat"}, kind{}},
		{[]string{"bash", "-c", "exec -a ssh cat"}, kind{host: "ssh"}},
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
			if got := f.kind(cmd.Process.Pid); got != c.want {
				t.Errorf("%q is %+v, want %+v", c.argv, got, c.want)
			}
		}
		in.Close()
		cmd.Wait() // its status means nothing here
	}
}
