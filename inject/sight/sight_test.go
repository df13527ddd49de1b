package sight

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relay-pty/inject/agents"
	"relay-pty/inject/profile"
	"relay-pty/pty/screen"
)

// The profiles that are looked by here.
var (
	claude   = named("claude")
	codex    = named("codex")
	gemini   = named("gemini")
	opencode = named("opencode")
	qwen     = named("qwen")
	generic  = named("generic")
)

func named(name string) *profile.Profile { p, _ := agents.Named(name); return p }

var rx = profile.NewPattern

// play shows the recording's output up to the first for which stop is true.
func play(t *testing.T, name string, stop func(*screen.Screen) bool) *screen.Screen {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../agents/claude/testdata/transcripts", name+".cast"))
	must(t, err)
	var head struct{ Width, Height int }
	var s *screen.Screen
	for sc := bufio.NewScanner(bytes.NewReader(b)); sc.Scan(); {
		if s == nil {
			must(t, json.Unmarshal(sc.Bytes(), &head))
			s = screen.New(head.Height, head.Width)
			continue
		}
		var event [3]any
		must(t, json.Unmarshal(sc.Bytes(), &event))
		if event[1] == "o" {
			s.Write([]byte(event[2].(string)))
			if stop(s) {
				return s
			}
		}
	}
	return s
}

func shows(text string) func(*screen.Screen) bool {
	return func(s *screen.Screen) bool {
		rows, _ := s.Size()
		for r := range rows {
			if strings.Contains(s.Row(r), text) {
				return true
			}
		}
		return false
	}
}

func never(*screen.Screen) bool { return false }

func TestLookAtClaudesRecordings(t *testing.T) {
	for _, c := range []struct {
		name, file string
		stop       func(*screen.Screen) bool
		box        bool
		text       string
		dialog     bool
		working    bool
	}{
		{"idle, ghost text in the composer", "idle_start_80x24", never, true, "", false, false},
		{"a draft", "half_typed_draft_80x24", never, true, "my half typed draft", false, false},
		{"a dialog", "permission_dialog_80x24", shows("Do you want to"), false, "", true, false},
		{"thinking", "short_reply_80x24", func(s *screen.Screen) bool {
			return strings.HasPrefix(s.Title(), "⠂") && shows("esc to interrupt")(s)
		}, true, "", false, true},
		{"queued message: the ghost is no draft", "queued_while_busy_80x24", shows("Press up to edit queued"), true, "", false, true},
		{"interrupted, at the end", "esc_interrupt_80x24", never, true, "", false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := play(t, c.file, c.stop)
			v := Look(claude, s)
			if v.Box.Visible != c.box || (v.Dialog != "") != c.dialog {
				t.Fatalf("composer %v, dialog %q; want %v, %v", v.Box.Visible, v.Dialog, c.box, c.dialog)
			}
			if v.Box.Text != c.text {
				t.Errorf("text %q, want %q", v.Box.Text, c.text)
			}
			if v.Working != c.working {
				t.Errorf("working %v, want %v (title %q)", v.Working, c.working, s.Title())
			}
		})
	}
}

const rule = "────────────────────────────────────────\r\n"

