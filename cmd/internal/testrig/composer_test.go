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
	"relay-pty/pty/screen"
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

// submits waits for the n-th turn, which must be of text.
func (f *fake) submits(n int, text string) {
	f.t.Helper()
	if got := f.event(agents.KindSubmit, n); got != text {
		f.t.Errorf("submitted %q, want %q", got, text)
	}
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

// wasRead checks all that the agent read.
func (f *fake) wasRead(want string) {
	f.t.Helper()
	must(f.t, f.WaitRead(f.ctx, len(want)))
	if got, err := f.FakeAgent.Read(); string(got) != want || err != nil {
		f.t.Errorf("read %q, %v; want %q", got, err, want)
	}
}

func (f *fake) exits(want int) {
	f.t.Helper()
	if code, err := f.Wait(f.ctx); code != want || err != nil {
		f.t.Errorf("exit %d, %v; want %d", code, err, want)
	}
}

// kinds are the kinds of all events so far.
func (f *fake) kinds() (kinds []string) {
	f.t.Helper()
	all, err := f.EventLog()
	must(f.t, err)
	for _, ev := range all {
		kinds = append(kinds, ev.Kind)
	}
	return kinds
}

func TestComposerTakesAMessage(t *testing.T) {
	for _, alt := range []bool{false, true} {
		f := launch(t, "composer", agents.Config{AltScreen: alt, HistoryTwice: true})
		text := "[relay m1 from bob] row 1\nrow 2\nrow 3\nrow 4\n[end m1]"
		must(t, f.Paste(text))
		f.shows("❯\u00a0[Pasted text #1 +4 lines]")
		f.types("\r")
		f.submits(1, text)
		f.shows(fmt.Sprintf("● ACK %d bytes", len(text)))
		f.wasRead("\x1b[200~" + text + "\x1b[201~\r")
		if n := strings.Count(f.Screen(), "❯ [relay m1"); n != 2 {
			t.Errorf("alt %v: the history has it %d times, want 2:\n%s", alt, n, f.Screen())
		}
		must(t, f.Resize(30, 50))
		f.shows("\n" + strings.Repeat("─", 50) + "\n")
		f.types("\x03\x03")
		f.exits(0)
	}
}

func TestComposerSwallowsEnters(t *testing.T) {
	for swallow, n := range map[int]int{2: 2, -1: 5} {
		f := launch(t, "composer", agents.Config{Swallow: swallow})
		f.drafts("hello", "hello")
		for i := range n {
			f.types("\r")
			if got := f.event(agents.KindSwallow, i+1); got != "hello" {
				t.Errorf("swallowed over %q", got)
			}
		}
		if swallow < 0 {
			must(t, f.Set(f.ctx, map[string]any{"Swallow": 0}))
		}
		f.types("\r")
		f.submits(1, "hello")
	}
}

func TestBusyComposerQueues(t *testing.T) {
	f := launch(t, "composer", agents.Config{BusyMS: -1})
	f.types("work\r")
	f.submits(1, "work")
	must(t, f.WaitScreen(f.ctx, func(s *screen.Screen) bool { return strings.HasPrefix(s.Title(), "◐") }))
	f.shows("esc to interrupt")
	f.drafts("later", "later")
	f.types("\r")
	f.event(agents.KindQueued, 1)
	f.shows("Press up to edit queued messages")
	f.do("idle", "")
	f.submits(2, "later")
	events, err := f.EventLog()
	must(t, err)
	texts, unasked := agents.Taken(events)
	if !slices.Equal(texts, []string{"work", "later"}) || len(unasked) > 0 {
		t.Errorf("took %q, and unasked %v", texts, unasked)
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
		must(t, f.WaitRead(f.ctx, len("hellox2\x1b[200~1\x1b[201~")))
		f.types(keys)
		f.shows("❯\u00a0hello")
		if answer != "" && f.event(agents.KindAnswer, 1) != answer || answer == "" && slices.Contains(f.kinds(), agents.KindAnswer) {
			t.Errorf("%q: got %q", keys, f.kinds())
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
	f.types("\r")
	f.submits(1, "hello")
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
	f := launch(t, "composer", agents.Config{QuitKeys: -1})
	f.drafts("\x03\x03\x03\x04\x04here", "here")
}

func TestRewindOpensOnAnEmptyBoxWithHistory(t *testing.T) {
	f := launch(t, "composer", agents.Config{Rewind: true, BusyMS: 1})
	const escEsc = "\x1b\x1b[I\x1b\x1b[I" // each known by what follows it
	f.types(escEsc)
	f.drafts("hello", "hello")
	f.types("\r")
	f.event(agents.KindReply, 1)
	f.types(escEsc)
	f.shows("Do you want to proceed?")
}

func TestTerminalModesFollowTheScript(t *testing.T) {
	paste := []string{"\x1b[?2004h", "\x1b[?2004l"}
	for _, c := range []struct {
		conf      agents.Config
		with, not []string
	}{
		{agents.Config{}, paste, []string{"\x1b[?1049h", "\x1b[?1003h"}},
		{agents.Config{NoPaste: true}, nil, paste},
		{agents.Config{Mouse: true}, []string{"\x1b[?1003h", "\x1b[?1003l"}, nil},
		{agents.Config{AltScreen: true}, []string{"\x1b[?1049h", "\x1b[?1049l"}, nil},
	} {
		f := launch(t, "composer", c.conf)
		raw, err := f.Raw()
		must(t, err)
		f.do("quit", "")
		f.exits(0)
		left, err := f.Raw()
		if err != nil || !raw || left {
			t.Errorf("%+v: raw %v, then %v, %v", c.conf, raw, left, err)
		}
		for _, seq := range append(c.with, c.not...) {
			if n := bytes.Count(f.Output(), []byte(seq)); n > 0 != slices.Contains(c.with, seq) || n > 1 {
				t.Errorf("%+v: %q stands in the output %d times", c.conf, seq, n)
			}
		}
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

// The cursor that the terminal shows must stand where text goes.
func TestCursorStandsBehindTheText(t *testing.T) {
	for _, conf := range []agents.Config{{}, {AltScreen: true}, {Look: "bare"}, {HardWrap: true}} {
		f := launch(t, "composer", conf)
		f.types("one\nt")
		f.types("wo")
		err := f.WaitScreen(f.ctx, func(s *screen.Screen) bool {
			row, col := s.Cursor()
			return s.RowTo(row, col) == "  two" && strings.HasSuffix(strings.TrimRight(s.Row(row-1), " "), "one")
		})
		if err != nil {
			t.Errorf("%+v: %v\n%s", conf, err, f.Screen())
		}
	}
}

func TestWhatComposersShow(t *testing.T) {
	for _, c := range []struct {
		conf        agents.Config
		typed, want string
	}{
		{agents.Config{Ghost: "Try it"}, "", "\n❯\u00a0Try it\n───"},
		{agents.Config{Look: "bare", Ghost: "Try it"}, "", "› Try it\n\n  fake-model"},
		{agents.Config{Look: "bare"}, "hi", "› hi\n\n  fake-model"},
		{agents.Config{}, strings.Repeat("aaaa ", 17) + "b", "aaaa\n  aaaa aaaa b\n"},
		{agents.Config{HardWrap: true}, strings.Repeat("aaaa ", 17) + "b", "aaaa aa\n  aa aaaa b\n"},
		{agents.Config{Chips: "never"}, "\x1b[200~a\nb\nc\nd\x1b[201~", "a\n  b\n  c\n  d\n"},
	} {
		f := launch(t, "composer", c.conf)
		f.types(c.typed)
		f.shows(c.want)
	}
	f := launch(t, "composer", agents.Config{Spin: true})
	f.shows("Composing… (3)")
}

func TestComposerHandsItsTerminalToAnEditor(t *testing.T) {
	for _, own := range []bool{false, true} {
		f := launch(t, "composer", agents.Config{EditorGroup: own})
		f.drafts("a draft", "a draft")
		f.do("edit", "")
		f.types("typed")
		f.shows("fake editor\ntyped\n")
		must(t, f.WaitScreen(f.ctx, func(s *screen.Screen) bool { return s.Modes().AltScreen && !s.Modes().BracketedPaste }))
		must(t, f.Resize(30, 60)) // unheard by a composer whose group is in the background
		f.do("done", "")
		f.shows("❯\u00a0a draft\n" + strings.Repeat("─", 60))
		must(t, f.WaitScreen(f.ctx, func(s *screen.Screen) bool { return !s.Modes().AltScreen && s.Modes().BracketedPaste }))
		f.drafts("!", "a draft!")
		f.wasRead("a draft!")
		if got, err := f.Child().Read(); string(got) != "typed" || err != nil {
			t.Errorf("the editor read %q, %v", got, err)
		}
	}
}
