package sight

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"relay-pty/inject/agents"
	"relay-pty/inject/profile"
	"relay-pty/pty/screen"
)

func overlaid(t *testing.T, format string, args ...any) *profile.Profile {
	t.Helper()
	p, err := agents.Overlay(fmt.Appendf(nil, format, args...))
	must(t, err)
	return p
}

// The example of the documentation, on a composer that no profile knows.
func TestOverlayMakesAComposer(t *testing.T) {
	p := overlaid(t, "%s", `{"name":"composer","base":"generic","prompt":"^❯ ","busy":["esc to interrupt"],"dialog":["Do you want to "],
		"placeholder":"dim","stash":"C-s","stash_shown":"stashed","clear":["C-u"],"interrupt":["Esc"],"submit":"Enter","newline":"C-j",
		"paste_limit":800,"enter_delay_ms":0,"hold_ms":1000,"quote":"none"}`)
	if got := overlaid(t, `{"name":"x","prompt":"^❯ "}`).Typing.EnterDelay; got != 200*time.Millisecond || p.Typing.EnterDelay != 0 {
		t.Errorf("Enter follows text after %v, and when 0 is given after %v; want 200 ms, 0", got, p.Typing.EnterDelay)
	}
	if !p.Rules.HasComposer || p.Prompt != "" || p.Questions != nil || p.Log != nil {
		t.Errorf("rules %+v, prompt %q: want those of a composer", p.Rules, p.Prompt)
	}
	for painted, want := range map[string]Sight{
		"❯ \x1b[7m \x1b[m":                    {Box: Box{Visible: true, Top: true}},
		"❯ hello\r\n  there":                  {Box: Box{Visible: true, Top: true, Text: "hello\nthere"}},
		"❯ \x1b[2mAsk\x1b[m":                  {Box: Box{Visible: true, Top: true}},
		"❯ hi\r\nesc to interrupt\x1b[1;5H":   {Box: Box{Visible: true, Top: true, Text: "hi"}, Working: true},
		"Do you want to go?\r\n1. Yes 2. No ": {Dialog: "Do you want to go?"},
		"a row with ❯ in it":                  {},
	} {
		s := screen.New(8, 40)
		s.Write([]byte(painted))
		got := Look(p, s)
		if got.Box != want.Box || got.Dialog != want.Dialog || got.Working != want.Working {
			t.Errorf("%q: %+v, dialog %q, working %v; want %+v", painted, got.Box, got.Dialog, got.Working, want)
		}
	}
}

