package testrig

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"relay-pty/cmd/internal/testrig/agents"
	"relay-pty/cmd/internal/testrig/term"
)

// fake is a fake agent on a terminal, and the test that runs it.
type fake struct {
	FakeAgent
	*Term
	t   *testing.T
	ctx context.Context
}

// launch starts a fake agent and waits until it can be typed at.
func launch(t *testing.T, name string, conf agents.Config) *fake {
	t.Helper()
	a, err := Agent(t.TempDir(), name, conf)
	must(t, err)
	f := &fake{a, StartTerm(t, term.Options{Argv: a.EnvArgv()}), t, deadline(t)}
	f.event(agents.KindStart, 1)
	return f
}

// event waits for the n-th event of a kind and returns its text.
func (f *fake) event(kind string, n int) string {
	f.t.Helper()
	ev, err := f.WaitEvent(f.ctx, kind, n)
	if err != nil {
		f.t.Fatalf("%v\n%s", err, f.Output())
	}
	return ev.Text
}

func (f *fake) do(cmd, text string) agents.State {
	f.t.Helper()
	st, err := f.Do(f.ctx, agents.Command{Cmd: cmd, Text: text})
	must(f.t, err)
	return st
}

func (f *fake) types(keys string) {
	f.t.Helper()
	must(f.t, f.Type(keys))
}

// drafts types keys and waits until the draft is text.
func (f *fake) drafts(keys, text string) {
	f.t.Helper()
	f.types(keys)
	must(f.t, poll(f.ctx, fmt.Sprintf("the draft %q", text), func() (bool, error) {
		st, err := f.State(f.ctx)
		return st.Draft == text, err
	}))
}

func (f *fake) shows(text string) {
	f.t.Helper()
	if err := f.WaitText(f.ctx, text); err != nil {
		f.t.Fatalf("%v\n%s", err, f.Screen())
	}
}

// unasked is what happened that nobody asked for.
func (f *fake) unasked() (texts string) {
	f.t.Helper()
	all, err := f.EventLog()
	must(f.t, err)
	_, events := agents.Taken(all)
	for _, ev := range events {
		texts += ev.Text
	}
	return texts
}

func (f *fake) exits(want int) {
	f.t.Helper()
	if code, err := f.Wait(f.ctx); code != want || err != nil {
		f.t.Errorf("exit %d, %v; want %d", code, err, want)
	}
}

// A dialog that a message or its Enter answers must be caught.
func TestDialogIsAnsweredByKeysAlone(t *testing.T) {
	for keys, answer := range map[string]string{"\r": "Enter", "1": "1", "\x1b": ""} {
		f := launch(t, "composer", agents.Config{DialogOn: "hello"})
		f.drafts("hell", "hell")
		f.drafts("o", "hello")
		f.shows("Do you want to proceed?")
		if strings.Contains(f.Screen(), "hello") {
			t.Errorf("the box shows beside the dialog:\n%s", f.Screen())
		}
		f.types("x2")
		must(t, f.Paste("1"))
		must(t, f.WaitRead(f.ctx, len("hellox2\x1b[200~1\x1b[201~"))) // a paste takes the Enter of its read
		f.types(keys)
		f.shows("❯\u00a0hello")
		f.drafts("", "hello")
		if got := f.unasked(); got != answer {
			t.Errorf("%q: answered %q, want %q", keys, got, answer)
		}
	}
	f := launch(t, "composer", agents.Config{DialogOn: "*"})
	f.types("hi\r") // of one read
	f.event(agents.KindAnswer, 1)
	f.drafts("", "hi")
}

// What came apart joins while nobody reads.
func TestStalledComposerJoinsEnterToThePaste(t *testing.T) {
	f := launch(t, "composer", agents.Config{})
	f.do("stall", "")
	must(t, f.Paste("hello"))
	pasted := len("\x1b[200~hello\x1b[201~")
	must(t, f.WaitUnread(f.ctx, pasted))
	f.types("\r")
	must(t, f.WaitUnread(f.ctx, pasted+1))
	f.drafts("", "")
	f.do("resume", "")
	f.drafts("", "hello\n")
}

