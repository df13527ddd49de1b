package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/term"
)

// jobShell is an interactive bash on a human's terminal, whose word `run` is the wrapper. It keeps
// its own settings of the terminal in the file outside.
func jobShell(t *testing.T) *stage {
	t.Helper()
	s := humanShell(t, "bash", "--norc", "--noprofile", "-i")
	s.sees(ps1)
	s.types("stty -a >outside\r")
	s.sees(ps1)
	return s
}

// humanShell is a shell on a human's terminal, whose word `run` is the wrapper.
func humanShell(t *testing.T, argv ...string) *stage {
	t.Helper()
	testrig.KnownStart()
	home := filepath.Join(scratch(t), "home")
	runs := scratch(t)
	runners(t, runs)
	s := &stage{t: t, home: home, wrapped: true}
	furnish(t, home, filepath.Join(runs, "wrapped"))
	s.Term = testrig.StartTerm(t, term.Options{
		Argv: argv, Dir: home, Env: environ(home, nil),
	})
	return s
}

// job begins words in the shell's background and returns the process id that the shell tells.
func (s *stage) job(words string) int {
	s.t.Helper()
	s.types(words + " & echo \"job=$!.\"\r")
	s.sees("\njob=", ".\r\n", ps1)
	_, after, _ := strings.Cut(string(s.Output()[s.mark:]), "\njob=")
	number, _, _ := strings.Cut(after, ".")
	pid, err := strconv.Atoi(number)
	must(s.t, err)
	return pid
}

// holds reads a file of the shell's home.
func (s *stage) holds(name string) string {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join(s.home, name))
	must(s.t, err)
	return string(b)
}

// stops waits until a process is stopped, with all its threads: sooner its shell does not know.
func (s *stage) stops(pid int) {
	s.t.Helper()
	becomes(s.t, fmt.Sprintf("process %d stopped", pid), func() bool { return isStopped(pid) })
}

// isStopped reports whether all threads of a process are stopped.
func isStopped(pid int) bool {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid)) // the pattern is sound
	return len(tasks) > 0 && !slices.ContainsFunc(tasks, func(task string) bool {
		b, _ := os.ReadFile(task) // a thread that has ended does not count as stopped
		return !bytes.Contains(b, []byte(") T "))
	})
}

// TestBegunInTheBackground: an interactive shell has the terminal in settings for its own line
// editor while a job begins in its background. The agent's are those that the shell gives to what
// it has in front.
func TestBegunInTheBackground(t *testing.T) {
	t.Parallel()
	t.Run("and brought to the front", func(t *testing.T) {
		s := jobShell(t)
		pid := s.job(`run sh -c "stty -a >inside; echo up; exec cat"`)
		s.stops(pid)
		s.types("bg\r")
		s.sees(ps1)
		s.stops(pid) // again: it is not in front yet
		s.types("fg\r")
		s.sees("up\r\n")
		s.types("one\r")
		s.sees("one\r\none\r\n")
		s.types("\x04")
		s.sees(ps1)
		if in, out := s.holds("inside"), s.holds("outside"); in != out {
			t.Errorf("the agent's terminal says\n%s\nthe shell's\n%s", in, out)
		}
		s.leaves()
	})
	// Without a keyboard it need not be in front, and goes on.
	for _, stopped := range []bool{true, false} {
		t.Run(fmt.Sprintf("without a keyboard, stopped before fg: %v", stopped), func(t *testing.T) {
			s := jobShell(t)
			pid := s.job(`run sh -c "stty -a >inside; until [ -e enough ]; do :; done" </dev/null`)
			s.waitsFor("what the agent's terminal says", func() bool {
				b, _ := os.ReadFile(filepath.Join(s.home, "inside")) // not there yet
				return len(b) > 0
			})
			for _, mode := range strings.Fields("icanon icrnl opost onlcr isig iexten ixon") {
				if in := strings.Fields(s.holds("inside")); !slices.Contains(in, mode) {
					t.Errorf("no %s in the agent's terminal: %q", mode, in)
				}
			}
			if stopped { // then fg tells it that it is in front
				s.types("kill -STOP $!\r")
				s.sees(ps1)
				s.stops(pid)
			}
			s.types("fg\r")
			s.waitsFor("the job in front", func() bool {
				m, err := s.Modes()
				must(t, err)
				return m.Oflag&unix.OPOST == 0 || !stopped && m.Lflag&unix.ICANON != 0
			})
			must(t, os.WriteFile(filepath.Join(s.home, "enough"), nil, 0o600))
			s.sees(ps1)
			s.leaves()
		})
	}
}

// leaves checks that the terminal is as the shell's commands found it at first, and ends the shell.
func (s *stage) leaves() {
	s.t.Helper()
	s.types("stty -a >afterwards\r")
	s.sees(ps1)
	if now, before := s.holds("afterwards"), s.holds("outside"); now != before {
		s.t.Errorf("the terminal is left as\n%s\nit was\n%s", now, before)
	}
	s.types("exit\rexit\r") // once is not enough where bash has not heard that a stopped job was killed
	if _, err := s.Wait(bounded(s.t, 30*time.Second, "the end of the shell")); err != nil {
		s.t.Fatalf("%v\nsince the last keys: %q", err, s.Output()[s.mark:])
	}
}