// TestOverlayNamesAKindOfComposer: each is found where it is, whatever the agent's name.
func TestOverlayNamesAKindOfComposer(t *testing.T) {
	const box, floor = "╭──────────────────────────────╮\n", "\n   ▀▀▀▀▀▀▀▀▀▀"
	for _, c := range []struct {
		name, overlay, painted string
		want                   Box
	}{
		{"between rules", `"prompt":"❯ ","composer":"ruled"`, rule + "❯ one\n  two@\n" + rule + "  mode", Box{Visible: true, Top: true, Text: "one\ntwo"}},
		{"in a box", `"prompt":"│ > ","composer":"ruled"`, "  said > x\n" + box + "│ > one                        │\n│   two@                        │\n" +
			"╰──────────────────────────────╯\n  mode", Box{Visible: true, Top: true, Text: "one\ntwo"}},
		{"rows out of view, as its rule says", `"prompt":"❯ ","composer":"ruled","more":"above"`, "──────── 3 above ──────────\n  four@\n" + rule,
			Box{Visible: true, Text: "four"}},
		{"down to a floor", `"prompt":" ┃ ","composer":"floored","floor":"^ *▀{8,}"`, " ┃ one\n ┃ two@" + floor, Box{Visible: true, Top: true, Text: "one\ntwo"}},
		{"and a row that is no text", `"prompt":" ┃ ","composer":"floored","floor":"^ *▀{8,}","under":1`, " ┃ one@\n ┃ model" + floor,
			Box{Visible: true, Top: true, Text: "one"}},
		{"rows may be out of view", `"prompt":" ┃ ","composer":"floored","floor":"^ *▀{8,}","tall":2`, " ┃ one\n ┃ two@" + floor, Box{Visible: true, Text: "one\ntwo"}},
		{"a prompt alone", `"prompt":"❯ ","composer":"bare"`, rule + "❯ one@\n\n  mode", Box{Visible: true, Top: true, Text: "one"}},
		{"no rule, no composer", `"prompt":"❯ ","composer":"ruled"`, "❯ one@", Box{}},
		{"no floor, no composer", `"prompt":" ┃ ","composer":"floored","floor":"^ *▀{8,}"`, " ┃ one@", Box{}},
	} {
		if got := Look(overlaid(t, `{"name":"x",%s}`, c.overlay), painted(c.painted)).Box; got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// A dialog's question wins over a prompt that stands among its options, and what is said of such
// a question does not keep messages from a composer.
func TestOverlayDialogAboveItsOptions(t *testing.T) {
	p := overlaid(t, "%s", `{"name":"x","prompt":"^❯ ","dialog":["Do you want to run"]}`)
	for _, c := range []struct{ name, painted, dialog, text string }{
		{"the first is chosen", "Do you want to run ls?\r\n❯ 1. Yes\r\n  2. No", "Do you want to run ls?", ""},
		{"the second is chosen", "Do you want to run ls?\r\n  1. Yes\r\n❯ 2. No\r\n", "Do you want to run ls?", ""},
		{"rows between", "Do you want to run this?\r\n\r\n  ls -l\r\n\r\n❯ Yes, once\r\n  No", "Do you want to run this?", ""},
		{"an older question", "Do you want to run a?\r\nno\r\nDo you want to run b?\r\n❯ 1. Yes\r\n  2. No", "Do you want to run b?", ""},
		{"a border", "│ Do you want to run ls? │\r\n❯ 1. Yes", "Do you want to run ls?", ""},
		{"talk, and an empty composer", "Do you want to run the tests?\r\n\r\n❯ ", "", ""},
		{"talk, and a message", "Do you want to run the tests?\r\n\r\n❯ [relay m1 from bob] 1. Yes\r\n  [end m1]", "", "[relay m1 from bob] 1. Yes\n[end m1]"},
		{"a question that was answered", "Do you want to run ls?\r\n❯ yes\r\n\r\ndone\r\n❯ 1. look at it", "", "1. look at it"},
	} {
		s := screen.New(8, 60)
		s.Write([]byte(c.painted))
		v := Look(p, s)
		if v.Dialog != c.dialog || v.Box.Text != c.text || v.Box.Visible != (c.dialog == "") {
			t.Errorf("%s: dialog %q, composer %+v; want %q, text %q", c.name, v.Dialog, v.Box, c.dialog, c.text)
		}
	}
}

// TestOverlayAddsToItsBase: dialogs that the base knows hold messages, too, and so do the overlay's
// own. In a composer that the overlay describes, generic's are text.
func TestOverlayAddsToItsBase(t *testing.T) {
	const own = `"dialog":["Shall I "]`
	for _, c := range []struct{ name, overlay, painted, dialog, text string }{
		{"claude's", `"base":"claude",` + own, "Do you want to proceed?\n❯ 1. Yes\n  2. No\n\nEsc to cancel · Tab to amend", "Do you want to proceed?", ""},
		{"codex's", `"base":"codex",` + own, "  Would you like to run it?\n\n  1. Yes (y)\n  2. No (esc)\n\n  Press enter to confirm", "Would you like to run it?", ""},
		{"gemini's", `"base":"gemini",` + own, "╭─────────────────╮\n│ Apply this change?\n│ ● 1. Yes, allow once", "Apply this change?", ""},
		{"opencode's", `"base":"opencode",` + own, " Select model                 esc\n\n Search", "Select model                 esc", ""},
		{"claude's own, by the overlay", `"base":"claude",` + own, "Shall I go on?\n❯ 1. Yes", "Shall I go on?", ""},
		{"generic's", `"prompt":"^❯ ",` + own, "Do you want to run ls?\n  Yes\n  Esc to cancel", "Do you want to run ls?", ""},
		{"generic's, above a choice", `"prompt":"^❯ ",` + own, "Are you sure?\n❯ 1. Yes\n  2. No", "Are you sure?", ""},
		{"its own, newer than generic's", `"prompt":"^❯ ",` + own, "Are you sure?\nyes\nShall I go on?\n❯ 1. Yes\n  2. No", "Shall I go on?", ""},
		{"generic's, newer than its own", `"prompt":"^❯ ",` + own, "Shall I go on?\nyes\nAre you sure?\n❯ 1. Yes\n  2. No", "Are you sure?", ""},
		{"a composer that begins with 1.", `"prompt":"^❯ ",` + own, "Are you sure?\n❯ yes\n\ndone\n❯ 1. look at it", "", "1. look at it"},
		{"a composer with a dialog's words", `"prompt":"^❯ ",` + own, "done\n❯ press esc to cancel", "", "press esc to cancel"},
		{"talk, and a message", `"prompt":"^❯ ",` + own, "Are you sure?\n\n❯ [relay m1 from bob] x\n  [end m1]", "", "[relay m1 from bob] x\n[end m1]"},
		{"a footer of keys", `"prompt":"^❯ ",` + own, "done\n\n❯ hello\n\n  esc to cancel\x1b[3;8H", "", "hello"},
	} {
		s := screen.New(8, 60)
		s.Write([]byte(strings.ReplaceAll(c.painted, "\n", "\r\n")))
		p := overlaid(t, `{"name":"x",%s}`, c.overlay)
		v := Look(p, s)
		if v.Dialog != c.dialog || v.Box.Text != c.text || v.Box.Visible != (c.text != "") {
			t.Errorf("%s: dialog %q, composer %+v; want %q, text %q", c.name, v.Dialog, v.Box, c.dialog, c.text)
		}
	}
	line := overlaid(t, `{"name":"x",%s}`, own)
	for _, asks := range []string{"Are you sure?", "Shall I go on?"} {
		s := screen.New(8, 60)
		s.Write([]byte(asks))
		if menu := Menu(line, s); menu != asks {
			t.Errorf("of an overlay without a composer the menu is %q, want %q", menu, asks)
		}
	}
}

// Nobody but who typed it can tell whether the row of a prompt is text or a dialog's option.
func TestOverlayPromptThatMayBeAnOption(t *testing.T) {
	p := overlaid(t, "%s", `{"name":"x","prompt":"^❯ ","dialog":["Really\\?"]}`)
	for painted, typed := range map[string]string{
		"❯ [relay m1 from bob] Really?\r\n  [end m1]": "[relay m1 from bob] Really?\n[end m1]",
		"❯ Really?":                "Really?",
		"Really?\r\n❯ Really? Yes": "",
		"❯ Yes\r\n":                "",
	} {
		s := screen.New(8, 60)
		s.Write([]byte(painted))
		if v := Look(p, s); v.Typed.Text != typed || v.Box.Visible == (v.Dialog != "") {
			t.Errorf("%q: typed %+v, box %+v, dialog %q; want %q", painted, v.Typed, v.Box, v.Dialog, typed)
		}
	}
}

// FuzzOverlay: whatever profile a file makes, a screen can be read by it.
func FuzzOverlay(f *testing.F) {
	f.Add([]byte(`{"name":"x","base":"claude","prompt":"» ","busy":["working"],"dialog":["Really\\?"],"placeholder":"^Type here","stash":"C-t","stash_shown":"put aside"}`))
	f.Add([]byte(`{"name":"x","prompt":"^> ","busy":["a"],"clear":["C-u"],"hold_ms":1}`))
	f.Add([]byte(`{"name":"x","base":"generic","quote":"#"}`))
	s := screen.New(6, 40)
	s.Write([]byte("> hello\r\nworking\r\nReally?\r\n" + rule + "❯\u00a0hi\r\n" + rule[:len(rule)-2]))
	f.Fuzz(func(t *testing.T, data []byte) {
		if p, err := agents.Overlay(data); err == nil {
			if l := Look(p, s); l.Box.Visible && l.Dialog == "" && p.Composer == nil {
				t.Errorf("%q shows a composer, and has none", data)
			}
		}
	})
}
