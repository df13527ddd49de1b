package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/fakemodel"
	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/realagent"
	"relay-pty/cmd/relay/internal/router"
)

// twinKind is what the tests of several sessions in one directory know of an agent.
type twinKind struct {
	clear  string   // the command that begins another conversation
	logs   string   // below its home
	id     string   // in a log, of the conversation
	resume []string // goes on in that one
	first  []string // makes what all of its processes share; nil: nothing is to be made
	alone  bool     // it refuses what another process has open
}

var twinKinds = map[string]twinKind{
	"claude":   {clear: "/clear", logs: ".claude/projects/*/*.jsonl", id: `"sessionId":"([^"]+)"`, resume: []string{"--resume"}},
	"codex":    {clear: "/clear", logs: ".codex/sessions/*/*/*/rollout-*.jsonl", id: `"id":"([0-9a-f-]{36})"`, resume: []string{"resume"}, alone: true},
	"gemini":   {clear: "/clear", logs: ".gemini/tmp/*/chats/session-*.jsonl", id: `"sessionId":"([^"]+)"`, resume: []string{"--resume"}},
	"opencode": {clear: "/new", logs: ".local/share/opencode/*.db-wal", id: `(ses_\w{26})`, resume: []string{"--session"}, first: []string{"session", "list"}},
	"qwen":     {clear: "/clear", logs: ".qwen/projects/*/chats/*.jsonl", id: `"sessionId":"([^"]+)"`, resume: []string{"--resume"}},
}

// twins are sessions of one agent, with one home, in one directory.
type twins struct {
	*user
	kind twinKind
	real realagent.Agent
	ctx  context.Context

	mu    sync.Mutex
	asked map[string]int // by name
	tool  toolRun
}

// toolRun is what a session's model is to run by its shell tool, and to write a marker of then.
type toolRun struct{ line, then string }

// asks is a message that asks the model for a marker, or for an answer in words.
var asks = regexp.MustCompile(`(?m)^\[relay \S+ from human\]\s*(mark|tell) (\S+)`)

func (w *twins) model(t fakemodel.Turn) fakemodel.Reply {
	text := w.real.Received(t)
	w.mu.Lock()
	tool := w.tool
	w.mu.Unlock()
	switch _, what, typed := strings.Cut(text, byHand); {
	case typed:
		return marker(strings.Trim(strings.Fields(what)[0], `"'`))
	case strings.Contains(text, runIt):
		return fakemodel.Bash(tool.line)
	case len(t.Results) > 0:
		return marker(tool.then)
	}
	all := asks.FindAllStringSubmatch(text, -1)
	if len(all) != 1 {
		return fakemodel.Say("I do not know.")
	}
	if what := all[0][2]; all[0][1] == "mark" {
		return marker(what)
	} else {
		return fakemodel.Say(fmt.Sprintf("It is %s.", what))
	}
}

func marker(what string) fakemodel.Reply {
	return fakemodel.Say(fmt.Sprintf("Well.\n->relay:human <<<I am %s>>>\n", what))
}

// start starts a session of that name.
func (w *twins) start(name string, args ...string) (end func()) {
	w.t.Helper()
	argv := slices.Concat([]string{"--agent", w.real.Profile, "--allow-command", "--"}, w.real.Argv, args)
	return w.runs(w.ctx, name, w.real.Dir, w.real.Env, argv...)
}

// next is what that session is to say next.
func (w *twins) next(name string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked[name]++
	return fmt.Sprintf("%s-%d", name, w.asked[name])
}

// heard has a session write a marker, and then answer in words.
func (w *twins) heard(name string) {
	w.t.Helper()
	what := w.next(name)
	w.does(w.ctx, "send", name, "mark "+what)
	w.marks(name, what)
	w.answers(name)
}

// marks waits for a session's marker.
func (w *twins) marks(name, what string) {
	w.t.Helper()
	w.sees(testrig.Within(w.t, 3*time.Minute), name+"'s marker", func(e router.Event) bool {
		return e.Type == router.TypeMessage && e.From == name && e.To == router.Human && e.Body == "I am "+what
	})
}

// answers has a session answer in words.
func (w *twins) answers(name string) {
	w.t.Helper()
	w.says(name, w.next(name))
}

// answersBoth has a session answer two questions, the second asked as soon as it has the first.
func (w *twins) answersBoth(name string) {
	w.t.Helper()
	first := w.next(name)
	var asked sync.WaitGroup
	asked.Go(func() { w.says(name, first) })
	_, err := w.real.API.WaitTurn(w.ctx, func(t fakemodel.Turn) bool { return strings.Contains(t.UserText(), "tell "+first) })
	if w.answers(name); err != nil {
		w.t.Errorf("%s was not asked for %s: %v", name, first, err)
	}
	asked.Wait()
}

func (w *twins) says(name, what string) {
	w.t.Helper()
	if got, want := w.does(w.ctx, "send", name, "tell "+what, "--wait=5m"), "It is "+what+".\n"; got != want {
		w.t.Errorf("%s answers %q, want %q\n%s", name, got, want, w.does(w.ctx, "events"))
	}
}

// resumes starts a session that goes on in a conversation of that one's, and waits until it shows
// the last answer there: until then an agent may throw away what is typed.
func (w *twins) resumes(name, talk, of string, args ...string) {
	w.t.Helper()
	w.start(name, slices.Concat(w.kind.resume, []string{talk}, args)...)
	w.shows(name, of)
}

