package agent

import (
	"bufio"
	"io"
	"os/exec"
	"testing"
)

// TestShellInFront (only Linux shows command lines) asks about real processes; one says when its exec is over.
func TestShellInFront(t *testing.T) {
	var f front
	for _, c := range []struct {
		argv []string
		want bool
	}{
		{[]string{"sh", "-c", "echo; read x"}, false},
		{[]string{"sh", "-i"}, true},
		{[]string{"cat"}, false},
	} {
		cmd := exec.Command(c.argv[0], c.argv[1:]...)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		io.WriteString(in, "echo\n") // each answers by a line, so it runs; a failure shows below
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		for range 2 { // asked again it answers from memory
			if got := f.shell(cmd.Process.Pid); got != c.want {
				t.Errorf("%q is a shell: %v, want %v", c.argv, got, c.want)
			}
		}
		in.Close()
		cmd.Wait() // its status means nothing here
		if f.shell(cmd.Process.Pid) {
			t.Errorf("%q still is one after its end", c.argv)
		}
	}
}
