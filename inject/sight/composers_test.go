package sight

import (
	"strings"
	"testing"

	"relay-pty/inject/profile"
	"relay-pty/inject/ready"
	"relay-pty/pty/screen"
)

// Screens of 12 rows and 60 columns as the agents paint them; @ is the cursor.
const (
	codexFoot   = "\n\n  model · ~/work\n  ? for shortcuts"
	geminiFoot  = "\n\n workspace (/directory)     /model\n ~/work                     Auto"
	geminiEdge  = "▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄\n"
	geminiAside = "  Queued (press ↑ to edit):\n"
	geminiRest  = "        ? for shortcuts\n──────────────────────\n Shift+Tab to accept edits\n" + geminiEdge + " > @" + geminiFloor
	geminiAway  = "\x1b[?1004h\x1b[?25l" + geminiEdge
	geminiLine  = "────────────────────"
	geminiFloor = "\n▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀"
	qwenRule    = "────────────────────\n"
	qwenFoot    = "\n" + qwenRule + "  ➜ work\n  \x1b[38;5;103m⏸ Ask permissions (shift + tab to cycle)\x1b[m"
	qwenOne     = "> @\x1b[4mr\x1b[m\x1b[38;5;103mun the tests\x1b[m"
	openFloor   = "\n  ┃\n  ┃  Build · model\n  ╹▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀\n   ~/work    ctrl+p commands"
)

func painted(text string) *screen.Screen {
	s := screen.New(12, 60)
	s.Write([]byte(strings.ReplaceAll(strings.Replace(text, "@", "\x1b7", 1), "\n", "\r\n") + "\x1b8"))
	return s
}

// inColour is a composer of rows with a background, which pads it with a row above and one below.
func inColour(rows ...string) string {
	painted := "\x1b[48;5;235m\x1b[K\n"
	for _, row := range rows {
		painted += row + "\x1b[K\n"
	}
	return painted + "\x1b[K\x1b[m\n"
}

