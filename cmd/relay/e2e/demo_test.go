package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/testrig"
)

// show is one run of the demo.
type show struct {
	*exec.Cmd
	u        *user
	tmp      string // its TMPDIR, which all that it starts has in its environment
	out, err bytes.Buffer
}

// plays runs the demo with env added, which must end with that status and leave nothing. Where sig
// is not 0 it is sent to the demo's job, as ^C does, when the demo prints at.
func (u *user) plays(status int, sig syscall.Signal, at string, env ...string) *show {
	u.t.Helper()
	ctx, cancel := context.WithTimeoutCause(u.t.Context(), 3*patience, errors.New("the demo does not end"))
	defer cancel()
	s := &show{Cmd: u.command(ctx, "demo"), u: u, tmp: filepath.Join(u.dir, "t")}
	must(u.t, os.Mkdir(s.tmp, 0o700))
	s.Env = append(append(s.Env, "TMPDIR="+s.tmp), env...)
	s.Stdout, s.Stderr = writer(func(b []byte) (int, error) {
		if sig != 0 && bytes.Contains(b, []byte(at)) {
			syscall.Kill(-s.Process.Pid, sig) // its status tells
		}
		return s.out.Write(b)
	}), &s.err
	s.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := s.Run(); s.ProcessState.ExitCode() != status {
		u.t.Fatalf("ended with %v, want status %d\n%s%s\n%s", err, status, &s.out, &s.err, s.log())
	}
	if left, err := os.ReadDir(s.tmp); err != nil || len(left) > 0 {
		u.t.Errorf("left %v in TMPDIR, %v", left, err)
	}
	u.becomes(testrig.Within(u.t, patience), "the end of all that the demo has started", func() bool { return len(s.left()) == 0 })
	return s
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

// logPath is where the demo keeps its log of a failure.
func (s *show) logPath() string { return filepath.Join(s.u.dir, "state", "relay", "demo.log") }

func (s *show) log() []byte {
	text, _ := os.ReadFile(s.logPath()) // there may be none
	return text
}

// left are the processes that have the demo's TMPDIR in their environment or their arguments; none
// are found where there is no /proc.
func (s *show) left() (pids []string) {
	for _, name := range []string{"environ", "cmdline"} {
		paths, _ := filepath.Glob("/proc/[0-9]*/" + name) // the pattern is sound
		for _, path := range paths {
			b, err := os.ReadFile(path)
			if err == nil && bytes.Contains(b, []byte(s.tmp)) {
				pids = append(pids, filepath.Base(filepath.Dir(path)))
			}
		}
	}
	return pids
}

// says checks that the demo printed each of texts, in that order.
func (s *show) says(texts ...string) {
	s.u.t.Helper()
	rest := s.out.String() + s.err.String()
	for _, text := range texts {
		_, after, ok := strings.Cut(rest, text)
		if !ok {
			s.u.t.Fatalf("%q is missing, or in another place, in\n%s%s", text, &s.out, &s.err)
		}
		rest = after
	}
}

// fits checks that it all fits on a screen.
func (s *show) fits() {
	s.u.t.Helper()
	lines := strings.Split(strings.TrimSuffix(s.out.String(), "\n"), "\n")
	if len(lines) > 30 {
		s.u.t.Errorf("%d lines, want at most 30", len(lines))
	}
	for _, line := range lines {
		if n := len([]rune(line)); n > 80 {
			s.u.t.Errorf("%d columns, want at most 80: %s", n, line)
		}
	}
}

var story = []string{
	"alice → bob", "please review", "delivered, evidence:", "bob → alice", "delivered, evidence:", "alice → you", "Bob says: line 12",
	"ci → alice", "ci → alice", "for: draft", "kill -9", "alice → you", "proceed?", "for: dialog", "both messages", "delivered",
	"alice → ci", "/clear", "alice → ci", "!rm -rf",
}

// noAgents hides the real agents of this machine.
func (u *user) noAgents() []string {
	return []string{"RELAY_CACHE=" + u.dir, "PATH=" + u.bin + ":/usr/bin:/bin", "RELAY_CLAUDE=", "RELAY_CODEX="}
}

func TestProveDemoWithoutRealAgents(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	s := u.plays(0, 0, "", u.noAgents()...)
	s.says("No real Claude Code: no claude 2.1.329", "none in PATH", "No real Codex: no codex", "built-in agent; bob is a small built-in agent")
	s.says(append(story, "\n\nShown: 6 messages")...)
}

func TestDemoBuiltin(t *testing.T) {
	t.Parallel()
	s := newUser(t).plays(0, 0, "", "RELAY_DEMO=builtin")
	s.says(append([]string{"alice is a small built-in agent"}, story...)...)
	s.fits()
}

func TestProveRealDemo(t *testing.T) {
	t.Parallel()
	for _, a := range []agentrig.Agent{agentrig.Claude(agentrig.ClaudeNow), agentrig.Codex()} {
		path, err := a.Find()
		testrig.Require(t, a.Name(), err)
		t.Log(path)
	}
	cache, err := os.UserCacheDir() // of this user, not the one of the test
	must(t, err)
	s := newUser(t).plays(0, 0, "", "XDG_CACHE_HOME="+cache)
	s.says(append([]string{"the real Claude Code 2.1.329; bob is the real Codex 0.169.0"}, story...)...)
	s.says("read each message once", "in one turn\n\nShown: 6 messages")
	s.fits()
}

func TestDemoTellsTheWayOut(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	broken, err := exec.LookPath("false")
	must(t, err)
	s := u.plays(1, 0, "", append(u.noAgents(), "RELAY_CLAUDE="+broken)...)
	s.says("alice, the real Claude Code 2.1.329, ended by itself, with status 1", s.logPath(), "hint: relay demo --builtin")
	for _, part := range []string{"== alice, ", "agent_up", "== alice.log", "== router.log"} {
		if !bytes.Contains(s.log(), []byte(part)) {
			t.Errorf("%q is not in the log: %s", part, s.log())
		}
	}
}

func TestSignalEndsTheDemoAndLeavesNothing(t *testing.T) {
	t.Parallel()
	for sig, at := range map[syscall.Signal]string{syscall.SIGTERM: "for: draft", syscall.SIGINT: "keyboard"} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			s := newUser(t).plays(128+int(sig), sig, at, "RELAY_DEMO=builtin")
			if got, want := s.err.String(), fmt.Sprintf("relay: ended by a signal: %v\n", sig); got != want {
				t.Errorf("it said %q, want %q", got, want)
			}
		})
	}
}