func TestLookAtComposers(t *testing.T) {
	for _, c := range []struct {
		name, painted string
		want          Box
		dialog        string
	}{
		{"empty, the cursor drawn", rule + "❯\u00a0\x1b[7m \x1b[m\r\n" + rule, Box{Visible: true, Top: true}, ""},
		{"text", rule + "❯\u00a0hello\r\n" + rule, Box{Visible: true, Top: true, Text: "hello"}, ""},
		{"text of two rows", rule + "❯\u00a0hello\r\n  there\r\n" + rule, Box{Visible: true, Top: true, Text: "hello\nthere"}, ""},
		{"one letter under the cursor", rule + "❯\u00a0\x1b[7mx\x1b[m\r\n" + rule, Box{Visible: true, Top: true, Text: "x"}, ""},
		{"ghost text", rule + "❯\u00a0\x1b[7mT\x1b[m\x1b[2mry this\x1b[m\r\n" + rule, Box{Visible: true, Top: true}, ""},
		{"ghost text, no cursor", rule + "❯\u00a0\x1b[2mTry this\x1b[m\r\n" + rule, Box{Visible: true, Top: true}, ""},
		{"a draft, cursor at its start", rule + "❯\u00a0\x1b[7mT\x1b[mry this\r\n" + rule, Box{Visible: true, Top: true, Text: "Try this"}, ""},
		{"scrolled", "─── \x1b[2m↑ 6 more\x1b[m ───────────────────────────\r\n  row seven\r\n  row eight\r\n" + rule, Box{Visible: true, Text: "row seven\nrow eight"}, ""},
		{"text, the prompt of TERM=linux", rule + ">\u00a0hello\r\n" + rule, Box{Visible: true, Top: true, Text: "hello"}, ""},
		{"history of TERM=linux", rule + "> hello\r\n" + rule, Box{}, ""},
		{"shell mode", rule + "!\u00a0ls\r\n" + rule, Box{Visible: true, Foreign: true, Mode: "!", Text: "ls"}, ""},
		{"vim, text selected", rule + "❯\u00a0hi\r\n" + rule + "  -- VISUAL LINE -- manual mode", Box{Visible: true, Foreign: true, Top: true, Text: "hi"}, ""},
		{"vim, NORMAL", rule + "❯\u00a0hi\r\n" + rule + "  manual mode", Box{Visible: true, Top: true, Text: "hi"}, ""},
		{"a list between rules", rule + "❯ 1. Yes\r\n  2. No\r\n" + rule + " Esc to cancel", Box{}, "❯ 1. Yes"},
		{"history with a plain blank", "❯ hello\r\n\r\n● hi\r\n", Box{}, ""},
		{"the question comes before its answers", rule + " Do you want to proceed?\r\n ❯ 1. Yes\r\n\r\n Esc to cancel", Box{}, "Do you want to proceed?"},
		{"help beneath the composer is no dialog", rule + "❯\u00a0\r\n" + rule + "  esc esc to clear input", Box{Visible: true, Top: true}, ""},
		{"history search in the composer", rule + "❯\u00a0\r\n" + rule + "  search prompts: x", Box{Visible: true, Top: true}, "search prompts: x"},
		{"a label in the upper rule", "───────── My very long session name on ─\r\n❯\u00a0hi\r\n" + rule, Box{Visible: true, Top: true, Text: "hi"}, ""},
		{"a label that is cut, in the upper rule", " [relay m1 from bob] hello [end… (Br… ──\r\n❯\u00a0\r\n" + rule, Box{Visible: true, Top: true}, ""},
		{"a label in the upper rule, the lower one out of view", strings.Repeat("\r\n", 9) + "───── My very long session name and on ─\r\n❯\u00a0one\r\n  two", Box{Visible: true, Text: "one\ntwo"}, ""},
		{"a label with which both rules wrap", " My very long session name that goes on\r\nand on ──\r\n❯\u00a0hi\r\n" + rule + "─────────\r\n  ? for shortcuts",
			Box{Visible: true, Top: true, Text: "hi"}, ""},
		{"what ends as a label that wraps, above a rule that does not", "and on ──\r\n❯\u00a0hi\r\n" + rule + "  ? for shortcuts", Box{}, ""},
		{"what ends as a label that wraps, and is shorter than the rule below", "on ──\r\n❯\u00a0hi\r\n" + rule + "─────────", Box{}, ""},
		{"scrolled, with a label", "─── ↑ 13 more  My very long session n… ─\r\n  row seven\r\n" + rule, Box{Visible: true, Text: "row seven"}, ""},
		{"scrolled, with a label, the lower rule out of view", strings.Repeat("\r\n", 9) + "─── ↑ 13 more  My very long session n… ─\r\n  row seven\r\n  row eight", Box{Visible: true, Text: "row seven\nrow eight"}, ""},
		{"a label of other colours", "\x1b[31m───────── My very long session name on ─\x1b[m\r\n❯\u00a0hi\r\n" + rule, Box{}, ""},
		{"a label that ends before the row does", "──────── My very long session name ─\r\n❯\u00a0hi\r\n" + rule, Box{}, ""},
		{"a label above what is no prompt", "───────── My very long session name on ─\r\n❯ hi\r\n" + rule, Box{}, ""},
		{"what hangs and ends as a label does", "  said: ↑ 3 more                       ─\r\n  two\r\n" + rule, Box{}, ""},
		{"a draft with a row as a label's", rule + "❯\u00a0one\r\n  ─── ↑ 3 more, of my very long draft… ─\r\n  two\r\n" + rule,
			Box{Visible: true, Top: true, Text: "one\n─── ↑ 3 more, of my very long draft… ─\ntwo"}, ""},
		{"a rule in a reply above", rule + "text\r\n" + rule + "❯\u00a0hi\r\n" + rule, Box{Visible: true, Top: true, Text: "hi"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := screen.New(12, 40)
			s.Write([]byte(c.painted))
			v := Look(claude, s)
			if v.Box != c.want || v.Dialog != c.dialog {
				t.Errorf("got %+v, dialog %q; want %+v, %q", v.Box, v.Dialog, c.want, c.dialog)
			}
		})
	}
}

