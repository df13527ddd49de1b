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

// typeAs types s and waits until the composer's n-th change of its draft.
func typeAs(t *testing.T, ctx context.Context, a FakeAgent, tm *Term, s string, n int) {
	t.Helper()
	must(t, tm.Type(s))
	_, err := a.WaitEvent(ctx, agents.KindDraft, n)
	must(t, err)
}

func submitted(t *testing.T, ctx context.Context, a FakeAgent, n int, want string) {
	t.Helper()
	ev, err := a.WaitEvent(ctx, agents.KindSubmit, n)
	must(t, err)
	if ev.Text != want {
		t.Errorf("submitted %q, want %q", ev.Text, want)
	}
}

func TestComposerSwallowsEnters(t *testing.T) {
	ctx := deadline(t)
	a, tm := launch(t, ctx, "composer", agents.Config{Swallow: 2})
	typeAs(t, ctx, a, tm, "hello", 1)
	must(t, tm.Type("\r"))
	_, err := a.WaitEvent(ctx, agents.KindSwallow, 1)
	must(t, err)
	must(t, tm.Type("\r"))
	ev, err := a.WaitEvent(ctx, agents.KindSwallow, 2)
	must(t, err)
	st, err := a.State(ctx)
	must(t, err)
	if ev.Text != "hello" || st.Draft != "hello" || st.Swallowed != 2 || st.Swallow != 0 {
		t.Errorf("swallowed over %q, then %+v; want the text to stay", ev.Text, st)
	}
	must(t, tm.Type("\r"))
	submitted(t, ctx, a, 1, "hello")
}

func TestWedgedComposerTakesTextAndNeverEnter(t *testing.T) {
	ctx := deadline(t)
	a, tm := launch(t, ctx, "composer", agents.Config{})
	must(t, a.Set(ctx, map[string]any{"swallow": -1}))
	typeAs(t, ctx, a, tm, "hello", 1)
	for n := range 5 {
		must(t, tm.Type("\r"))
		_, err := a.WaitEvent(ctx, agents.KindSwallow, n+1)
		must(t, err)
	}
	typeAs(t, ctx, a, tm, "!", 2)
	must(t, tm.WaitText(ctx, "❯\u00a0hello!"))
	if st, err := a.State(ctx); err != nil || st.Swallowed != 5 || st.Swallow != -1 {
		t.Errorf("got %+v, %v", st, err)
	}
	must(t, a.Set(ctx, map[string]any{"swallow": 0}))
	must(t, tm.Type("\r"))
	submitted(t, ctx, a, 1, "hello!")
}

func TestFrozenComposerReadsButPaintsNothing(t *testing.T) {
	for _, alt := range []bool{false, true} {
		ctx := deadline(t)
		a, tm := launch(t, ctx, "composer", agents.Config{AltScreen: alt, ReadBytes: 1, Still: true, BusyMS: -1})
		must(t, tm.WaitText(ctx, "? for shortcuts"))
		must(t, a.Set(ctx, map[string]any{"frozen": true}))
		typeAs(t, ctx, a, tm, "hid", 3)
		must(t, tm.Type("\r"))
		submitted(t, ctx, a, 1, "hid")
		typeAs(t, ctx, a, tm, "new", 7)
		must(t, a.Set(ctx, map[string]any{"frozen": false}))
		must(t, tm.WaitScreen(ctx, func(s *screen.Screen) bool {
			d := term.Dump(s)
			return strings.Contains(d, "❯ hid\n") && strings.Contains(d, "❯\u00a0new") && strings.HasPrefix(s.Title(), "◐")
		}))
		for _, frame := range []string{"❯\u00a0h", "\u00a0hi", "\u00a0hid"} {
			if bytes.Contains(tm.Output(), []byte(frame)) {
				t.Errorf("alt %v: frozen, yet it painted %q", alt, frame)
			}
		}
	}
}

