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
	"time"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/testrig"
)

// show is one start of the demo.
type show struct {
	*exec.Cmd
	u        *user
	tmp      string // its TMPDIR, alone in the environment of all that it starts
	out, err bytes.Buffer
	until    string
	told     chan struct{} // closed when out holds until
}

func (s *show) Write(b []byte) (int, error) {
	before := strings.Contains(s.out.String(), s.until)
	s.out.Write(b)
	if !before && strings.Contains(s.out.String(), s.until) {
		close(s.told)
	}
	return len(b), nil
}

// shows starts the demo with env added; told tells when it printed until.
func (u *user) shows(until string, env ...string) *show {
	u.t.Helper()
	ctx, cancel := context.WithTimeoutCause(u.t.Context(), 2*patience, errors.New("the demo does not end"))
	u.t.Cleanup(cancel)
	s := &show{Cmd: u.command(ctx, "demo"), u: u, tmp: filepath.Join(u.dir, "t"), until: until, told: make(chan struct{})}
	if err := os.Mkdir(s.tmp, 0o700); err != nil {
		u.t.Fatal(err)
	}
	s.Env = append(append(s.Env, "TMPDIR="+s.tmp), env...)
	s.Stdout, s.Stderr = s, &s.err
	s.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := s.Start(); err != nil {
		u.t.Fatal(err)
	}
	return s
}

func (s *show) log() string { return filepath.Join(s.u.dir, "state", "relay", "demo.log") }

// ends waits for the end with that status, and checks that nothing is left.
func (s *show) ends(status int) {
	s.u.t.Helper()
	if err := s.Wait(); s.ProcessState.ExitCode() != status {
		log, _ := os.ReadFile(s.log())
		s.u.t.Fatalf("ended with %v, want status %d\n%s%s\n%s", err, status, &s.out, &s.err, log)
	}
	left, err := os.ReadDir(s.tmp)
	if err != nil || len(left) > 0 {
		s.u.t.Errorf("left %v in TMPDIR, %v", left, err)
	}
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	limit := time.After(patience)
	for pids := s.left(); len(pids) > 0; pids = s.left() {
		select {
		case <-again.C:
		case <-limit:
			s.u.t.Fatalf("left processes %v", pids)
		}
	}
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
	"ci → alice", "ci → alice", "for: draft", "kill -9", "for: dialog", "both messages", "delivered", "alice → ci", "/clear", "alice → ci", "!rm -rf", "Shown: 6 messages",
}

// noAgents hides the real agents of this machine.
func (u *user) noAgents() []string {
	return []string{"RELAY_CACHE=" + u.dir, "PATH=" + u.bin + ":/usr/bin:/bin", "RELAY_CLAUDE=", "RELAY_CODEX="}
}

func TestDemoWithoutRealAgents(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	s := u.shows("Shown", u.noAgents()...)
	s.ends(0)
	s.says("No real Claude Code: no claude 2.1.329", "none in PATH", "No real Codex: no codex", "built-in agent; bob is a small built-in agent")
	s.says(story...)
}

func TestDemoBuiltin(t *testing.T) {
	t.Parallel()
	s := newUser(t).shows("Shown", "RELAY_DEMO=builtin")
	s.ends(0)
	s.says(append([]string{"built-in agent"}, story...)...)
	s.fits()
}

func TestRealDemo(t *testing.T) {
	t.Parallel()
	for _, a := range []agentrig.Agent{agentrig.Claude(agentrig.ClaudeNow), agentrig.Codex()} {
		path, err := a.Find()
		testrig.Require(t, a.Name(), err)
		t.Log(path)
	}
	u := newUser(t)
	s := u.shows("Shown", "XDG_CACHE_HOME="+cacheHome(t))
	s.ends(0)
	s.says(append([]string{"the real Claude Code 2.1.329; bob is the real Codex 0.169.0"}, story...)...)
	s.says("as one turn", "Shown")
	s.fits()
}

// cacheHome is where this user, not the one of the test, has the agents.
func cacheHome(t *testing.T) string {
	dir, err := os.UserCacheDir()
	must(t, err)
	return dir
}

func TestDemoTellsTheWayOut(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	broken, err := exec.LookPath("false")
	must(t, err)
	s := u.shows("Shown", append(u.noAgents(), "RELAY_CLAUDE="+broken)...)
	s.ends(1)
	s.says("Claude Code ended by itself, with status 1", s.log(), "hint: relay demo --builtin")
	log, err := os.ReadFile(s.log())
	if err != nil || !bytes.Contains(log, []byte("== alice.log")) || !bytes.Contains(log, []byte("== router.log")) {
		t.Errorf("the log holds %q, %v", log, err)
	}
}

func TestDemoRefusesAnUnknownChoice(t *testing.T) {
	t.Parallel()
	s := newUser(t).shows("Shown", "RELAY_DEMO=codex")
	s.ends(2)
	s.says(`RELAY_DEMO is "codex", want builtin or nothing`)
}

func TestSignalEndsTheDemoAndLeavesNothing(t *testing.T) {
	t.Parallel()
	for sig, at := range map[syscall.Signal]string{syscall.SIGTERM: "for: draft", syscall.SIGINT: "keyboard"} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			s := newUser(t).shows(at, "RELAY_DEMO=builtin")
			select {
			case <-s.told:
			case <-time.After(patience):
				t.Errorf("%q was not printed within %v", at, patience)
			}
			if err := syscall.Kill(-s.Process.Pid, sig); err != nil { // all of the job, as ^C does
				t.Fatal(err)
			}
			s.ends(128 + int(sig))
			if got, want := s.err.String(), fmt.Sprintf("relay: ended by a signal: %v\n", sig); got != want {
				t.Errorf("it said %q, want %q", got, want)
			}
		})
	}
}
