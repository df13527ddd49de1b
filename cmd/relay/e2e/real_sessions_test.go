package e2e

import (
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/fakemodel"
	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/realagent"
	"relay-pty/cmd/internal/testrig/term"
	"relay-pty/pty/screen"
)

// What is typed by hand, or given on a command line, has the model write a marker behind it; and
// what has it run a command.
const (
	byHand = "whoever this is, mark "
	runIt  = "run that line"
)

// sessionKind is what the tests of a session and of what is beside it know of an agent.
type sessionKind struct {
	runs    [2]string // do one thing: in a conversation of their own, and in that of an ID
	unasked []string  // lets its model run commands
	goesOn  []string  // goes on in the latest conversation
	works   string    // it shows while a turn runs
}

var sessionKinds = map[string]sessionKind{
	"claude": {runs: [2]string{"-p", "-p --resume ID"}, unasked: []string{"--allowedTools=Bash"}, goesOn: []string{"-c"}, works: "esc to interrupt"},
	"codex": {
		runs:    [2]string{"exec --skip-git-repo-check", "exec --skip-git-repo-check resume ID"},
		unasked: []string{"--dangerously-bypass-approvals-and-sandbox"},
	},
	"gemini":   {runs: [2]string{"-p", "--resume ID -p"}, unasked: []string{"--yolo"}, goesOn: []string{"--resume"}, works: "esc to cancel"},
	"opencode": {runs: [2]string{"run", "run --session ID"}, goesOn: []string{"-c"}, works: "esc interrupt"},
}

// sessionCases are ways in which an agent's session changes, or gets company in its directory, with
// the agents that have such a thing.
var sessionCases = []struct {
	name, agents string
	try          func(w *twins)
}{
	{"its commands that change it", "claude", func(w *twins) {
		w.start("alice")
		w.heard("alice")
		first := w.talk("alice")
		for _, line := range []string{"/fork another", "/branch", "/rename one", "/clear", "/resume " + first} {
			w.commands("alice", line)
			w.heard("alice")
		}
	}},
	{"its commands that change it", "codex", func(w *twins) {
		end := w.start("alice")
		w.heard("alice")
		id := w.talk("alice")
		w.chooses("alice", "/new", "Use current Git worktree")
		w.heard("alice")
		end()
		w.start("alice", "resume", id)
		w.heard("alice")
		w.start("bob", "fork", id)
		w.heard("bob")
		w.heard("alice")
	}},
	{"its commands that change it", "gemini", func(w *twins) {
		end := w.start("alice")
		w.heard("alice")
		w.commands("alice", "/chat save one")
		for _, line := range []string{"/clear", "/chat resume one"} {
			w.commands("alice", line)
			w.heard("alice")
		}
		end()
		w.start("alice", "--resume")
		w.heard("alice")
	}},
	{"its commands that change it", "opencode", func(w *twins) {
		end := w.start("alice")
		w.heard("alice")
		id := w.talk("alice")
		w.commands("alice", "/new")
		w.heard("alice")
		end()
		w.start("alice", "--session", id)
		w.heard("alice")
		w.start("bob", "--session", id, "--fork")
		w.heard("bob")
		w.heard("alice")
	}},
	{"forked while it goes on", "claude", func(w *twins) {
		w.start("alice")
		w.heard("alice")
		w.resumes("bob", w.talk("alice"), "alice", "--fork-session")
		for _, name := range []string{"bob", "alice", "bob"} {
			w.heard(name)
		}
	}},
	{"gone on in twice at once", "claude gemini opencode", func(w *twins) {
		end := w.start("zoe")
		w.heard("zoe")
		end()
		for _, name := range []string{"alice", "bob"} {
			w.start(name, w.more().goesOn...)
		}
		w.shows("alice", "zoe")
		w.shows("bob", "zoe")
		for _, name := range []string{"alice", "bob", "bob", "alice"} {
			w.heard(name)
		}
	}},
	{"a person goes on in it, without a wrapper", "claude gemini opencode", func(w *twins) {
		w.start("alice")
		w.heard("alice")
		tm := w.person("", "alice")
		w.types(tm, "other")
		w.heard("alice")
		w.types(tm, "other")
		must(w.t, tm.Close())
		w.heard("alice")
	}},
	{"a person goes on in it, in another wrapper", "claude gemini opencode", func(w *twins) {
		w.start("alice")
		w.heard("alice")
		tm := w.person("bob", "alice")
		w.heard("bob") // before that nobody knows in which conversation bob is
		w.marks("bob", w.types(tm, "bob"))
		w.heard("alice")
		w.marks("bob", w.types(tm, "bob"))
	}},
	{"a command line does one thing beside it", "claude codex gemini opencode", func(w *twins) {
		w.start("alice")
		w.heard("alice")
		for n, line := range w.more().runs {
			argv := w.line(line, "alice")
			cmd := exec.CommandContext(w.ctx, argv[0], argv[1:]...)
			cmd.Dir, cmd.Env = w.real.Dir, w.real.Env
			if out, err := cmd.CombinedOutput(); err != nil && !(n == 1 && w.kind.alone) {
				w.t.Errorf("%s: %v\n%s", line, err, out)
			}
			w.heard("alice")
		}
	}},
	{"its own tool runs such a command line", "claude codex gemini opencode", func(w *twins) {
		w.start("alice", w.more().unasked...)
		w.heard("alice")
		for _, line := range w.more().runs {
			argv, own := w.line(line, "alice"), w.next("alice")
			w.mu.Lock()
			w.tool = toolRun{line: fmt.Sprintf("%s '%s' </dev/null", strings.Join(argv[:len(argv)-1], " "), argv[len(argv)-1]), then: own}
			w.mu.Unlock()
			w.does(w.ctx, "send", "alice", runIt)
			w.marks("alice", own)
			w.heard("alice")
		}
	}},
}