func TestPicker(t *testing.T) {
	conf := agents.Config{SlashPicker: []string{"/clear", "/clean"}, AtPicker: []string{"@out.txt", "@in.txt"}}
	for _, c := range []struct {
		name, typed string
		open        []string
		keys        string // in reads of their own
		draft       string
		kind        string
	}{
		{"Enter takes a command", "/cle", []string{"/clear", "/clean"}, "\r", "/clear ", agents.KindPick},
		{"Tab does", "/clean", []string{"/clean"}, "\t", "/clean ", agents.KindPick},
		{"Enter takes a file", "see @o", []string{"@out.txt"}, "\r", "see @out.txt ", agents.KindPick},
		{"all files under a bare @", "@", []string{"@out.txt", "@in.txt"}, "\r", "@out.txt ", agents.KindPick},
		{"Esc closes and Enter submits", "see @o", []string{"@out.txt"}, "\x1b\r", "", agents.KindSubmit},
		{"not in the middle of a text", "see /cle", nil, "\r", "", agents.KindSubmit},
		{"not after a blank", "see @out.txt now", nil, "\r", "", agents.KindSubmit},
		{"not without an entry", "see @none", nil, "\r", "", agents.KindSubmit},
		{"not inside a word", "me@out", nil, "\r", "", agents.KindSubmit},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx := deadline(t)
			a, tm := launch(t, ctx, "composer", conf)
			typeAs(t, ctx, a, tm, c.typed, 1)
			st, err := a.State(ctx)
			must(t, err)
			if !slices.Equal(st.Offers, c.open) || (st.Mode == "picker") != (c.open != nil) {
				t.Errorf("got offers %q in mode %s, want %q", st.Offers, st.Mode, c.open)
			}
			if c.open != nil {
				must(t, tm.WaitText(ctx, "  ❯ "+c.open[0]))
			}
			for _, key := range c.keys {
				must(t, tm.Type(string(key)))
				if key == '\x1b' {
					_, err := a.WaitEvent(ctx, agents.KindCancel, 1)
					must(t, err)
				}
			}
			_, err = a.WaitEvent(ctx, c.kind, 1)
			must(t, err)
			if st, err := a.State(ctx); err != nil || st.Draft != c.draft || st.Offers != nil {
				t.Errorf("then %+v, %v; want draft %q and no list", st, err, c.draft)
			}
		})
	}
}

func TestTerminalModesFollowTheKnobs(t *testing.T) {
	for _, c := range []struct {
		knob    string
		value   any
		off     any
		on, end string
	}{
		{"no_paste", false, true, "\x1b[?2004h", "\x1b[?2004l"},
		{"mouse", true, false, "\x1b[?1000h\x1b[?1002h\x1b[?1003h\x1b[?1006h", "\x1b[?1006l\x1b[?1003l\x1b[?1002l\x1b[?1000l"},
		{"kitty", 1, 0, "\x1b[>1u", "\x1b[<u"},
		{"other_keys", 2, 0, "\x1b[>4;2m", "\x1b[>4;0m"},
		{"alt_screen", true, false, "\x1b[?1049h", "\x1b[?1049l"},
	} {
		ctx := deadline(t)
		a, tm := launch(t, ctx, "composer", agents.Config{NoPaste: true})
		must(t, tm.WaitText(ctx, "? for shortcuts"))
		if bytes.Contains(tm.Output(), []byte(c.on)) {
			t.Errorf("%s: on before it was asked for", c.knob)
		}
		for n, v := range []any{c.value, c.off, c.value} {
			must(t, a.Set(ctx, map[string]any{c.knob: v}))
			must(t, tm.WaitOutput(ctx, func(b []byte) bool {
				return bytes.Count(b, []byte(c.on)) == (n+2)/2 && bytes.Count(b, []byte(c.end)) == (n+1)/2
			}))
		}
		_, err := a.Do(ctx, agents.Command{Cmd: "quit"})
		must(t, err)
		_, err = tm.Wait(ctx)
		must(t, err)
		if n := bytes.Count(tm.Output(), []byte(c.end)); n != 2 {
			t.Errorf("%s: reset %d times, want 2: once by the knob, once at the end", c.knob, n)
		}
	}
}

