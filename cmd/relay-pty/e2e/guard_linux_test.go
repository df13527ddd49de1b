package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/term"
	"relay-pty/pty/screen"
)

const (
	// modes are those of a full-screen program, and undone what undoes them.
	modes  = `\033[?1049h\033[?1003;1006;2004h\033[?25l\033[>1u`
	undone = "\x1b[?1049l\x1b[?25h\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[m"
)

// fullScreen is an agent that writes what is given, as printf takes it, and waits.
func fullScreen(writes string) string {
	return `run sh -c 'echo $$ $PPID >pids; stty raw -echo; printf "` + writes + `up"; exec cat'`
}

// guardian is the process that watches the terminal for the shell's wrapper, when it knows all.
func (s *stage) guardian() int {
	s.t.Helper()
	guardian := s.guards()
	s.settles(guardian)
	return guardian
}

// guards is that process, which may have more to hear: the wrapper's front, or a child of it.
func (s *stage) guards() int {
	s.t.Helper()
	guardian := 0
	s.waitsFor("the terminal's guardian", func() bool {
		tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", s.process()))
		must(s.t, err)
		near := strconv.Itoa(s.runs())
		for _, task := range tasks {
			b, _ := os.ReadFile(task) // a thread that has ended
			near += " " + string(b)
		}
		for _, pid := range strings.Fields(near) {
			line, _ := os.ReadFile("/proc/" + pid + "/cmdline") // it may have ended
			if bytes.Contains(line, []byte("stty -g")) {
				guardian, err = strconv.Atoi(pid)
				must(s.t, err)
			}
		}
		return guardian != 0 && s.rested(guardian)
	})
	return guardian
}

// settles waits until the wrapper has nothing more to do, so has told the guardian what it had to.
func (s *stage) settles(guardian int) {
	s.t.Helper()
	last, same := 0, 0
	s.waitsFor("the wrapper at rest", func() bool {
		if now := testrig.Switches(s.t, s.process()); now != last || !s.rested(guardian) {
			last, same = now, 0
		}
		same++
		return same > 20
	})
}

// rested reports whether the guardian has heard all and looked at the terminal: it waits in a read,
// of the pipe.
func (s *stage) rested(guardian int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/syscall", guardian))
	return err == nil && strings.HasPrefix(string(b), fmt.Sprintf("%d 0x0 ", syscall.SYS_READ))
}

// gone waits until a process has ended; nobody may have asked for its status yet.
func (s *stage) gone(pid int) {
	s.t.Helper()
	s.waitsFor(fmt.Sprintf("the end of process %d", pid), func() bool {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err != nil || bytes.Contains(b, []byte(") Z "))
	})
}

// A shell that leaves the terminal's settings as its jobs leave them shows what the guardian does.
func startDash(t *testing.T) (s *stage, found term.Modes) {
	t.Helper()
	s = humanShell(t, "dash", "-i")
	s.sees("$ ")
	s.types("true\r") // dash has done with the terminal
	s.sees("\n$ ")
	found, err := s.Modes()
	must(t, err)
	return s, found
}

func (s *stage) exits() {
	s.t.Helper()
	s.types("exit\r")
	_, err := s.Wait(patience(s.t, "the end of the shell"))
	must(s.t, err)
}

func TestTerminalOfAKilledWrapper(t *testing.T) {
	t.Parallel()
	wrapper, front := (*stage).process, (*stage).runs
	for _, c := range []struct {
		name   string
		shell  string // what is said to it before
		sig    syscall.Signal
		whom   func(*stage) int
		status int
	}{
		{"killed", "", syscall.SIGKILL, wrapper, 137},
		{"crashed", "", syscall.SIGSEGV, wrapper, 2},
		{"its front killed", "", syscall.SIGKILL, front, 137},
		{"killed, without job control", "set +m; ", syscall.SIGKILL, wrapper, 137},
		{"crashed, without job control", "set +m; ", syscall.SIGSEGV, wrapper, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, found := startDash(t)
			s.types(c.shell + fullScreen(modes) + "\r")
			s.sees("up")
			guardian, wrapper := s.guardian(), s.process()
			if fronted := guardian == s.runs(); fronted != (c.shell == "") {
				t.Errorf("the guardian is the front: %v", fronted)
			}
			s.mark = len(s.Output())
			must(t, syscall.Kill(c.whom(s), c.sig))
			s.gone(guardian)
			s.gone(wrapper)
			if now, err := s.Modes(); err != nil || now != found {
				t.Errorf("the terminal's settings are %+v, %v, want %+v", now, err, found)
			}
			must(t, s.WaitScreen(patience(t, "a screen without traces"), func(s *screen.Screen) bool { return s.Traces() == screen.Traces{} }))
			s.waitsFor("the shell's prompt", func() bool { return bytes.Contains(s.Output()[s.mark:], []byte("$ ")) })
			s.types("echo $?\r")
			s.sees(fmt.Sprintf("\r\n%d\r\n$ ", c.status))
			s.exits()
		})
	}
}