func TestLookAtTheOtherAgents(t *testing.T) {
	empty, unseen := Box{Visible: true, Top: true}, Box{}
	for _, c := range []struct {
		name, painted string
		p             *profile.Profile
		want          Box
		told          string
	}{
		{"placeholder", "› @\x1b[2mAsk Codex to do anything\x1b[m" + codexFoot, codex, empty, "rests"},
		{"a draft", "› one\n\n  three@" + codexFoot, codex, Box{Visible: true, Top: true, Text: "one\n\nthree"}, "draft"},
		{"a draft, the cursor in its first, empty row", "› @\n  two" + codexFoot, codex, Box{Visible: true, Top: true, Text: "two"}, "draft"},
		{"rows out of view", "› row 3        \x1b[2m↑\x1b[m\n  row 4@" + codexFoot, codex, Box{Visible: true, Text: "row 3\nrow 4"}, "draft"},
		{"rows out of view, the first in view is full", "› row3\x1b[2m↑\x1b[m\n  row4@" + codexFoot, codex, Box{Visible: true, Text: "row3\nrow4"}, "draft"},
		{"rows out of view, blanks in view", "›              \x1b[2m↑\x1b[m\n     @" + codexFoot, codex, Box{Visible: true, Blank: true}, "rests"},
		{"an arrow that was typed", "› x ↑@" + codexFoot, codex, Box{Visible: true, Top: true, Text: "x ↑"}, "draft"},
		{"so tall that nothing stands below", "\n› 1\n  2\n\n  4\n  5\n  6\n  7\n  8\n  9\n  10@", codex, Box{Visible: true, Top: true, Text: "1\n2\n\n4\n5\n6\n7\n8\n9\n10"}, "draft"},
		{"rows out of view, the mark beyond the row's end", "› \u09ac\u09be\u0982\u09b2\u09be" + strings.Repeat(" ", 54) + "\x1b[2m↑\x1b[m\x1b[2;1H  5\n  6\n\n  8\n  9\n  10@", codex,
			Box{Visible: true, Text: "\u09ac\u09be\u0982\u09b2\u09be\n5\n6\n\n8\n9\n10"}, "draft"},
		{"a draft that might hide a mark, the footer in view", "› \u09ac\u09be\u0982\u09b2\u09be\n  5\n  6\n\n  8@" + codexFoot, codex,
			Box{Visible: true, Top: true, Text: "\u09ac\u09be\u0982\u09b2\u09be\n5\n6\n\n8"}, "draft"},
		{"a chip", "› look [Pasted Content 1439 chars]@" + codexFoot, codex, Box{Visible: true, Top: true, Text: "look [Pasted Content 1439 chars]"}, "draft"},
		{"what was said before", "\x1b[2m›\x1b[m said@" + codexFoot, codex, unseen, ""},
		{"a draft that reads like a dialog", "› press enter to continue, esc to cancel@" + codexFoot, codex, Box{Visible: true, Top: true, Text: "press enter to continue, esc to cancel"}, "draft"},
		{"a draft that reads like a dialog's option", "› 1. Yes, proceed@" + codexFoot, codex, Box{Visible: true, Top: true, Text: "1. Yes, proceed"}, "draft"},
		{"rows out of view, the first in view reads like a dialog", "› reverse-i-search: x   \x1b[2m↑\x1b[m\n  row 4@" + codexFoot, codex, Box{Visible: true, Text: "reverse-i-search: x\nrow 4"}, "draft"},
		{"an option where the cursor was", "  Proceed?\n\n› 1. Yes@\n  2. No\x1b[?25l" + codexFoot, codex, unseen, "asks"},
		{"a message that reads like work", "› [relay m1 from bob] x\n  • Working (5s • esc to interrupt)\n\n› @" + codexFoot, codex, empty, "rests"},
		{"shell mode", "! ls@" + codexFoot, codex, Box{Visible: true, Foreign: true, Mode: "!", Text: "ls"}, "draft"},
		{"history search", "› \n\n  reverse-i-search: @", codex, unseen, "asks"},
		{"shortcuts", "  Keyboard shortcuts\n\n› @\n\n  model\n  ? / esc close", codex, empty, "asks"},
		{"trust", "  Trust this folder? Codex can\n\n› 1. Trust and continue\n  2. Back\n\n  enter continue · esc back@", codex, unseen, "asks"},
		{"a terminal that it does not trust", "WARNING: TERM is set to \"dumb\".\nContinue anyway? [y/N]: \n@", codex, unseen, "asks"},
		{"a list", "  Hooks\n\n› PreToolUse  0\n  PostToolUse 0\n\n  enter details · esc close\n@\x1b[?25l", codex, unseen, "asks"},
		{"thinking", "• Working (5s • esc to interrupt)\n\n› @" + codexFoot, codex, empty, "busy"},
		{"a title that asks", "\x1b]0;[ ! ] Action Required | work\a› @" + codexFoot, codex, empty, "asks"},
		{"a title that spins", "\x1b]0;⠋ work\a› @" + codexFoot, codex, empty, "busy"},
		{"its word: working", "\x1b]7501;state=working:app=codex\x1b\\› @" + codexFoot, codex, empty, "busy"},
		{"its word: blocked", "\x1b]7501;state=blocked:app=codex:kind=permission\x1b\\› @" + codexFoot, codex, empty, "asks"},
		{"its word: idle", "\x1b]7501;state=idle:app=codex\x1b\\› @" + codexFoot, codex, empty, "rests"},

		{"placeholder", geminiEdge + " > @  Type your message or @path/to/file" + geminiFloor + geminiFoot, gemini, empty, "rests"},
		{"placeholder, without edges", "\n > @  Type your message or @path/to/file" + geminiFoot, gemini, empty, "rests"},
		{"a draft", geminiEdge + " > one\n\n   three@" + geminiFloor + geminiFoot, gemini, Box{Visible: true, Top: true, Text: "one\n\nthree"}, "draft"},
		{"a draft that ends with newlines", geminiEdge + " > one\n\n\n@" + geminiFloor + geminiFoot, gemini, Box{Visible: true, Top: true, Text: "one"}, "draft"},
		{"an Enter that became a newline", " > one\n   two\n@" + geminiFoot, gemini, Box{Visible: true, Top: true, Text: "one\ntwo"}, "draft"},
		{"an Enter that became a newline, no footer", geminiAway + " > one\n   two\n   @" + geminiFloor, gemini, Box{Visible: true, Top: true, Text: "one\ntwo"}, "draft"},
		{"a newline, no footer", geminiAway + " >\n   @" + geminiFloor, gemini, Box{Visible: true, Top: true, Blank: true}, "rests"},
		{"a draft, no footer", geminiEdge + " > one\n   two@" + geminiFloor, gemini, Box{Visible: true, Top: true, Text: "one\ntwo"}, "draft"},
		{"an empty row in a draft, no footer", geminiEdge + " > one\n\n   three@" + geminiFloor, gemini, Box{Visible: true, Top: true, Text: "one\n\nthree"}, "draft"},
		{"an empty row in a draft, no footer, lines for edges", geminiLine + "\n > one\n\n   three@\n" + geminiLine, gemini, Box{Visible: true, Top: true, Text: "one\n\nthree"}, "draft"},
		{"an empty row in a draft, no footer, its background alone", inColour(" > one", "", "   three@"), gemini, Box{Visible: true, Top: true, Text: "one\n\nthree"}, "draft"},
		{"newlines behind a draft, no footer, its background alone", inColour(" > one", "", "   @"), gemini, Box{Visible: true, Top: true, Text: "one"}, "draft"},
		{"newlines before a draft, no footer, its background alone", inColour(" > @", "", "   three"), gemini, Box{Visible: true, Top: true, Text: "three"}, "draft"},
		{"no footer, its background alone", inColour(" > @Type your message"), gemini, empty, "rests"},
		{"no footer and no frame", "\n > @Type your message or @path/to/file\n", gemini, unseen, ""},
		{"its background alone, with the footer", inColour(" > one", "", "   three@") + geminiFoot, gemini, Box{Visible: true, Top: true, Text: "one\n\nthree"}, "draft"},
		{"without focus and footer, its background alone", geminiAway[:14] + inColour(" > one", "", "   three") + "@", gemini, Box{Visible: true, Top: true, Text: "one\n\nthree"}, "draft"},
		{"without focus and footer, an empty row in a draft", geminiAway + " > one\n\n   three" + geminiFloor + "\n@", gemini, Box{Visible: true, Top: true, Text: "one\n\nthree"}, "draft"},
		{"ten rows may have scrolled", " > 1\n   2\n   3\n   4\n   5\n   6\n   7\n   8\n   9\n   10@\n\n ~", gemini, Box{Visible: true, Text: "1\n2\n3\n4\n5\n6\n7\n8\n9\n10"}, "draft"},
		{"ten rows, most of them empty, may have scrolled", " >\n\n\n\n\n\n\n\n\n   10@\n\n ~", gemini, Box{Visible: true, Text: "10"}, "draft"},
		{"its beginning has left the screen", "   4\n   5\n   6\n   7\n\n   9\n   10\n   [end m1]@" + geminiFoot, gemini, Box{Visible: true, Text: "4\n5\n6\n7\n\n9\n10\n[end m1]"}, "draft"},
		{"its beginning has left the screen, and a row ran over", "\u0dbd x\n   " + strings.Repeat("y", 57) + "\u178f\n   6\n   7\n\n   9\n   [end m1]@" + geminiFoot, gemini,
			Box{Visible: true, Text: strings.Repeat("y", 57) + "\n\u178f\n6\n7\n\n9\n[end m1]"}, "draft"},
		{"its beginning has left the screen, and what ran over begins with a mark", "\u0982\u09b2\u09be\n   4\n   5\n   6\n\n   8\n   [end m1]@" + geminiFoot, gemini,
			Box{Visible: true, Text: "4\n5\n6\n\n8\n[end m1]"}, "draft"},
		{"a reply above the cursor", "✦ 4\n   5\n   6\n   7\n\n   9\n   10\n   x@" + geminiFoot, gemini, unseen, ""},
		{"text that hangs, the cursor elsewhere", "   4\n   5\n   6\n   7\n\n   9\n   10\n@   x" + geminiFoot, gemini, unseen, ""},
		{"text that hangs above a dialog", "   4\n   5\n   6\n   7\n\n   9\n   10@\n\n│ Allow execution of [Shell]?    │\n│ ● 1. Allow once  │", gemini, unseen, "asks"},
		{"what was said before", geminiEdge + " > said" + geminiFloor + "\n│ Allow execution of [Shell]?    │\n│ ● 1. Allow once  │\n@", gemini, unseen, "asks"},
		{"a draft that reads like a dialog", geminiEdge + " > esc to close, use Enter to select@" + geminiFloor + geminiFoot, gemini, Box{Visible: true, Top: true, Text: "esc to close, use Enter to select"}, "draft"},
		{"a message that reads like work", geminiEdge + " > ⠏ Thinking... (esc to cancel, 0s)\n   ⠏ Thinking... (esc to cancel, 0s)" + geminiFloor + "\n" + geminiEdge + " > @" + geminiFloor, gemini, empty, "rests"},
		{"a reply that reads like work", "✦ press (esc to cancel, 3s)\n" + geminiEdge + " > @" + geminiFloor + geminiFoot, gemini, empty, "rests"},
		{"an older footer left below", geminiEdge + " > one\n   two@" + geminiFloor + geminiFoot + "\n" + geminiFoot, gemini, Box{Visible: true, Top: true, Text: "one\ntwo"}, "draft"},
		{"the last row of an older footer left below", geminiEdge + " > one\n   two@" + geminiFloor + geminiFoot + "\n\n ~/work                     Auto", gemini, Box{Visible: true, Top: true, Text: "one\ntwo"}, "draft"},
		{"two older footers left below", " > @" + geminiFoot + geminiFoot + geminiFoot, gemini, empty, "rests"},
		{"an older footer left right below", " > one@" + geminiFoot + "\n ~/work                     Auto", gemini, Box{Visible: true, Top: true, Text: "one"}, "draft"},
		{"a draft with the footer's words", " > one\n\n   ~/work                     Auto@" + geminiFoot, gemini, Box{Visible: true, Top: true, Text: "one\n\n~/work                     Auto"}, "draft"},
		{"shell mode", geminiEdge + " ! ls@" + geminiFloor + geminiFoot, gemini, Box{Visible: true, Foreign: true, Mode: "!", Text: "ls"}, "draft"},
		{"questions off", geminiEdge + " * @  Type your message" + geminiFloor + geminiFoot, gemini, empty, "rests"},
		{"history search", geminiEdge + " (r:)  @  Type your message" + geminiFloor + geminiFoot, gemini, unseen, "asks"},
		{"thinking", " ⠏ Thinking... (esc to cancel, 0s)\n──────────────────────\n Shift+Tab to accept edits\n" + geminiEdge + " > @" + geminiFloor + geminiFoot, gemini, empty, "busy"},
		{"prompts that it put aside", geminiAside + "    [relay m1 from bob] hello\n" + geminiRest, gemini, empty, "queued"},
		{"many prompts that it put aside", geminiAside + "    [relay m1 from bob] hello\n    two\n    three\n    ... (+2 more)\n" + geminiRest, gemini, empty, "queued"},
		{"a reply that reads like that", "✦ It says:\n  - Queued (press ↑ to edit):\n" + geminiRest, gemini, empty, "rests"},
		{"without focus", geminiAway + " >   Type your message" + geminiFloor + geminiFoot + "\n@", gemini, empty, "rests"},
		{"without focus, a draft", geminiAway + " > one\n\n   three" + geminiFloor + geminiFoot + "\n@", gemini, Box{Visible: true, Top: true, Text: "one\n\nthree"}, "draft"},
		{"without focus, blanks", geminiAway + " >     " + geminiFloor + geminiFoot + "\n@", gemini, Box{Visible: true, Top: true, Blank: true}, "rests"},
		{"without focus, shell mode", geminiAway + " ! ls" + geminiFloor + geminiFoot + "\n@", gemini, Box{Visible: true, Foreign: true, Mode: "!", Text: "ls"}, "draft"},
		{"without focus, working", "\x1b]0;✦  Working… (work)\a" + geminiAway + " >   Type your message" + geminiFloor + geminiFoot + "\n@", gemini, empty, "busy"},
		{"without focus, a screen that is full", geminiAway[:14] + strings.Repeat("\n", 8) + " >   Type your message" + geminiFloor + geminiFoot[1:] + "@", gemini, empty, "rests"},
		{"without focus, and with nothing that says so", geminiEdge + " >   Type your message" + geminiFloor + geminiFoot + "\n@", gemini, unseen, ""},
		{"without focus, the cursor elsewhere", geminiAway + " >   Type your message" + geminiFloor + geminiFoot + "\n @", gemini, unseen, ""},
		{"without focus, the cursor within the last row", geminiAway + strings.Repeat("\n", 7) + " >   Type your message" + geminiFloor + geminiFoot[1:] + "\x1b[12;4H@", gemini, unseen, ""},
		{"without focus, an older footer left below", geminiAway + " > one" + geminiFloor + geminiFoot + "\n@\n ~/work                     Auto", gemini, Box{Visible: true, Top: true, Text: "one"}, "draft"},
		{"without focus and footer", geminiAway + " > one" + geminiFloor + "\n@", gemini, Box{Visible: true, Top: true, Text: "one"}, "draft"},
		{"without focus, the cursor below a gap", geminiAway + " > one" + geminiFloor + "\n\n@", gemini, unseen, ""},
		{"without focus, what was said before", geminiAway + " > said" + geminiFloor + "\n│ Allow execution of [Shell]?    │\n│ ● 1. Allow once  │\n@", gemini, unseen, "asks"},
		{"without focus, what was said before and much below", geminiAway + " > said" + geminiFloor + "\n\n1\n2\n3\n4\n5\n@", gemini, unseen, ""},

		{"Qwen's placeholder", qwenRule + "> @\x1b[4m \x1b[m\x1b[38;5;103m Type your message or @path/to/file\x1b[m\n" + qwenRule, qwen, empty, "rests"},
		{"its suggestion, by its colour", qwenRule + qwenOne + qwenFoot, qwen, empty, "rests"},
		{"a suggestion of two rows", qwenRule + qwenOne + "\n  \x1b[38;5;103magain" + qwenFoot, qwen, empty, "rests"},
		{"in another colour than the footer's", qwenRule + strings.Replace(qwenOne, "103", "104", 1) + qwenFoot, qwen, Box{Visible: true, Top: true, Text: "run the tests"}, "draft"},
		{"nothing to compare its colour with", qwenRule + qwenOne + "\n" + qwenRule, qwen, Box{Visible: true, Top: true, Text: "run the tests"}, "draft"},
		{"no colours", qwenRule + "> @run the tests" + strings.Replace(qwenFoot, "38;5;103", "", 1), qwen, Box{Visible: true, Top: true, Text: "run the tests"}, "draft"},
		{"a draft, the cursor at its beginning", qwenRule + "> @run the tests" + qwenFoot, qwen, Box{Visible: true, Top: true, Text: "run the tests"}, "draft"},
		{"a draft, one word of it in the colour", qwenRule + "> @run \x1b[38;5;103mthe\x1b[m tests" + qwenFoot, qwen, Box{Visible: true, Top: true, Text: "run the tests"}, "draft"},
		{"the colour, the cursor behind it", qwenRule + strings.Replace(qwenOne, "@", "", 1) + "@" + qwenFoot, qwen, Box{Visible: true, Top: true, Text: "run the tests"}, "draft"},
		{"what it draws behind its cursor", qwenRule + "> hello@ \u200b" + qwenFoot, qwen, Box{Visible: true, Top: true, Text: "hello"}, "draft"},
		{"blanks were typed", qwenRule + ">    @ \u200b" + qwenFoot, qwen, Box{Visible: true, Top: true, Blank: true}, "rests"},
		{"Qwen thinks", "  ⠋ Polishing the algorithms... (5s · esc to cancel)\n\n" + qwenRule + "> @\x1b[4m \x1b[m" + qwenFoot, qwen, empty, "busy"},
		{"it waits for a tool", "  (3s · esc to cancel)\n\n" + qwenRule + "> @\x1b[4m \x1b[m" + qwenFoot, qwen, empty, "busy"},
		{"a message that speaks of work", "> one\n    (esc to cancel) now\n  press (esc to cancel)\n\n" + qwenRule + "> @\x1b[4m \x1b[m" + qwenFoot, qwen, empty, "rests"},
		{"so tall that it may scroll", qwenRule + "> 1\n  2\n  3\n  4\n  5\n  6\n  7\n  8\n  9\n  10@\n" + qwenRule[:len(qwenRule)-1], qwen, Box{Visible: true, Text: "1\n2\n3\n4\n5\n6\n7\n8\n9\n10"}, "draft"},
		{"lines for edges", geminiLine + "\n >   @Type your message\n" + geminiLine + "\n ~/work    Auto", gemini, empty, "rests"},
		{"lines for edges, a draft", geminiLine + "\n > one\n   two@\n" + geminiLine + "\n ~/work    Auto", gemini, Box{Visible: true, Top: true, Text: "one\ntwo"}, "draft"},
		{"lines for edges, a line in a draft", geminiLine + "\n > one\n   " + geminiLine + "@\n" + geminiLine + "\n ~/work    Auto", gemini,
			Box{Visible: true, Top: true, Text: "one\n" + geminiLine}, "draft"},
		{"a draft, questions off", geminiEdge + " * one\n   two@" + geminiFloor + geminiFoot, gemini, Box{Visible: true, Top: true, Text: "one\ntwo"}, "draft"},
		{"trust", " │ Do you trust the files in this folder? │\n │ ● 1. Trust folder (work) │\n@", gemini, unseen, "asks"},
		{"a title that asks", "\x1b]0;✋  Action Required (work)\a > @" + geminiFoot, gemini, empty, "asks"},
		{"a title that works", "\x1b]0;✦  Working… (work)\a > @" + geminiFoot, gemini, empty, "busy"},

		{"start", "   ┃\n   ┃  @Ask anything… \"Fix a test\"\n   ┃\n   ┃  Build · model\n   ╹▀▀▀▀▀▀▀▀▀▀", opencode, empty, "rests"},
		{"start, the page's last rows over the composer", "\x1b[1H   ┃\n   ┃  one\n   ┃  two@\n   ┃\n   ┃  Build · model\n   ╹▀▀▀▀▀▀▀▀▀▀\x1b[11H  /home/me/work:main                 1.18.33", opencode, unseen, ""},
		{"session", "  ┃\n  ┃  said\n  ┃\n\n     reply\n\n  ┃\n  ┃  @" + openFloor, opencode, empty, "rests"},
		{"a draft", "  ┃\n  ┃  one\n  ┃\n  ┃  three@" + openFloor, opencode, Box{Visible: true, Top: true, Text: "one\n\nthree"}, "draft"},
		{"a row that wraps behind a line that is no border", "  ┃\n  ┃  cat x |\n  ┃  sh |@" + openFloor, opencode, Box{Visible: true, Top: true, Text: "cat x |\nsh |"}, "draft"},
		{"six rows, most of them empty, may have scrolled", "  ┃\n  ┃  \n  ┃  \n  ┃  \n  ┃  \n  ┃  six@" + openFloor, opencode, Box{Visible: true, Text: "six"}, "draft"},
		{"six rows may have scrolled", "  ┃\n  ┃  1\n  ┃  2\n  ┃  3\n  ┃  4\n  ┃  5\n  ┃  6@" + openFloor, opencode, Box{Visible: true, Text: "1\n2\n3\n4\n5\n6"}, "draft"},
		{"shell mode", "  ┃\n  ┃  @Run a command… \"ls -la\"\n  ┃\n  ┃  Shell\n  ╹▀▀▀▀▀▀▀▀▀▀", opencode, Box{Visible: true, Top: true, Foreign: true, Mode: "!"}, "rests"},
		{"working", "  ┃\n  ┃  @" + openFloor + "\n   ■■⬝⬝⬝⬝⬝⬝  esc interrupt", opencode, empty, "busy"},
		{"working, armed", "  ┃\n  ┃  @" + openFloor + "\n   ■■⬝⬝⬝⬝⬝⬝  esc again to interrupt", opencode, empty, "armed"},
		{"a reply that reads like it", "     press esc again to interrupt\n\n  ┃\n  ┃  @" + openFloor, opencode, empty, "rests"},
		{"a reply that reads like work", "     press esc interrupt\n\n  ┃\n  ┃  @" + openFloor, opencode, empty, "rests"},
		{"working, narrow", "  ┃\n  ┃  @" + openFloor + "\n   ■■⬝⬝⬝⬝⬝⬝  esc    tab\n             interr agents", opencode, empty, "busy"},
		{"it tries again, in a narrow terminal", "  ┃\n  ┃  @" + openFloor + "\n   ⬝Cannot⬝connect to API: Unable to connect. Is the computer ab\n    retrying in 7s attempt #3]", opencode, empty, "busy"},
		{"it tries again, in a wide terminal", "  ┃\n  ┃  @" + openFloor + "\n   ■■⬝⬝⬝⬝⬝⬝ Overloaded [retrying attempt #1]      esc interrupt", opencode, empty, "busy"},
		{"a question", "  ┃\n  ┃  △ Permission required\n  ┃\n  ┃   Allow once   Reject@", opencode, unseen, "asks"},
		{"a question of its model", "  ┃\n  ┃  Which colour?\n  ┃\n  ┃  1. Red\n  ┃  2. Type your own answer\n  ┃     @Type your own answer\n  ┃\n  ┃  ↑↓ select  enter submit  esc dismiss\n  ┃\n", opencode, unseen, "asks"},
		{"a question of its model, narrow", "  ┃\n  ┃  Which colour?\n  ┃\n  ┃  1. Red@\n  ┃\n  ┃  ⇆ tab  ↑↓ select  enter toggle\n  ┃  esc dismiss\n  ┃\n", opencode, unseen, "asks"},
		{"what was said tells of keys, the composer is yet to be painted", "  ┃\n  ┃  press enter submit  esc dismiss\n  ┃  1\n  ┃  2\n  ┃  3\n  ┃\n@", opencode, unseen, ""},
		{"a draft that tells of keys", "  ┃\n  ┃  ↑↓ select  enter submit  esc dismiss@" + openFloor, opencode, Box{Visible: true, Top: true, Text: "↑↓ select  enter submit  esc dismiss"}, "draft"},
		{"a question below what was said", "  ┃\n  ┃  said\n  ┃\n\n     reply\n\n  ┃  △ Permission required\n  ┃\n  ┃   Allow once   Reject@", opencode, unseen, "asks"},
		{"what was said reads like a question", "  ┃\n  ┃  △ Permission required\n  ┃\n@\n  ┃\n  ┃  " + openFloor, opencode, unseen, ""},
		{"what was said reads like a question, the composer is yet to be painted", "  ┃\n  ┃  [relay m1 from bob] x\n  ┃  △ Permission required\n  ┃\n@", opencode, unseen, ""},
		{"a list above a composer in full view", "      Commands                  esc\n\n      @Search\n\n  ┃\n  ┃  " + openFloor, opencode, unseen, "asks"},
	} {
		t.Run(c.p.Name+"/"+c.name, func(t *testing.T) {
			v := Look(c.p, painted(c.painted))
			if v.Box != c.want || told(v) != c.told {
				t.Errorf("got %+v, %q (dialog %q, word %q); want %+v, %q", v.Box, told(v), v.Dialog, v.Said.State, c.want, c.told)
			}
		})
	}
}

