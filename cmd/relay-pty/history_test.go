package main

import (
	"bufio"
	"testing"

	"relay-pty/inject/profile"
)

func TestTheAgentsOwnEnvironmentTellsWhereItsFilesAre(t *testing.T) {
	h := &history{log: profile.Log{HomeEnv: "AGENT_DIR", Home: ".agent"}}
	for name, c := range map[string]struct {
		env  []string
		want string
	}{
		"home":           {[]string{"HOME=/somewhere"}, "/somewhere/.agent"},
		"own variable":   {[]string{"HOME=/somewhere", "AGENT_DIR=/else"}, "/else"},
		"empty variable": {[]string{"AGENT_DIR=", "HOME=/somewhere"}, "/somewhere/.agent"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := command(t, "/bin/sh", "-c", "echo up; read _")
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
			if got := h.dir(cmd.Process.Pid); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