// TestShellOfAKilledWrapper: an interactive shell has its own idea of the terminal by then.
func TestShellOfAKilledWrapper(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGSEGV} {
		t.Run(sig.String(), func(t *testing.T) {
			s := jobShell(t)
			s.types(fullScreen(modes) + "\r")
			s.sees("up")
			guardian := s.guardian()
			s.mark = len(s.Output())
			must(t, syscall.Kill(s.process(), sig))
			s.gone(guardian)
			s.sees("$ ")
			s.types("\r")
			s.sees(ps1)
			s.leaves()
		})
	}
}

func TestGuardianWritesWhatIsOnAndNothingElse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, writes, want string }{
		{"nothing", `\033[31mred\033[m `, ""},
		{"what was switched off again", modes + `\033[?1049;1003;1006;2004l\033[?25h`, ""},
		{"bracketed paste", `\033[?2004h`, "\x1b[?2004l\x1b[m"},
		{"a full screen", strings.TrimSuffix(modes, `\033[>1u`), undone},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, _ := startDash(t)
			s.types(fullScreen(c.writes) + "\r")
			s.sees("up")
			guardian := s.guardian()
			s.mark = len(s.Output())
			must(t, syscall.Kill(s.process(), syscall.SIGKILL))
			s.gone(guardian)
			s.waitsFor("the shell's prompt", func() bool { return bytes.Contains(s.Output()[s.mark:], []byte("$ ")) })
			got := strings.NewReplacer("Killed", "", "\r", "", "\n", "", "$ ", "").Replace(string(s.Output()[s.mark:]))
			if got != c.want {
				t.Errorf("after the end %q was written, want %q", got, c.want)
			}
			s.exits()
		})
	}
}

// TestGuardianKeepsStillWhenWeEnd: what the agent leaves behind is as without us.
func TestGuardianKeepsStillWhenWeEnd(t *testing.T) {
	t.Parallel()
	s, _ := startDash(t)
	s.types(`run sh -c 'echo $$ $PPID >pids; printf "\033[?2004h\033[6 qup"; read x'` + "\r")
	s.sees("up")
	guardian := s.guardian()
	fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.agentPid()))
	must(t, err)
	if len(fds) != 3 {
		t.Errorf("the agent has %v open, want 0, 1 and 2", fds)
	}
	s.types("\r")
	s.sees("\r\n$ ")
	if err := syscall.Kill(guardian, 0); err != syscall.ESRCH {
		t.Errorf("the guardian is there when the wrapper is not: %v", err)
	}
	if out := s.Output()[s.mark:]; bytes.ContainsRune(out, '\x1b') {
		t.Errorf("after the end %q was written", out)
	}
	s.exits()
}

// TestGuardianKeepsStillWhileWeAreStopped: then the terminal is the shell's.
func TestGuardianKeepsStillWhileWeAreStopped(t *testing.T) {
	t.Parallel()
	s := jobShell(t)
	s.types(`run sh -c 'echo $$ $PPID >pids; printf "\033[6 qup"; exec cat'` + "\r")
	s.sees("up")
	guardian := s.guardian()
	for range 2 { // and again after it went on
		s.types("\x1a")
		s.sees("Stopped", ps1)
		s.types("fg\r")
		s.sees("exec cat'\r\n") // said by the shell: the terminal is no longer its own
		s.waitsFor("the wrapper in front", func() bool { raw, err := s.Raw(); must(t, err); return raw })
		s.types("abc\r")
		s.sees("abc\r\nabc\r\n")
	}
	s.types("\x1a")
	s.sees("Stopped", ps1)
	s.mark = len(s.Output())
	must(t, syscall.Kill(s.process(), syscall.SIGKILL))
	s.gone(s.process())
	s.types("fg; echo $?\r") // of which the front takes the end as its own
	s.gone(guardian)
	s.sees("\r\n137\r\n", ps1)
	if out := s.Output()[s.mark:]; bytes.Contains(out, []byte("\x1b[0 q")) {
		t.Errorf("after the end %q was written", out)
	}
	s.leaves()
}

// agentPid is the agent of the shell's wrapper.
func (s *stage) agentPid() int {
	s.t.Helper()
	own, _, _ := strings.Cut(s.holds("pids"), " ")
	pid, err := strconv.Atoi(own)
	must(s.t, err)
	return pid
}
