package agents

import (
	"strings"
	"testing"

	"relay-pty/protocol/process"
)

// TestForeign: a token counts from whatever got it, but not from below a process that serves other
// sessions, too. The command lines are those of Claude Code 2.1.332 and of Codex 0.169.0.
func TestForeign(t *testing.T) {
	const claude = "/opt/claude"
	daemon := []string{claude, "daemon", "run", "--origin", "transient", "--spawned-by", `{"pid":7}`}
	host := []string{claude, "bg-pty-host", "--session", "x"}
	spare := []string{claude, "--bg-spare", "/tmp/spare"}
	server := []string{"/opt/codex", "app-server", "--listen", "unix://", "--managed-daemon"}
	shell, hook := []string{"/bin/bash", "-c", "relay send bob daemon run"}, []string{"relay", "hook", "claude", "Stop"}
	job := func(name string) []string { return []string{"HOME=/h", "CLAUDE_JOB_DIR=/h/.claude/jobs/" + name} }
	for _, c := range []struct {
		what string
		line [][]string
		env  []string
		job  string
		want string // what the reason holds; "": it counts
	}{
		{"a hook", [][]string{hook, {"sh", "-c", "relay hook claude Stop"}, {claude}}, nil, "", ""},
		{"what names a daemon", [][]string{{"relay", "send", "daemon", "run"}, shell, {claude}}, nil, "", ""},
		{"a daemon behind its launcher", [][]string{hook, {"node", "/opt/cli.js", "daemon", "run"}}, nil, "", "Claude Code"},
		{"an orphan", [][]string{shell, {"/sbin/init"}}, nil, "", ""},
		{"nobody knows", nil, nil, "", ""},
		{"what a server of the agent's user is below of", [][]string{hook, {claude, "mcp", "serve"}}, nil, "", ""},
		{"below the daemon", [][]string{hook, {claude, "--session-id", "x"}, host, daemon, {claude}}, nil, "", "Claude Code"},
		{"the daemon's spare", [][]string{hook, spare, daemon}, nil, "", "Claude Code"},
		{"a session in the background", [][]string{hook, {claude}, host, daemon}, job("j1"), "", "session j1"},
		{"another one than the agent's", [][]string{hook, {claude}, host, daemon}, job("j1"), "j2", "session j1"},
		{"the agent's own", [][]string{hook, {claude}, host, daemon}, job("j2"), "j2", ""},
		{"an orphan of another one", [][]string{shell, {"/sbin/init"}}, job("j1"), "j2", "session j1"},
		{"left behind", [][]string{hook, {claude}}, nil, "j2", ""},
		{"Codex's server", [][]string{shell, server, {"/opt/codex"}}, nil, "", "--no-daemon"},
		{"Codex's own server", [][]string{shell, {"/opt/codex", "app-server", "--listen", "stdio://"}}, nil, "", ""},
	} {
		var line []process.Process
		for i, argv := range c.line {
			line = append(line, process.Process{PID: 100 - i, Argv: argv})
		}
		if left := c.job != "" && c.want != "" || c.what == "left behind"; Left(c.env, c.job) != left {
			t.Errorf("%s: it was left behind: %v", c.what, !left)
		}
		got := Foreign(line, c.env, c.job)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q in it", c.what, got, c.want)
		}
	}
}