// Each of these would betray an injector that takes the composer for a plainer one.
func TestComposersHabits(t *testing.T) {
	picker := agents.Config{Picker: []string{"/clear", "/clean", "@out.txt"}, BusyMS: -1}
	for _, c := range []struct {
		name  string
		conf  agents.Config
		reads []string // each waits until the draft has changed
		draft string
		kind  string // of an event; "": no special one
	}{
		{"a command is run", agents.Config{}, []string{"/clear", "\r"}, "", agents.KindCommand},
		{"Esc Esc clears", agents.Config{}, []string{"one\ntwo", "\x1b\x1b"}, "", ""},
		{"C-c clears", agents.Config{QuitKeys: 1}, []string{"one\ntwo", "\x03"}, "", ""},
		{"C-u kills back to the newline before", agents.Config{}, []string{"one\ntwo", "\x15\x15"}, "one", ""},
		{"a backslash makes Enter a newline", agents.Config{}, []string{"one\\", "\r"}, "one\n", ""},
		{"a stash comes back", agents.Config{BusyMS: -1}, []string{"draft", "\x13", "message", "\r"}, "draft", ""},
		{"Enter picks a command", picker, []string{"/cle", "\r"}, "/clear ", agents.KindPick},
		{"Tab picks a file", picker, []string{"see @o", "\t"}, "see @out.txt ", agents.KindPick},
		{"no command in the middle of a text", picker, []string{"see /cle", "\r"}, "", agents.KindSubmit},
		{"no file behind a blank", picker, []string{"@out.txt ", "\r"}, "", agents.KindSubmit},
		{"Esc hands the message back", agents.Config{ReturnPrompt: true, BusyMS: -1}, []string{"think", "\r", "\x1b"}, "think", ""},
		{"Enter is swallowed", agents.Config{Swallow: 1}, []string{"hello", "\r!"}, "hello!", agents.KindSwallow},
		{"Enter queues while it works", agents.Config{BusyMS: -1}, []string{"work", "\r", "later", "\r"}, "", agents.KindQueued},
		{"no keys quit", agents.Config{QuitKeys: -1}, []string{"\x03\x03\x03\x04\x04here"}, "here", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := launch(t, "composer", c.conf)
			for i, keys := range c.reads {
				f.types(keys)
				f.event(agents.KindDraft, i+1)
			}
			f.drafts("", c.draft)
			if c.kind != "" {
				f.event(c.kind, 1)
			}
		})
	}
}

func TestRedraws(t *testing.T) {
	for redraw, want := range map[string]struct{ frames, clears int }{"": {1, 0}, "twice": {2, 0}, "clear": {1, 1}} {
		for _, alt := range []bool{false, true} {
			f := launch(t, "composer", agents.Config{Redraw: redraw, AltScreen: alt, Still: true, Greeting: "the greeting"})
			f.shows("? for shortcuts")
			before := len(f.Output())
			f.types("frame")
			f.shows("❯\u00a0frame")
			f.do("quit", "")
			f.exits(0)
			out := string(f.Output()[before:])
			if n, cleared := strings.Count(out, "\u00a0frame\x1b"), strings.Count(out, "\x1b[3J"); n != want.frames || cleared != want.clears {
				t.Errorf("%q, alt %v: %d frames, cleared %d times: %q", redraw, alt, n, cleared, out)
			}
		}
	}
}

