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

	"relay-pty/cmd/internal/testrig"
)

// follows connects to the wrapper that is alone in s.
func (s *stage) follows() *wrapped {
	s.t.Helper()
	var sockets []string
	s.waitsFor("a socket", func() bool {
		var err error
		sockets, err = filepath.Glob(filepath.Join(filepath.Dir(s.home), "r*[0-9]"))
		must(s.t, err)
		return len(sockets) > 0
	})
	return s.connects(sockets[0])
}

// connects connects to a wrapper in s, and subscribes to its events.
func (s *stage) connects(socket string) *wrapped {
	s.t.Helper()
	w := &wrapped{t: s.t, Term: s.Term, socket: socket}
	w.subscribes()
	return w
}

// isStopped waits until the state says so, and checks that the socket then answers as always: a
// message is accepted and waits, another expires, a third is withdrawn.
func (w *wrapped) isStopped(round string) {
	w.t.Helper()
	w.state("stopped")
	if f := w.status(); f.Str("state") != "stopped" {
		w.t.Errorf("the status is %s", f.Raw)
	}
	for _, c := range []struct {
		id      string
		timeout int
	}{{"expires", 300}, {"withdrawn", 0}, {"waits", 0}} {
		must(w.t, w.client.Send(map[string]any{
			"type": "inject", "id": c.id + round, "from": "bob", "body": "hello", "timeout_ms": c.timeout,
		}))
		f, err := w.client.WaitStatus(patience(w.t, "queued"), c.id+round, "queued")
		must(w.t, err)
		if f.Str("waiting_for") != "stopped" {
			w.t.Errorf("accepted so: %s", f.Raw)
		}
	}
	if f := w.ends("expires" + round); f.Str("status") != "expired" {
		w.t.Errorf("it ended as %s", f.Raw)
	}
	_, err := w.client.Cancel(patience(w.t, "the withdrawal"), "withdrawn"+round)
	must(w.t, err)
	if f := w.request(fields("query", "id", "waits"+round)); f.Str("status") != "queued" {
		w.t.Errorf("it waits no more: %s", f.Raw)
	}
}

// humanShells are those whose job control is tried, and what they say of a stopped job.
var humanShells = []struct {
	name, stopped, status string
	argv                  []string
}{
	{"bash", "Stopped", "$?", []string{"bash", "--norc", "--noprofile", "-i"}},
	{"zsh", "suspended", "$?", []string{"zsh", "-f", "-i"}},
	{"dash", "Stopped", "$?", []string{"dash", "-i"}},
	{"fish", "stopped", "$status", []string{"fish", "--no-config", "--features", "no-query-term", "-C", "function fish_prompt; echo -n '$ '; end"}},
}

// TestCtrlZLeavesTheSocketAtWork: the shell has its prompt and a stopped job, while the wrapper
// answers; in the background the job stops again, as who wants a keyboard; in front it goes on, the
// messages are delivered, and its exit status is the agent's.
func TestCtrlZLeavesTheSocketAtWork(t *testing.T) {
	t.Parallel()
	for _, shell := range humanShells {
		t.Run(shell.name, func(t *testing.T) {
			t.Parallel()
			_, err := exec.LookPath(shell.name)
			testrig.Require(t, shell.name, err)
			s := humanShell(t, shell.argv...)
			s.shows("$")
			s.types("run sh -c 'echo $$ $PPID >pids; echo up; while read x; do test $x = q && exit 6; echo got $x; done'\r")
			s.waitsFor("the agent", func() bool { return strings.Contains(string(s.Output()), "up\r\n") })
			w := s.follows()
			for _, round := range []string{"1", "2"} {
				s.types("\x1a")
				s.tells(shell.stopped)
				w.isStopped(round)
				s.types("jobs\r")
				s.tells(shell.stopped)
				s.continued("bg\r")
				if round == "2" {
					s.types("\r") // for the shell to tell of it, as some do only then
				}
				s.types("fg\r")
				w.delivers("waits"+round, "echo")
			}
			front := s.runs()
			s.types("q\r")
			s.gone(front)
			s.types("run sh -c 'exit 6'; echo status " + shell.status + ".\r")
			s.tells("status 6.")
			s.types("exit\r")
			_, err = s.Wait(patience(t, "the end of the shell"))
			must(t, err)
		})
	}
}

