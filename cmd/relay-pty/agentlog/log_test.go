package agentlog

import (
	"bufio"
	"os/exec"
	"testing"
	"testing/synctest"
	"time"

	"relay-pty/inject/profile"
	"relay-pty/parser"
	"relay-pty/parser/transcript"
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

// TestDeliveredMessageThatTheLogDoesNotShowIsOwed: until some message shows, for then it is the
// agent's log.
func TestDeliveredMessageThatTheLogDoesNotShowIsOwed(t *testing.T) {
	shows := func(id string) transcript.Entry {
		return transcript.Entry{Kind: transcript.User, Text: parser.Opening(id) + " from bob] hello"}
	}
	synctest.Test(t, func(t *testing.T) {
		l := New(Agent{Profile: profile.Log{Format: "claude"}})
		deliver := func(id string) {
			l.Expect(id)
			l.Owe(id)
			l.Forget(id)
		}
		began := time.Now()
		deliver("m1")
		time.Sleep(time.Second)
		deliver("m2")
		if owed := l.Standing().Owed; !owed.Equal(began) {
			t.Errorf("owed since %v, want since the first, %v", owed, began)
		}
		if l.proves(shows("m2")); !l.Standing().Owed.IsZero() {
			t.Error("the log shows what was delivered, and something is owed")
		}
		deliver("m3")
		l.Expect("m4")
		if !l.proves(shows("m4")) || !l.Standing().Owed.IsZero() {
			t.Error("the log shows what is being delivered, and something is owed")
		}
		l.Expect("m5")
		l.proves(shows("m5"))
		l.Owe("m5")
		l.Owe("never expected")
		if l.Forget("m5"); !l.Standing().Owed.IsZero() {
			t.Error("what was shown is owed")
		}
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