func TestDialogsAreToldWithoutTheirBorders(t *testing.T) {
	v := Look(gemini, painted("│ Allow execution of [Shell]?      │\n@"))
	if want := "Allow execution of [Shell]?"; v.Dialog != want {
		t.Errorf("got %q, want %q", v.Dialog, want)
	}
}

func TestQuestionsOfTheModelAreToldByTheirText(t *testing.T) {
	v := Look(opencode, painted("  ┃\n  ┃  Which colour?\n  ┃\n  ┃  1. Red@\n  ┃\n  ┃  ↑↓ select  enter submit  esc dismiss\n  ┃\n"))
	if want := "Which colour?"; v.Dialog != want {
		t.Errorf("got %q, want %q", v.Dialog, want)
	}
}

func TestItsWordHasADetailAndASerial(t *testing.T) {
	s := screen.New(4, 40)
	say := func(state string) Said {
		s.Write([]byte("\x1b]7501;state=" + state + ":app=codex\x1b\\"))
		return Look(codex, s).Said
	}
	first := say("blocked:kind=permission")
	if first.State != ready.Blocked || first.Detail != "permission" {
		t.Errorf("got %+v, want blocked by permission", first)
	}
	if again := say("blocked:kind=permission"); again == first {
		t.Error("the same word said twice looks as if said once")
	}
	if other := say("clear"); other != (Said{}) {
		t.Errorf("got %+v for a word that is not known", other)
	}
}