func TestLookAtOtherComposers(t *testing.T) {
	bare := profile.Profile{Composer: &profile.Composer{Prompt: rx("^› "), Above: 2}, Busy: []*profile.Pattern{rx("esc to interrupt")}, Dialogs: []*profile.Pattern{rx("^Allow it"), rx(`^› \d\.`)}}
	boxed := profile.Profile{Composer: &profile.Composer{Prompt: rx("^│ > "), Above: 2, Placeholder: rx("^Type your message")}}
	for _, c := range []struct {
		name    string
		p       profile.Profile
		painted string
		want    Box
		busy    bool
	}{
		{"bare, empty", bare, "› \x1b[s\r\n\r\n  \x1b[2mhelp\x1b[m\x1b[u", Box{Visible: true, Top: true}, false},
		{"bare, ghost text", bare, "› \x1b[s\x1b[2mTry this\x1b[m\r\n\r\n  100% left\x1b[u", Box{Visible: true, Top: true}, false},
		{"bare, a blank that does not break", bare, "›\u00a0hi\x1b[s\r\n  100% left\x1b[u", Box{Visible: true, Top: true, Text: "hi"}, false},
		{"bare, text, a footer under it", bare, "› hi\x1b[s\r\n\r\n  100% left\x1b[u", Box{Visible: true, Top: true, Text: "hi"}, false},
		{"bare, a footer right under it", bare, "› hi\x1b[s\r\n  100% left\x1b[u", Box{Visible: true, Top: true, Text: "hi"}, false},
		{"bare, rows", bare, "› one\r\n  two\r\n\r\n  four\x1b[s\r\n\r\n  100% left\x1b[u", Box{Visible: true, Top: true, Text: "one\ntwo\n\nfour"}, false},
		{"bare, wrapped by the terminal", bare, "› 34567890123456789012345678901234567890abc", Box{Visible: true, Top: true, Text: "34567890123456789012345678901234567890\nabc"}, false},
		{"bare, the cursor elsewhere", bare, "› one\r\n  two\r\n\r\nstatus", Box{Visible: true, Top: true, Text: "one\ntwo"}, false},
		{"bare, the newest prompt counts", bare, "› old\r\n\r\n• answer\r\n\r\n› new", Box{Visible: true, Top: true, Text: "new"}, false},
		{"bare, busy above", bare, "• Working (0s • esc to interrupt)\r\n\r\n› ", Box{Visible: true, Top: true}, true},
		{"bare, busy words in the history", bare, "esc to interrupt\r\na\r\nb\r\n› ", Box{Visible: true, Top: true}, false},
		{"dialog whose choice looks like the prompt", bare, "Allow it?\r\n\r\n› 1. Yes\r\n  2. No\r\n", Box{}, false},
		{"dialog beneath what was typed before", bare, "› do it\r\n\r\n• running\r\nAllow it?\r\n  1. Yes\r\n", Box{Visible: true, Top: true, Text: "do it"}, false},
		{"no prompt", bare, "$ ls\r\n", Box{}, false},
		{"boxed, placeholder", boxed, "╭──────────╮\r\n│ > Type your message │\r\n╰──────────╯", Box{Visible: true, Top: true}, false},
		{"boxed, text", boxed, "╭──────────╮\r\n│ > hi     │\r\n╰──────────╯", Box{Visible: true, Top: true, Text: "hi"}, false},
		{"boxed, rows", boxed, "╭──────────╮\r\n│ > hi     │\r\n│   you    │\r\n╰──────────╯", Box{Visible: true, Top: true, Text: "hi\nyou"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := screen.New(12, 40)
			s.Write([]byte(c.painted))
			v := Look(&c.p, s)
			if v.Box != c.want || v.Working != c.busy || (v.Dialog != "") != strings.HasPrefix(c.name, "dialog") {
				t.Errorf("got %+v, busy %v, dialog %q; want %+v, %v", v.Box, v.Working, v.Dialog, c.want, c.busy)
			}
		})
	}
}