func TestKeysOfTheKittyProtocol(t *testing.T) {
	ctx := deadline(t)
	a, tm := launch(t, ctx, "composer", agents.Config{Kitty: 7})
	typeAs(t, ctx, a, tm, "one\x1b[13;2utwo", 1)
	must(t, tm.Type("\x1b[13u"))
	submitted(t, ctx, a, 1, "one\ntwo")
	must(t, a.Set(ctx, map[string]any{"kitty": 0}))
	typeAs(t, ctx, a, tm, "three\x1b[13u", 3)
	must(t, tm.Type("\r"))
	submitted(t, ctx, a, 2, "three")
}

func TestRedraws(t *testing.T) {
	for _, c := range []struct {
		redraw string
		alt    bool
		times  int // that the one frame is painted
		clears bool
	}{
		{"", false, 1, false}, {"twice", false, 2, false}, {"clear", false, 1, true},
		{"", true, 1, false}, {"twice", true, 2, false}, {"clear", true, 1, true},
	} {
		ctx := deadline(t)
		a, tm := launch(t, ctx, "composer", agents.Config{Redraw: c.redraw, AltScreen: c.alt, Still: true, Greeting: "the greeting"})
		must(t, tm.WaitText(ctx, "? for shortcuts"))
		before := len(tm.Output())
		must(t, tm.Type("frame"))
		must(t, tm.WaitText(ctx, "❯\u00a0frame"))
		st, err := a.State(ctx) // must paint nothing
		must(t, err)
		must(t, a.Set(ctx, map[string]any{"redraw": ""}))
		must(t, tm.Type("x"))
		must(t, tm.WaitText(ctx, "❯\u00a0framex"))
		out := string(tm.Output()[before:])
		if n := strings.Count(out, "\u00a0frame\x1b"); n != c.times {
			t.Errorf("%+v: painted %d times: %q", c, n, out)
		}
		if cleared := strings.Contains(out, "\x1b[2J\x1b[3J\x1b[H"); cleared != c.clears {
			t.Errorf("%+v: cleared %v", c, cleared)
		}
		if again := strings.Contains(out, "the greeting"); again != (c.clears || c.alt && c.times == 2) {
			t.Errorf("%+v: history printed again: %v", c, again)
		}
		if n := strings.Count(tm.Screen(), "the greeting"); n != 1 || st.Draft != "frame" {
			t.Errorf("%+v: the screen has the greeting %d times, draft %q:\n%s", c, n, st.Draft, tm.Screen())
		}
	}
}

func TestDialogBetweenPasteAndEnter(t *testing.T) {
	for _, c := range []struct{ on, other string }{{"m1", "nothing yet"}, {"*", ""}} {
		ctx := deadline(t)
		a, tm := launch(t, ctx, "composer", agents.Config{DialogOn: c.on, DialogIgnores: 1})
		n := 0
		if c.other != "" {
			typeAs(t, ctx, a, tm, c.other, 1)
			if st, err := a.State(ctx); err != nil || st.Mode != "idle" {
				t.Errorf("%q: got %+v, %v; want no dialog yet", c.on, st, err)
			}
			typeAs(t, ctx, a, tm, "\x15", 2)
			n = 2
		}
		typeAs(t, ctx, a, tm, "[relay m1]", n+1)
		must(t, tm.WaitText(ctx, "Do you want to proceed?"))
		if strings.Contains(tm.Screen(), "[relay m1]") {
			t.Errorf("the box shows beside the dialog:\n%s", tm.Screen())
		}
		must(t, tm.Type("\r"))
		_, err := a.WaitEvent(ctx, agents.KindIgnored, 1) // its first key
		must(t, err)
		must(t, tm.Type("\x1b"))
		_, err = a.WaitEvent(ctx, agents.KindCancel, 1)
		must(t, err)
		must(t, tm.WaitText(ctx, "❯\u00a0[relay m1]"))
		must(t, tm.Type("\r"))
		submitted(t, ctx, a, 1, "[relay m1]")
	}
	ctx := deadline(t)
	a, tm := launch(t, ctx, "composer", agents.Config{DialogOn: "*"})
	must(t, tm.Type("hi\r"))
	ev, err := a.WaitEvent(ctx, agents.KindAnswer, 1) // the Enter of the same read
	must(t, err)
	if st, err := a.State(ctx); err != nil || ev.Text != "Enter" || st.Draft != "hi" {
		t.Errorf("answered by %q, then %+v, %v; want the Enter to answer the dialog", ev.Text, st, err)
	}
}