// TestBlanksShowByTheCursor: a draft of blanks and newlines shows no text.
func TestBlanksShowByTheCursor(t *testing.T) {
	const rule, openEmpty = "────────────────────", "  ┃\n  ┃  "
	for _, c := range []struct {
		name, painted string
		p             *profile.Profile
		blank         bool
	}{
		{"empty", rule + "\n❯\u00a0@\n" + rule, claude, false},
		{"a blank", rule + "\n❯\u00a0 @\n" + rule, claude, true},
		{"a newline", rule + "\n❯\u00a0\n  @\n" + rule, claude, true},
		{"a newline, the cursor before it", rule + "\n❯\u00a0@\n\n" + rule, claude, true},
		{"ghost text", rule + "\n❯\u00a0@\x1b[2mTry this\x1b[m\n" + rule, claude, false},
		{"text", rule + "\n❯\u00a0x\n  @\n" + rule, claude, false},
		{"the cursor elsewhere", "@\n" + rule + "\n❯\u00a0\n" + rule, claude, false},
		{"empty", "› @" + codexFoot, codex, false},
		{"a newline", "› \n  @" + codexFoot, codex, true},
		{"placeholder", geminiEdge + " > @  Type your message or @path/to/file" + geminiFloor + geminiFoot, gemini, false},
		{"a newline", geminiEdge + " > \n   @" + geminiFloor + geminiFoot, gemini, true},
		{"padding", openEmpty + "@" + openFloor, opencode, false},
	} {
		if b := Look(c.p, painted(c.painted)).Box; !b.Visible || b.Blank != c.blank {
			t.Errorf("%s, %s: %+v, want blank %v", c.p.Name, c.name, b, c.blank)
		}
	}
}

