package agentlog

import (
	"bufio"
	"os/exec"
	"testing"

	"relay-pty/inject/profile"
)

func TestTheAgentsOwnEnvironmentTellsWhereItsFilesAre(t *testing.T) {
	for name, c := range map[string]struct {
		env  []string
		want string
	}{
		"home":           {[]string{"HOME=/somewhere"}, "/somewhere/.agent"},
		"own variable":   {[]string{"HOME=/somewhere", "AGENT_DIR=/else"}, "/else"},
		"empty variable": {[]string{"AGENT_DIR=", "HOME=/somewhere"}, "/somewhere/.agent"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command("/bin/sh", "-c", "echo up; read _")
			cmd.Env = c.env
			in, err := cmd.StdinPipe()
			must(t, err)
			out, err := cmd.StdoutPipe()
			must(t, err)
			must(t, cmd.Start())
			defer cmd.Wait() // it ends with its input
			defer in.Close()
			_, err = bufio.NewReader(out).ReadString('\n') // before it runs, the system does not show its environment
			must(t, err)
			l := &Log{Agent: Agent{PID: cmd.Process.Pid, Profile: profile.Log{HomeEnv: "AGENT_DIR", Home: ".agent"}}}
			if got := l.dir(); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