func TestChipsKnob(t *testing.T) {
	long := strings.Repeat("row\n", 5) + "end"
	for _, c := range []struct{ chips, shown, not string }{
		{"", "x[Pasted text #1 +5 lines]y", "end"}, {"never", "  endy", "Pasted"}, {"hidden", "❯\u00a0xy", "Pasted"},
	} {
		ctx := deadline(t)
		a, tm := launch(t, ctx, "composer", agents.Config{Chips: c.chips})
		must(t, tm.Type("x\x1b[200~"+long+"\x1b[201~y"))
		if err := tm.WaitText(ctx, c.shown); err != nil || strings.Contains(tm.Screen(), c.not) {
			t.Errorf("%q: %v\n%s", c.chips, err, tm.Screen())
		}
		must(t, tm.Type("\r"))
		submitted(t, ctx, a, 1, "x"+long+"y")
	}
}

func TestHistoryTwice(t *testing.T) {
	ctx := deadline(t)
	_, tm := launch(t, ctx, "composer", agents.Config{HistoryTwice: true})
	must(t, tm.Type("hello\r"))
	must(t, tm.WaitText(ctx, "❯ hello\n❯ hello\n"))
}

func TestRewindOpensOnAnEmptyBoxWithHistory(t *testing.T) {
	ctx := deadline(t)
	a, tm := launch(t, ctx, "composer", agents.Config{Rewind: true, BusyMS: -1})
	must(t, tm.Type("\x1b\x1b[I")) // an Esc that is known to have been read, by what follows
	must(t, tm.Type("\x1b\x1b[I"))
	must(t, tm.Type("hello"))
	_, err := a.WaitEvent(ctx, agents.KindDraft, 1)
	must(t, err)
	if got := kinds(t, a, "dialog"); got != nil {
		t.Errorf("without a turn: got %q", got)
	}
	must(t, tm.Type("\r"))
	submitted(t, ctx, a, 1, "hello")
	_, err = a.Do(ctx, agents.Command{Cmd: "idle"})
	must(t, err)
	must(t, tm.Type("\x1b\x1b"))
	_, err = a.WaitEvent(ctx, agents.KindDialog, 1)
	must(t, err)
	must(t, tm.WaitText(ctx, "  ❯ (current)\n\n  Enter to continue · Esc to cancel"))
	must(t, tm.Type("\x1b"))
	must(t, tm.WaitText(ctx, "? for shortcuts"))
	must(t, tm.Type("ab"))
	must(t, tm.WaitText(ctx, "❯\u00a0ab"))
	must(t, tm.Type("\x1b\x1b")) // a full box is merely cleared
	must(t, tm.WaitScreen(ctx, func(s *screen.Screen) bool { return !strings.Contains(term.Dump(s), "\u00a0ab") }))
	if got := kinds(t, a, "dialog", "cancel", "answer"); !slices.Equal(got, []string{"dialog rewind", "cancel dialog"}) {
		t.Errorf("got %q", got)
	}
}

func TestInterruptReturnsThePromptUnlessTheTurnSpoke(t *testing.T) {
	for _, spoke := range []bool{false, true} {
		ctx := deadline(t)
		a, tm := launch(t, ctx, "composer", agents.Config{ReturnPrompt: true, BusyMS: -1})
		must(t, tm.Type("think\r"))
		submitted(t, ctx, a, 1, "think")
		if spoke {
			_, err := a.Do(ctx, agents.Command{Cmd: "say", Text: "well"})
			must(t, err)
		}
		must(t, tm.Type("\x1b"))
		_, err := a.WaitEvent(ctx, agents.KindIdle, 1)
		must(t, err)
		st, err := a.State(ctx)
		must(t, err)
		if back := st.Draft == "think"; back == spoke || st.Mode != "idle" {
			t.Errorf("spoke %v: got %+v", spoke, st)
		}
		must(t, tm.WaitText(ctx, map[bool]string{false: "❯\u00a0think", true: "⎿  Interrupted"}[spoke]))
	}
}