// What a composer shows, in its output and on its screen, is what its Config says.
func TestWhatComposersShow(t *testing.T) {
	const paste, mouse, alt = "\x1b[?2004h", "\x1b[?1003h", "\x1b[?1049h"
	long := strings.Repeat("aaaa ", 17) + "b"
	for _, c := range []struct {
		conf        agents.Config
		keys, shows string
		with, not   []string
	}{
		{agents.Config{}, long, "aaaa\n  aaaa aaaa b\n", []string{paste}, []string{alt, mouse}},
		{agents.Config{HardWrap: true}, long, "aaaa aa\n  aa aaaa b\n", nil, nil},
		{agents.Config{NoPaste: true}, "hi", "❯\u00a0hi\n", nil, []string{paste}},
		{agents.Config{Mouse: true}, "", "? for shortcuts", []string{mouse}, nil},
		{agents.Config{AltScreen: true}, "", "? for shortcuts", []string{alt}, nil},
		{agents.Config{Ghost: "Try it"}, "", "\n❯\u00a0Try it\n───", nil, nil},
		{agents.Config{Look: "bare", Ghost: "Try it"}, "", "› Try it\n\n  fake-model", nil, nil},
		{agents.Config{Look: "bare"}, "hi", "› hi\n\n  fake-model", nil, nil},
		{agents.Config{}, "\x1b[200~a\nb\nc\nd\x1b[201~", "❯\u00a0[Pasted text #1 +3 lines]", nil, nil},
		{agents.Config{Chips: "never"}, "\x1b[200~a\nb\nc\nd\x1b[201~", "a\n  b\n  c\n  d\n", nil, nil},
		{agents.Config{HistoryTwice: true}, "hi\r", "❯ hi\n❯ hi\n", nil, nil},
		{agents.Config{Spin: true}, "", "Composing… (3)", nil, nil},
		{agents.Config{Rewind: true, BusyMS: 1}, "hi\r\x1b[I\x1b\x1b[I\x1b\x1b[I", "Do you want to proceed?", nil, nil},
	} {
		f := launch(t, "composer", c.conf)
		for keys := range strings.SplitAfterSeq(c.keys, "\r") {
			f.types(keys)
			if strings.HasSuffix(keys, "\r") {
				f.event(agents.KindReply, 1)
			}
		}
		f.shows(c.shows)
		f.do("quit", "")
		f.exits(0)
		if raw, err := f.Raw(); raw || err != nil {
			t.Errorf("%+v: left raw %v, %v", c.conf, raw, err)
		}
		for _, seq := range append(c.with, c.not...) {
			on, off := bytes.Count(f.Output(), []byte(seq)), bytes.Count(f.Output(), []byte(strings.TrimSuffix(seq, "h")+"l"))
			if on != off || on > 0 != slices.Contains(c.with, seq) {
				t.Errorf("%+v: %q stands in the output %d times, its end %d times", c.conf, seq, on, off)
			}
		}
	}
}

func TestQuitKeys(t *testing.T) {
	for conf, want := range map[int]int{0: 2, 1: 1} {
		f := launch(t, "composer", agents.Config{QuitKeys: conf})
		for n := range want {
			f.drafts("", "") // it is still there
			f.types("\x03")
			must(t, f.WaitRead(f.ctx, n+1))
		}
		f.exits(0)
	}
}

func TestEditorReadsWhatIsTyped(t *testing.T) {
	for _, own := range []bool{false, true} {
		f := launch(t, "composer", agents.Config{EditorGroup: own})
		f.do("edit", "")
		f.types("typed")
		f.shows("fake editor\ntyped\n")
		must(t, f.Child().WaitRead(f.ctx, len("typed"))) // it logs behind what it shows
		f.do("done", "")
		f.drafts("!", "!")
		if got, err := f.Child().Read(); string(got) != "typed" || err != nil {
			t.Errorf("the editor read %q, %v", got, err)
		}
	}
}

func TestSlowReadsAByteAtATime(t *testing.T) {
	f := launch(t, "slow", agents.Config{})
	f.drafts("abc", "abc")
	if first := f.event(agents.KindDraft, 1); first != "a" {
		t.Errorf("the first draft was %q", first)
	}
}

func TestAgentsRefuseWhatTheyDoNotKnow(t *testing.T) {
	for _, name := range []string{"composer", "line"} {
		f := launch(t, name, agents.Config{})
		if _, err := f.Do(f.ctx, agents.Command{Cmd: "nonsense"}); err == nil || !strings.Contains(err.Error(), "nonsense") {
			t.Errorf("%s: no such command: got %v", name, err)
		}
		if err := f.Set(f.ctx, map[string]any{"NoSuchField": 1}); err == nil || !strings.Contains(err.Error(), "NoSuchField") {
			t.Errorf("%s: no such field: got %v", name, err)
		}
	}
}