// shows waits until a session shows the last answer of that one's.
func (w *twins) shows(name, of string) {
	w.t.Helper()
	last := fmt.Sprintf("It is %s-%d.", of, w.asked[of])
	w.becomes(w.ctx, name+" to show "+last, func() bool {
		shown, _ := w.command(w.ctx, "screen", name).Output() // it may not run yet
		return bytes.Contains(shown, []byte(last))
	})
}

// talk is the id of the conversation in which that session has just spoken, no other one having
// begun since.
func (w *twins) talk(name string) string {
	w.t.Helper()
	said := fmt.Appendf(nil, "It is %s-%d.", name, w.asked[name])
	paths, _ := filepath.Glob(filepath.Join(filepath.Dir(w.real.Dir), "home", w.kind.logs)) // the pattern is sound
	for _, path := range paths {
		text, err := os.ReadFile(path)
		must(w.t, err)
		if id := regexp.MustCompile(w.kind.id).FindSubmatch(text); id != nil && bytes.Contains(text, said) {
			return string(id[1])
		}
	}
	w.t.Fatalf("%q stands in none of %q", said, paths)
	return ""
}

// twinCases are what becomes of sessions of one agent in one directory. At quick counts each is
// tried with one agent.
var twinCases = []struct {
	name, quick string
	try         func(w *twins)
}{
	{"two at once", "gemini", func(w *twins) {
		w.start("alice")
		w.start("bob")
		w.heard("alice")
		w.heard("bob")
		w.heard("alice")
	}},
	{"three at once", "", func(w *twins) {
		names := []string{"alice", "bob", "carol"}
		for _, name := range names {
			w.start(name)
		}
		for _, name := range append(names, names...) {
			w.heard(name)
		}
	}},
	{"one after the other", "", func(w *twins) {
		w.start("alice")
		w.heard("alice")
		w.start("bob")
		w.heard("alice")
		w.heard("bob")
		w.heard("alice")
	}},
	{"the first is resumed while the second runs", "codex", func(w *twins) {
		end := w.start("alice")
		w.heard("alice")
		id := w.talk("alice")
		w.start("bob")
		w.heard("bob")
		end()
		w.resumes("alice", id, "alice")
		w.heard("alice")
		w.heard("bob")
	}},
	{"the second begins another conversation", "claude", func(w *twins) {
		w.start("alice")
		w.start("bob")
		w.heard("alice")
		w.heard("bob")
		w.does(w.ctx, "send", "bob", "--command", w.kind.clear, "--until=delivered")
		w.heard("bob")
		w.heard("alice")
	}},
	{"the first ends and is started again", "", func(w *twins) {
		end := w.start("alice")
		w.start("bob")
		w.heard("alice")
		w.heard("bob")
		end()
		w.start("alice")
		w.heard("alice")
		w.heard("bob")
	}},
	{"both get messages at the same time", "opencode", func(w *twins) {
		w.start("alice")
		w.start("bob")
		var all sync.WaitGroup
		for _, name := range []string{"alice", "bob"} {
			all.Go(func() {
				for range 3 {
					w.heard(name)
				}
			})
		}
		all.Wait()
		w.answersBoth("bob")
	}},
	{"both go on in one conversation", "", func(w *twins) {
		w.start("alice")
		w.heard("alice")
		if id := w.talk("alice"); !w.kind.alone {
			w.resumes("bob", id, "alice")
			w.heard("bob")
			w.heard("alice")
			w.heard("bob")
		}
	}},
}

// TestRealTwinsAreHeardApart: of several sessions of one agent in one directory each is heard with
// its own markers and answers, once, and never with another's.
func TestRealTwinsAreHeardApart(t *testing.T) {
	t.Parallel()
	for _, a := range realagent.Tried(agentrig.All()...) {
		for _, c := range twinCases {
			if !testrig.Proving() && c.quick != a.Profile {
				continue
			}
			t.Run(a.Name()+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				w := newTwins(t, a)
				c.try(w)
				w.check()
				shows(t, "sessions of %s in one directory: %s => each is heard with its own markers and answers alone", a.Name(), c.name)
			})
		}
	}
}

func newTwins(t *testing.T, a agentrig.Agent) *twins {
	w := &twins{user: newUser(t), kind: twinKinds[a.Profile], ctx: testrig.Within(t, 12*time.Minute), asked: map[string]int{}}
	w.real = realagent.SetUp(t, a, testrig.Dir(t))
	w.real.API.Respond(w.model)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(w.does(context.WithoutCancel(w.ctx), "events"))
		}
	})
	if w.kind.first != nil {
		cmd := exec.CommandContext(w.ctx, w.real.Argv[0], w.kind.first...)
		cmd.Dir, cmd.Env = w.real.Dir, w.real.Env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out)
		}
	}
	return w
}

// check checks that each session said what it was asked to say, once, and nothing else was said.
func (w *twins) check() {
	w.t.Helper()
	said := map[string]int{}
	for _, e := range w.log(w.ctx) {
		switch {
		case e.Type == router.TypeRefused:
			w.t.Errorf("refused: %+v", e)
		case e.Type == router.TypeMessage && e.To == router.Human:
			if said[e.Body]++; said[e.Body] > 1 || !strings.HasPrefix(e.Body, "I am "+e.From+"-") {
				w.t.Errorf("%s is heard to say %q, for the time %d", e.From, e.Body, said[e.Body])
			}
		}
	}
}