func TestStash(t *testing.T) {
	ctx := deadline(t)
	a, tm := launch(t, ctx, "composer", agents.Config{BusyMS: -1})
	typeAs(t, ctx, a, tm, "draft", 1)
	typeAs(t, ctx, a, tm, "\x13", 2)
	must(t, tm.WaitText(ctx, "· draft stashed"))
	if st, err := a.State(ctx); err != nil || st.Stash != "draft" || st.Draft != "" {
		t.Errorf("got %+v, %v", st, err)
	}
	must(t, tm.Type("message\r"))
	submitted(t, ctx, a, 1, "message")
	must(t, tm.WaitText(ctx, "❯\u00a0draft"))
}

func TestExitOnCtrlC(t *testing.T) {
	for _, c := range []struct {
		keys int
		want int // C-c on an empty box that exit
	}{{0, 2}, {1, 1}, {3, 3}} {
		ctx := deadline(t)
		a, tm := launch(t, ctx, "composer", agents.Config{QuitKeys: c.keys})
		typeAs(t, ctx, a, tm, "x", 1)
		typeAs(t, ctx, a, tm, "\x03", 2) // clears, and counts
		if c.want > 1 {
			must(t, tm.WaitText(ctx, "Press Ctrl-C again to exit"))
		}
		typeAs(t, ctx, a, tm, "y", 3) // which no longer counts
		typeAs(t, ctx, a, tm, "\x7f", 4)
		for n := range c.want {
			if st, err := a.State(ctx); err != nil || st.Mode != "idle" {
				t.Fatalf("%d keys: gone after %d: %v", c.keys, n, err)
			}
			must(t, tm.Type("\x03"))
			if n < c.want-1 {
				must(t, a.WaitRead(ctx, 4+n+1))
			}
		}
		if code, err := tm.Wait(ctx); code != 0 || err != nil {
			t.Errorf("%d keys: exit %d, %v", c.keys, code, err)
		}
	}
	ctx := deadline(t)
	a, tm := launch(t, ctx, "composer", agents.Config{QuitKeys: -1})
	must(t, tm.Type("\x03\x03\x03\x04\x04here"))
	_, err := a.WaitEvent(ctx, agents.KindDraft, 1)
	must(t, err)
}

func TestLooksOnATerminal(t *testing.T) {
	for _, c := range []struct {
		conf                agents.Config
		idle, draft, dialog string
		titles              [3]string // idle, busy, dialog
		history             string
	}{
		{
			agents.Config{Look: "rule"}, "\n❯\n───", "\n❯\u00a0hi\n───", "❯ 1. Yes",
			[3]string{"✳ fake", "◐ fake", "✳ fake"}, "❯ hi\n",
		},
		{
			agents.Config{Look: "box", Ghost: "Type your message"}, "╭─", "│ > hi ", "● 1. Allow once",
			[3]string{"◇  Ready (fake)", "✦  Working… (fake)", "✋  Action Required (fake)"}, " > hi\n",
		},
		{
			agents.Config{Look: "bare", Ghost: "Ask anything"}, "› Ask anything\n\n  fake-model", "› hi\n\n  fake-model", "› 1. Yes, proceed (y)",
			[3]string{"fake", "⠋ fake", "[ ! ] Action Required | fake"}, "› hi\n",
		},
		{
			agents.Config{Prompt: ">>> "}, "\n>>>\n───", "\n>>> hi\n───", "❯ 1. Yes",
			[3]string{"✳ fake", "◐ fake", "✳ fake"}, ">>> hi\n",
		},
	} {
		ctx := deadline(t)
		c.conf.BusyMS, c.conf.Still = -1, true
		a, tm := launch(t, ctx, "composer", c.conf)
		await := func(what, text string, title string) {
			t.Helper()
			err := tm.WaitScreen(ctx, func(s *screen.Screen) bool {
				return strings.Contains(strings.ReplaceAll(term.Dump(s), "❯\u00a0\n", "❯\n"), text) && s.Title() == title
			})
			if err != nil {
				t.Fatalf("%s %s: %v\n%s", c.conf.Look, what, err, tm.Screen())
			}
		}
		await("idle", c.idle, c.titles[0])
		must(t, tm.Type("hi"))
		await("draft", c.draft, c.titles[0])
		must(t, tm.Type("\r"))
		submitted(t, ctx, a, 1, "hi")
		await("busy", c.history, c.titles[1])
		_, err := a.Do(ctx, agents.Command{Cmd: "dialog"})
		must(t, err)
		await("dialog", c.dialog, c.titles[2])
	}
}