// TestProveTheSessionInFrontIsHeard: whatever becomes of a session, and whatever else runs in its
// directory, messages reach it, what it writes is heard once, and what others write is not its own.
func TestProveTheSessionInFrontIsHeard(t *testing.T) {
	t.Parallel()
	for _, a := range realagent.Tried(agentrig.All()...) {
		for _, c := range sessionCases {
			if !slices.Contains(strings.Fields(c.agents), a.Profile) {
				continue
			}
			t.Run(a.Name()+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				w := newTwins(t, a)
				c.try(w)
				w.check()
				shows(t, "a session of %s: %s => its markers and answers are heard once, and no others as its own", a.Name(), c.name)
			})
		}
	}
}

// serverLines are command lines, by profile, of a server at an ADDRESS and of a terminal on it.
var serverLines = map[string][2]string{
	"codex":    {"app-server --listen ws://ADDRESS", "--remote ws://ADDRESS"},
	"opencode": {"serve --hostname 127.0.0.1 --port PORT", "attach http://ADDRESS"},
}

// TestProveSessionOfAServerIsTold: the server keeps the log of its sessions, so that what the model
// writes is not heard. A message arrives, and the reason and the way out are told.
func TestProveSessionOfAServerIsTold(t *testing.T) {
	t.Parallel()
	for _, a := range realagent.Tried(agentrig.Codex(), agentrig.OpenCode()) {
		t.Run(a.Name(), func(t *testing.T) {
			t.Parallel()
			w := newTwins(t, a)
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			must(t, err)
			at := listener.Addr().String()
			must(t, listener.Close())
			fill := strings.NewReplacer("ADDRESS", at, "PORT", at[strings.LastIndex(at, ":")+1:])
			argv := append(w.program(), strings.Fields(fill.Replace(serverLines[a.Profile][0]))...)
			server := exec.CommandContext(w.ctx, argv[0], argv[1:]...)
			server.Dir, server.Env = w.real.Dir, w.real.Env
			must(t, server.Start())
			t.Cleanup(func() { server.Process.Kill(); server.Wait() }) // it was killed
			w.becomes(w.ctx, "nobody listens", func() bool {
				c, err := net.Dial("tcp", at)
				return err == nil && c.Close() == nil
			})
			line := append(w.program(), strings.Fields(fill.Replace(serverLines[a.Profile][1]))...)
			w.runs(w.ctx, "alice", w.real.Dir, w.real.Env, append([]string{"--agent", a.Profile, "--"}, line...)...)
			what := w.next("alice")
			w.does(w.ctx, "send", "alice", "mark "+what)
			_, err = w.real.API.WaitTurn(w.ctx, func(t fakemodel.Turn) bool { return strings.Contains(t.UserText(), "mark "+what) })
			must(t, err)
			words := strings.Fields(serverLines[a.Profile][1])[0]
			w.becomes(w.ctx, "nobody says why alice is not heard", func() bool {
				told := w.does(w.ctx, "explain", "alice")
				return strings.Contains(told, "nobody hears its answers") && strings.Contains(told, words)
			})
			w.check()
			shows(t, "a session of %s that a server has => messages arrive, what it writes is not heard, and the way out is told", a.Name())
		})
	}
}