// tells waits until a part is in the output since the last keys, wherever it ends.
func (s *stage) tells(part string) {
	s.t.Helper()
	if err := s.WaitOutput(patience(s.t), func(out []byte) bool { return bytes.Contains(out[s.mark:], []byte(part)) }); err != nil {
		s.t.Fatalf("no %q: %v\nsince the last keys: %q", part, err, s.Output()[s.mark:])
	}
}

// continued types what continues the job in the background, and waits until it is stopped again.
func (s *stage) continued(words string) {
	s.t.Helper()
	before := testrig.Switches(s.t, s.runs())
	s.types(words)
	s.waitsFor("the job stopped again", func() bool {
		return testrig.Switches(s.t, s.runs()) > before && isStopped(s.runs()) // in this order: it was stopped before, too
	})
}

// stoppedJob is a bash with a stopped job, whose agent waits for lines and tells each signal that
// it gets, and the job's wrapper.
func stoppedJob(t *testing.T) (*stage, *wrapped) {
	t.Helper()
	s := jobShell(t)
	s.types(`run sh -c 'trap "echo hup >>heard; exit 3" HUP; trap "echo term >>heard" TERM; echo $$ $PPID >pids; echo up; while :; do read x || exit 4; done'` + "\r")
	s.sees("up\r\n")
	w := s.follows()
	s.types("\x1a")
	s.sees("Stopped", ps1)
	w.state("stopped")
	return s, w
}

// TestEndOfAStoppedJob: it ends as one that runs, and leaves the shell's terminal alone.
func TestEndOfAStoppedJob(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		act  func(*stage)
		told string // by the shell
		hup  bool   // the agent hears of it
	}{
		{"kill %1", func(s *stage) { s.types("kill %1\r") }, "Exit 143", true},
		{"kill -HUP of the front", func(s *stage) { s.types(fmt.Sprintf("kill -HUP %d; kill -CONT %d\r", s.runs(), s.runs())) }, "Exit 129", true},
		{"kill of the wrapper", func(s *stage) { must(s.t, syscall.Kill(s.process(), syscall.SIGTERM)) }, "Exit 143", true},
		{"kill -9 %1", func(s *stage) { s.types("kill -9 %1\r") }, "Killed", true},
		{"kill -9 of the front", func(s *stage) { must(s.t, syscall.Kill(s.runs(), syscall.SIGKILL)) }, "Killed", true},
		{"kill -9 of the agent", func(s *stage) { must(s.t, syscall.Kill(s.agentPid(), syscall.SIGKILL)) }, "Exit 137", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, _ := stoppedJob(t)
			front, wrapper, agent := s.runs(), s.process(), s.agentPid()
			s.mark = len(s.Output())
			c.act(s)
			s.gone(wrapper)
			s.gone(front)
			s.isTold(c.told)
			s.gone(agent)
			heard, _ := os.ReadFile(filepath.Join(s.home, "heard")) // not there: nothing
			if (string(heard) == "hup\n") != c.hup {
				t.Errorf("the agent heard %q", heard)
			}
			s.types("\r")
			s.sees(ps1)
			s.leaves()
		})
	}
}

// isTold waits until the shell tells of its job, which it does with the next prompt.
func (s *stage) isTold(what string) {
	s.t.Helper()
	s.waitsFor(what, func() bool {
		if strings.Contains(string(s.Output()[s.mark:]), what) {
			return true
		}
		must(s.t, s.Type("\r"))
		s.rests()
		return false
	})
}

// TestShellClosedOverAStoppedJob: the window is closed.
func TestShellClosedOverAStoppedJob(t *testing.T) {
	t.Parallel()
	s, w := stoppedJob(t)
	wrapper, agent := s.process(), s.agentPid()
	must(t, s.Hangup())
	s.gone(wrapper)
	s.gone(agent)
	if _, err := os.Lstat(w.socket); err == nil {
		t.Error("the socket is left behind")
	}
}

