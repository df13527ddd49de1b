package transcript_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain gives the processes of the tests the system's own actions for the signals that
// whoever began the tests (nohup, a shell's background) had ignored.
func TestMain(m *testing.M) {
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s) // nobody reads
		}
	}
	os.Exit(m.Run())
}

// patience is how long a test waits for what must come; only a failure takes that long.
const patience = time.Minute

// firstLine is the first line that a process writes.
func firstLine(t *testing.T, out io.Reader) string {
	t.Helper()
	line := make(chan string, 1)
	go func() {
		text, _ := bufio.NewReader(out).ReadString('\n') // at its end without a line: what there is
		line <- strings.TrimSpace(text)
	}()
	select {
	case text := <-line:
		return text
	case <-time.After(patience):
		t.Fatalf("a process's first line: not within %v", patience)
		return ""
	}
}

// over waits for the end of a process that is about to end, and kills it when that takes too long.
func over(cmd *exec.Cmd) {
	late := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	defer late.Stop()
	cmd.Wait() // its status means nothing
}