// TestMenusOfProgramsThatNobodyDescribed: what dialogs of TUIs say of their keys holds messages,
// and what such programs show at rest does not.
func TestMenusOfProgramsThatNobodyDescribed(t *testing.T) {
	for row, menu := range map[string]bool{
		"  Allow   Allow for Session   Deny":         true,
		" enter confirm   esc exit":                  true,
		"↑/↓ choose • enter choose • esc cancel":     true,
		"Would you like to initialize this project?": true,
		"[y] yes   [n] no":                           true,
		"Press y to run it, any other key to stop":   true,
		"❯ 1. Yes":                  true,
		"Enter: select  Esc: close": true,
		"/help for help · ctrl+c quit · enter send": false,
		"  > Ready for instructions":                false,
		"[y/n] is asked for before a command runs":  false,
		"esc interrupts, tab focuses the chat":      false,
		"Denied access is allowed later":            false,
	} {
		s := screen.New(12, 60)
		s.Write([]byte("\x1b[?1049hA program\r\n\r\n" + row))
		if got := Menu(generic, s); (got != "") != menu {
			t.Errorf("%q: got %q", row, got)
		}
	}
}

func TestLookAtLinePrograms(t *testing.T) {
	for _, c := range []struct{ name, painted, line, dialog string }{
		{"a prompt", "hello\r\n$ ", "$ ", ""},
		{"a password", "[sudo] password for bob: ", "[sudo] password for bob: ", "[sudo] password for bob:"},
		{"a passphrase", "Enter passphrase for key 'id': ", "Enter passphrase for key 'id': ", "Enter passphrase for key 'id':"},
		{"yes or no", "Continue? [y/N] ", "Continue? [y/N] ", "Continue? [y/N]"},
		{"git's user", "Username for 'https://git.example': ", "Username for 'https://git.example': ", "Username for 'https://git.example':"},
		{"git's password", "Password for 'https://b@git.example': ", "Password for 'https://b@git.example': ", "Password for 'https://b@git.example':"},
		{"a login", "debian login: ", "debian login: ", "debian login:"},
		{"an unknown host", "Are you sure you want to continue (yes/no/[fingerprint])? ", "Are you sure you want to continue (yes/no/[fingerprint])? ", "Are you sure you want to continue (yes/no/[fingerprint])?"},
		{"talk of a login", "last login: today\r\n> ", "> ", ""},
		{"talk of passwords", "your password was changed\r\n> ", "> ", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := screen.New(5, 60)
			s.Write([]byte(c.painted))
			v := Look(generic, s)
			if v.Line != c.line || v.Dialog != c.dialog {
				t.Errorf("line %q, dialog %q; want %q, %q", v.Line, v.Dialog, c.line, c.dialog)
			}
		})
	}
}
