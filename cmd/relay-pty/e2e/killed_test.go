package e2e

import (
	"strings"
	"syscall"
	"testing"

	"relay-pty/cmd/internal/testrig/agents"
)

// The agent is killed while a text that its terminal does not take at once is being typed.
func TestAgentKilledInTheMiddleOfAWrite(t *testing.T) {
	times(t, "agent killed while text is being typed => failed or unknown (agent_exited)", func(t *testing.T) {
		f := startComposer(t, agents.Config{ReadBytes: 256, ReadMS: 10})
		pid := f.pid()
		f.inject("m1", strings.Repeat("a line of some length\n", 2900))
		must(t, f.agent.WaitUnread(patience(t, "m1 in the terminal"), 2000))
		must(t, syscall.Kill(pid, syscall.SIGKILL))
		end := f.ends("m1")
		if s := end.Str("status"); s != "failed" && s != "unknown" || !strings.Contains(end.Raw, `"code":"agent_exited"`) {
			t.Errorf("it ended as %s", end.Raw)
		}
	})
}