// TestComposerTallerThanTheScreen: Claude Code 2.1.197 does not scroll a tall composer, whose
// beginning leaves the screen; 2.1.329 does, and may leave no room for the rule below it.
func TestComposerTallerThanTheScreen(t *testing.T) {
	const rule = "────────────────────"
	tall := strings.Repeat("  a line\n", 8)
	for _, c := range []struct {
		name, painted string
		want          Box
		told          string
	}{
		{"its end", tall + "  [end m1]@\n" + rule + "\n  ctrl+g to edit", Box{Visible: true, Text: strings.TrimSpace(strings.ReplaceAll(tall, "  ", "")) + "\n[end m1]"}, "draft"},
		{"its end, below a row that ran over", "\u102c\n" + tall[9:] + "  [end m1]@\n" + rule + "\n  ctrl+g to edit", Box{Visible: true, Text: strings.TrimSpace(strings.ReplaceAll(tall[9:], "  ", "")) + "\n[end m1]"}, "draft"},
		{"its end, with a row that ran over", tall[9:] + "  " + strings.Repeat("y", 58) + "\u178f\n  [end m1]@\n" + rule + "\n  ctrl+g to edit", Box{Visible: true, Text: strings.TrimSpace(strings.ReplaceAll(tall[9:], "  ", "")) + "\n" + strings.Repeat("y", 58) + "\n\u178f\n[end m1]"}, "draft"},
		{"its end, high on the screen", "  from bob] x\n  [end m1]@\n" + rule + "\n  paste again to expand\n       ctrl+g to edit", Box{Visible: true, Text: "from bob] x\n[end m1]"}, "draft"},
		{"its text reads like a dialog", tall + "  Esc to cancel@\n" + rule + "\n  ctrl+g to edit", Box{Visible: true, Text: strings.TrimSpace(strings.ReplaceAll(tall, "  ", "")) + "\nEsc to cancel"}, "draft"},
		{"only its rule is out", "❯\u00a0one\n" + tall + "  end@\n" + rule, Box{Visible: true, Top: true, Text: "one\n" + strings.ReplaceAll(tall, "  ", "") + "end"}, "draft"},
		{"its lower rule is out, too", rule + "\n─── ↑ 9 more ──────────\n" + tall + "  a word\n  [end m1]@", Box{Visible: true, Text: strings.ReplaceAll(tall, "  ", "") + "a word\n[end m1]"}, "draft"},
		{"only its lower rule is out", "● one\n" + rule + "\n❯\u00a0one\n" + tall + "  [end m1]@", Box{Visible: true, Text: "one\n" + strings.ReplaceAll(tall, "  ", "") + "[end m1]"}, "draft"},
		{"only its lower rule is out, and it ends with blanks", "● one\n\n\n\n\n\n\n\n" + rule + "\n❯\u00a0[relay m1 from bob]\n\n  @", Box{Visible: true, Text: "[relay m1 from bob]"}, "draft"},
		{"only its lower rule is out, and something stands below", "● one\n" + rule + "\n❯\u00a0one\n" + tall + "? for shortcuts@", Box{}, ""},
		{"a reply above a rule", "● one\n" + tall + "  end@\n" + rule, Box{}, ""},
		{"the cursor elsewhere", tall + "  end\n" + rule + "\n @", Box{}, ""},
		{"a dialog", tall[18:] + "  end@\n" + rule + "\n  Do you want to proceed?\n  Esc to cancel", Box{}, "asks"},
		{"a dialog nobody knows", strings.Repeat("  a line\n", 3) + "  end@\n" + rule + "\n\n  Shall\n  we\n  do\n  it\n  now", Box{}, ""},
	} {
		if v := Look(claude, painted(c.painted)); v.Box != c.want || told(v) != c.told {
			t.Errorf("%s: got %+v, %q (dialog %q); want %+v, %q", c.name, v.Box, told(v), v.Dialog, c.want, c.told)
		}
	}
}