// TestStopFromElsewhere: whoever stops the job from outside finds its agent stopped and the shell's
// terminal the shell's, as with any program; the socket answers all the same.
func TestStopFromElsewhere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		sig  syscall.Signal
	}{{"SIGSTOP", syscall.SIGSTOP}, {"SIGTSTP", syscall.SIGTSTP}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := jobShell(t)
			s.types(`run sh -c 'echo $$ $PPID >pids; echo up; while :; do until [ -e says ]; do :; done; echo said; rm says; read x; echo got $x; done'` + "\r")
			s.sees("up\r\n")
			w := s.follows()
			for range 2 {
				s.mark = len(s.Output())
				must(t, syscall.Kill(s.runs(), c.sig))
				s.sees("Stopped", ps1)
				must(t, os.WriteFile(filepath.Join(s.home, "says"), nil, 0o600)) // by which the wrapper sees a SIGSTOP
				w.state("stopped")
				s.types("echo mine\r")
				s.sees("\rmine\r\n", ps1)
				if out := string(s.Output()[s.mark:]); strings.Contains(out, "said") {
					t.Errorf("over the shell's prompt the agent wrote %q", out)
				}
				s.continued(fmt.Sprintf("kill -CONT %d\r", s.runs()))
				s.types("fg\r")
				s.sees("said\r\n")
				s.types("abc\r")
				s.sees("got abc\r\n")
			}
			s.types("\x03")
			s.tells("$ ")
			s.leaves()
		})
	}
}

// TestStopThatIsOver: what stops a job may be carried out when a shell has it in front again. A
// signal that reaches the wrapper late is not heeded, nor the word to stop again in the background.
func TestStopThatIsOver(t *testing.T) {
	t.Parallel()
	s := jobShell(t)
	s.types(`run sh -c 'echo $$ $PPID >pids; echo up; while read x; do echo got $x; done'` + "\r")
	s.sees("up\r\n")
	s.follows()
	for range 5 {
		must(t, syscall.Kill(s.process(), syscall.SIGTSTP))
		word, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/3", s.process()), os.O_WRONLY, 0)
		must(t, err)
		_, err = word.WriteString("behind\n")
		must(t, errors.Join(err, word.Close()))
		s.types("abc\r")
		s.sees("got abc\r\n")
	}
	s.types("\x1a")
	s.sees("Stopped", ps1)
	s.types("fg\r")
	s.types("abc\r")
	s.sees("got abc\r\n")
	s.types("\x04")
	s.sees(ps1)
	s.leaves()
}

// TestPipelineAndScriptStopAsAWhole: a shell's job is all of its processes.
func TestPipelineAndScriptStopAsAWhole(t *testing.T) {
	t.Parallel()
	for name, words := range map[string]string{
		"a pipeline": `run sh -c 'echo up; read x; echo got $x' | cat`,
		"a script":   `sh -c "run sh -c 'echo up; read x; echo got \$x'; echo after"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := jobShell(t)
			s.types(words + "\r")
			s.tells("\rup\r\n")
			s.types("\x1a")
			s.sees("Stopped", ps1)
			s.types("fg\r")
			s.tells("\r" + words[:4]) // the shell says what it continues
			s.waitsFor("the wrapper in front", func() bool { raw, err := s.Raw(); must(t, err); return raw })
			s.types("abc\r")
			s.tells("got abc")
			s.waitsFor("the shell's prompt", func() bool { return strings.HasSuffix(string(s.Output()), ps1) })
			s.leaves()
		})
	}
}

// TestCtrlZBeforeTheAgentIsThere: the terminal is still in line mode, and makes a signal of it.
func TestCtrlZBeforeTheAgentIsThere(t *testing.T) {
	t.Parallel()
	s := jobShell(t)
	for round := range 6 {
		s.types(fmt.Sprintf("run sh -c 'echo up%d; read x; echo got $x'\r", round))
		s.tells("\n\x1b[?2004l\r")
		pause(t, time.Duration(round)*2*time.Millisecond)
		// It does nothing while the shell has the terminal still.
		s.suspends(time.Second)
		s.tells(ps1)
		s.types("fg %1\r") // of a job that was stopped this early bash has no current one
		s.tells("\rrun sh -c")
		s.waitsFor("the wrapper in front", func() bool { raw, err := s.Raw(); must(t, err); return raw })
		s.types("abc\r")
		s.tells("got abc")
		s.waitsFor("the shell's prompt", func() bool { return strings.HasSuffix(string(s.Output()), ps1) })
	}
	s.leaves()
}

// suspends presses Ctrl-Z until the shell has a stopped job, again after each pause: too early, it
// does nothing.
func (s *stage) suspends(pause time.Duration) {
	s.t.Helper()
	s.waitsFor("a stopped job", func() bool {
		must(s.t, s.Type("\x1a"))
		ctx, cancel := context.WithTimeout(s.t.Context(), pause)
		defer cancel()
		return s.WaitOutput(ctx, func(out []byte) bool { return bytes.Contains(out[s.mark:], []byte("Stopped")) }) == nil
	})
}