func (w *twins) more() sessionKind { return sessionKinds[w.real.Profile] }

// commands has a session do a command of its agent's.
func (w *twins) commands(name, line string) {
	w.t.Helper()
	w.does(w.ctx, "send", name, "--command", line, "--until=delivered")
}

// chooses has a session do a command that asks back, and takes the option that is chosen already.
func (w *twins) chooses(name, line, option string) {
	w.t.Helper()
	w.does(w.ctx, "send", name, "--command", line)
	w.becomes(testrig.Within(w.t, 3*time.Minute), "nobody is asked about "+option, func() bool {
		return strings.Contains(w.does(w.ctx, "explain", name), "blocked by › 1. "+option)
	})
	w.does(w.ctx, "keys", name, "Enter")
}

// line is a command line that has the model write another one's marker, in the conversation in
// which a session has just spoken where it takes an id.
func (w *twins) line(line, of string) []string {
	w.t.Helper()
	words := strings.Fields(line)
	if at := slices.Index(words, "ID"); at >= 0 {
		words[at] = w.talk(of)
	}
	return slices.Concat(w.program(), words, []string{byHand + w.next("other")})
}

// program is the agent's, without the arguments of an interactive one.
func (w *twins) program() []string {
	return slices.Clone(w.real.Argv[:len(w.real.Argv)-len(w.real.Args)])
}

// person is the agent on a terminal, in a wrapper where it has a name, that goes on in the
// conversation of a session and shows its last answer.
func (w *twins) person(name, of string) *term.Term {
	w.t.Helper()
	o := term.Options{Argv: slices.Concat(w.real.Argv, w.more().goesOn), Env: w.real.Env, Dir: w.real.Dir, Rows: 30, Cols: 100, Answers: true}
	if name != "" {
		relay := []string{filepath.Join(w.bin, "relay"), "run", name, "--agent", w.real.Profile, "--socket", filepath.Join(w.dir, name), "--"}
		o.Argv = append(relay, o.Argv...)
		o.Env = slices.Concat(w.env, w.real.Env, environment(w.dir, w.bin)[:2])
	}
	tm := testrig.StartTerm(w.t, o)
	w.t.Cleanup(func() {
		if w.t.Failed() {
			w.t.Logf("the person's terminal at the end\n%s", tm.Screen())
		}
	})
	last := fmt.Sprintf("It is %s-%d.", of, w.asked[of])
	if err := errors.Join(tm.WaitText(w.ctx, last), tm.WaitText(w.ctx, strings.TrimSuffix(w.real.Idle, "\n"))); err != nil {
		w.t.Fatalf("%v\n%s", err, tm.Screen())
	}
	return tm
}

// types has a person type what makes the model write that one's marker, and waits for it.
// It is back when the turn is over: OpenCode answers in each process that is at work what is asked
// then in one of them.
func (w *twins) types(tm *term.Term, name string) (what string) {
	w.t.Helper()
	what = w.next(name)
	asked := func(*screen.Screen) bool {
		return slices.ContainsFunc(w.real.API.Turns(), func(t fakemodel.Turn) bool { return strings.Contains(t.UserText(), byHand+what) })
	}
	err := errors.Join(tm.Paste(byHand+what), tm.WaitText(w.ctx, byHand+what),
		tm.PressUntil(w.ctx, "\r", 20*time.Second, asked), tm.WaitText(w.ctx, "I am "+what),
		tm.WaitScreen(w.ctx, func(s *screen.Screen) bool { return !strings.Contains(term.Dump(s), w.more().works) }))
	if err != nil {
		w.t.Fatalf("%v\n%s", err, tm.Screen())
	}
	return what
}
