package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/agents"
	"relay-pty/cmd/internal/testrig/term"
	"relay-pty/parser"
)

// fake is a fake agent under the wrapper; its byte log tells what it was typed.
type fake struct {
	*wrapped
	agent testrig.FakeAgent
}

func startFake(t *testing.T, name string, conf agents.Config, flags ...string) *fake {
	t.Helper()
	a, err := testrig.Agent(scratch(t), name, conf)
	must(t, err)
	env := append(os.Environ(), "HOME="+scratch(t)) // no session file of a real agent
	w := start(t, term.Options{Argv: a.EnvArgv(), Env: env}, flags...)
	f := &fake{w, a}
	ctx := patience(t, "the first output of "+name)
	must(t, w.WaitOutput(ctx, func(b []byte) bool { return len(b) > 0 })) // its control socket is there before
	_, err = a.WaitEvent(ctx, agents.KindStart, 1)
	must(t, err)
	return f
}

func startComposer(t *testing.T, conf agents.Config) *fake {
	t.Helper()
	f := startFake(t, "composer", conf, "--agent", "claude")
	f.state("ready")
	return f
}

func (f *fake) do(c agents.Command) {
	f.t.Helper()
	_, err := f.agent.Do(patience(f.t, "the fake agent's answer to "+c.Cmd), c)
	must(f.t, err)
}

// stands is how the agent stands.
func (f *fake) stands() agents.State {
	f.t.Helper()
	st, err := f.agent.State(patience(f.t, "the fake agent's state"))
	must(f.t, err)
	return st
}

// read is every byte the agent was typed so far.
func (f *fake) read() string {
	f.t.Helper()
	b, err := f.agent.Read()
	must(f.t, err)
	return string(b)
}

// submits are the texts that were submitted so far.
func (f *fake) submits() []string {
	f.t.Helper()
	events, err := f.agent.EventLog()
	must(f.t, err)
	var out []string
	for _, e := range events {
		if e.Kind == agents.KindSubmit {
			out = append(out, e.Text)
		}
		if e.Kind == agents.KindCommand {
			f.t.Fatalf("a command was run: %q", e.Text)
		}
	}
	return out
}

func text(id, body string) string {
	return parser.Envelope{ID: id, From: "bob", Body: body}.Text()
}

func TestComposerReceivesEveryMessageOnce(t *testing.T) {
	t.Parallel()
	for name, conf := range map[string]agents.Config{
		"plain": {}, "full screen": {AltScreen: true}, "never silent": {Spin: true}, "ghost text": {Ghost: "Try \"fix the tests\""},
		"no bracketed paste": {NoPaste: true},
	} {
		t.Run(name, func(t *testing.T) {
			f := startComposer(t, conf)
			var want []string
			for i, body := range shapes("/nowhere")[:runs(4, 20)] {
				if conf.NoPaste && (len(body) > 700 || strings.Count(body, "\n") > 1) {
					continue // without the brackets it takes these for a paste, header and all
				}
				id := fmt.Sprintf("m%d", i)
				f.inject(id, body)
				f.delivers(id, "submitted")
				want = append(want, text(id, body))
			}
			got := f.submits()
			if len(got) != len(want) {
				t.Fatalf("%d submitted, want %d: %q", len(got), len(want), got)
			}
			for i := range want {
				if got[i] != want[i] {
					t.Errorf("message %d: submitted %q, want %q", i, clip(got[i]), clip(want[i]))
				}
			}
		})
	}
}

func TestComposerDialogHoldsMessages(t *testing.T) {
	t.Parallel()
	f := startComposer(t, agents.Config{})
	n := runs(2, 20)
	for i := range n {
		typed := f.read()
		f.do(agents.Command{Cmd: "dialog", Text: "rm -rf"})
		f.state("blocked")
		id := fmt.Sprintf("d%d", i)
		f.inject(id, "hello")
		f.held(id, "dialog", 100*time.Millisecond)
		if got := f.read(); got != typed {
			t.Fatalf("typed %q into a dialog", got[len(typed):])
		}
		must(t, f.Type("\x1b"))
		end := f.delivers(id, "submitted")
		f.rests(end)
		if got := f.read()[len(typed):]; !strings.HasPrefix(got, "\x1b\x1b[200~[relay "+id) && !strings.HasPrefix(got, "\x1b[relay "+id) {
			t.Fatalf("the agent read %q, want the human's Esc and then the message", got)
		}
	}
	events, err := f.agent.EventLog()
	must(t, err)
	for _, e := range events {
		if e.Kind == agents.KindAnswer {
			t.Fatalf("a dialog was answered by %q", e.Text)
		}
	}
	shown(t, "composer: dialog open, not one byte written until the human answered (byte log)", "%d of %d", n, n)
}

func TestComposerDraftHoldsMessages(t *testing.T) {
	t.Parallel()
	f := startComposer(t, agents.Config{Ghost: "Press up to edit"})
	var want []string
	n := runs(2, 20)
	for i := range n {
		typed := f.read()
		draft := fmt.Sprintf("draft %d", i)
		must(t, f.Type(draft))
		must(t, f.WaitText(patience(t), draft))
		id := fmt.Sprintf("h%d", i)
		f.inject(id, "hello")
		f.held(id, "draft", 100*time.Millisecond)
		if got := f.read(); got != typed+draft {
			t.Fatalf("typed %q beside a draft", got[len(typed):])
		}
		if i%2 == 0 {
			must(t, f.Type("\r"))
			want = append(want, draft)
		} else {
			must(t, f.Type("\x15"))
		}
		want = append(want, text(id, "hello"))
		f.rests(f.delivers(id, "submitted"))
	}
	if got := f.submits(); strings.Join(got, "\x00") != strings.Join(want, "\x00") {
		t.Errorf("submitted %q, want %q", got, want)
	}
	shown(t, "composer: draft, not one byte written until it was sent or cleared (byte log)", "%d of %d", n, n)
}

func TestComposerThatStallsSwallowsTheEnterOnce(t *testing.T) {
	t.Parallel()
	f := startComposer(t, agents.Config{})
	f.do(agents.Command{Cmd: "stall"})
	f.inject("m1", "hello")
	if _, err := f.client.WaitStatus(patience(t), "m1", "injecting"); err != nil {
		t.Fatal(err)
	}
	f.do(agents.Command{Cmd: "resume"})
	f.delivers("m1", "submitted")
	if got := f.submits(); len(got) != 1 || got[0] != text("m1", "hello") {
		t.Errorf("submitted %q", got)
	}
}

func TestKeysTypedDuringAMessageFollowIt(t *testing.T) {
	t.Parallel()
	f := startComposer(t, agents.Config{})
	f.do(agents.Command{Cmd: "stall"})
	f.inject("m1", "hello")
	if _, err := f.client.WaitStatus(patience(t), "m1", "injecting"); err != nil {
		t.Fatal(err)
	}
	must(t, f.Type("typed meanwhile"))
	f.do(agents.Command{Cmd: "resume"})
	f.delivers("m1", "submitted")
	must(t, f.WaitText(patience(t), "❯\u00a0typed meanwhile"))
	if got := f.submits(); len(got) != 1 || got[0] != text("m1", "hello") {
		t.Errorf("submitted %q", got)
	}
	if got := f.read(); !strings.HasSuffix(got, "\rtyped meanwhile") || strings.Count(got, "typed meanwhile") != 1 {
		t.Errorf("the agent read %q", got)
	}
}