// The cursor that the terminal shows must stand where text goes.
func TestCursorStandsBehindTheText(t *testing.T) {
	for _, look := range []string{"rule", "box", "bare"} {
		for _, alt := range []bool{false, true} {
			ctx := deadline(t)
			_, tm := launch(t, ctx, "composer", agents.Config{Look: look, AltScreen: alt, Still: true})
			must(t, tm.Type("one\ntwo"))
			err := tm.WaitScreen(ctx, func(s *screen.Screen) bool {
				row, col := s.Cursor()
				return strings.HasSuffix(s.RowTo(row, col), "two") && strings.HasSuffix(strings.TrimRight(s.Row(row-1), " │"), "one")
			})
			if err != nil {
				t.Errorf("%s, alt %v: %v\n%s", look, alt, err, tm.Screen())
			}
		}
	}
}

func TestCodexTellsItsStateAndTakesY(t *testing.T) {
	ctx := deadline(t)
	a, tm := launch(t, ctx, "composer", agents.Config{Look: "bare", OSC7501: true, BusyMS: -1, Still: true})
	must(t, tm.Type("hi\r"))
	submitted(t, ctx, a, 1, "hi")
	_, err := a.Do(ctx, agents.Command{Cmd: "idle"})
	must(t, err)
	_, err = a.Do(ctx, agents.Command{Cmd: "dialog"})
	must(t, err)
	must(t, tm.Type("yes please"))
	_, err = a.WaitEvent(ctx, agents.KindAnswer, 1)
	must(t, err)
	must(t, tm.WaitText(ctx, "› es please"))
	var told []string
	for part := range strings.SplitSeq(string(tm.Output()), "\x1b]7501;") {
		if state, _, ok := strings.Cut(part, "\x1b\\"); ok && strings.HasPrefix(state, "state=") {
			told = append(told, state)
		}
	}
	want := []string{"state=working:app=codex", "state=done:app=codex", "state=blocked:app=codex:kind=permission", "state=idle:app=codex"}
	if !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}

// What a still composer writes depends on what was typed, not on the cuts.
func TestStillComposerIsDeterministic(t *testing.T) {
	script := "hello wörld\x7f\x1b[D\x1b[200~" + strings.Repeat("row\n", 6) + "\x1b[201~tail\n\x13more\r"
	for _, look := range []string{"rule", "box", "bare"} {
		var want []byte
		for _, cut := range []int{len(script), 1, 7} {
			ctx := deadline(t)
			a, tm := launch(t, ctx, "composer", agents.Config{Look: look, Still: true, ReadBytes: 1, BusyMS: -1})
			for at := 0; at < len(script); at += cut {
				must(t, tm.Type(script[at:min(at+cut, len(script))]))
			}
			_, err := a.WaitEvent(ctx, agents.KindSubmit, 1)
			must(t, err)
			_, err = a.Do(ctx, agents.Command{Cmd: "quit"})
			must(t, err)
			_, err = tm.Wait(ctx)
			must(t, err)
			if want == nil {
				want = tm.Output()
			}
			if got := tm.Output(); !bytes.Equal(got, want) {
				t.Errorf("%s, cut every %d: wrote %d bytes, want the %d of the whole script", look, cut, len(got), len(want))
			}
		}
	}
}

func TestNarrowBoxWrapsHardInsideItsBorder(t *testing.T) {
	ctx := deadline(t)
	_, tm := launch(t, ctx, "composer", agents.Config{Look: "box", HardWrap: true, Still: true})
	must(t, tm.Resize(24, 20))
	must(t, tm.Type("aaaa bbbb cccc dddd"))
	want := fmt.Sprintf("╭%s╮\n│ > aaaa bbbb ccc  │\n│   c dddd         │\n╰%[1]s╯", strings.Repeat("─", 18))
	if err := tm.WaitText(ctx, want); err != nil {
		t.Errorf("%v\n%s", err, tm.Screen())
	}
}
