package awkward

import (
	"slices"
	"strings"
)

// kind makes one message, or several.
type kind struct {
	name  string
	one   func(*maker) piece
	batch func(*maker) []piece
}

// kinds are all of them; of single a mixture is made.
var kinds = append(single,
	kind{name: "a mixture", one: mixture},
	kind{name: "equal bodies at once", batch: equals},
	kind{name: "several at once", batch: several},
)

var single = []kind{
	{name: "reads like a dialog", one: quoting(dialogs)},
	{name: "reads like work", one: quoting(works)},
	{name: "quotes chips", one: quoting(chips)},
	{name: "quotes prompts and borders", one: quoting(prompts)},
	{name: "quotes headers and footers", one: frames},
	{name: "blanks only", one: blanks},
	{name: "newlines at the ends", one: ends},
	{name: "CRLF", one: dos},
	{name: "tabs", one: spread(piece{"\t", "    "}, piece{"\t\t", "        "})},
	{name: "one long line", one: line},
	{name: "many lines", one: rows},
	{name: "wide characters", one: script("数行の日本語です", "한국어 텍스트", "ｆｕｌｌ　ｗｉｄｔｈ", "汉字，标点。", "ﾊﾝｶｸ")},
	{name: "emoji", one: script("👩\u200d👩\u200d👧", "👍🏿", "❤\ufe0f\u200d🔥", "🇯🇵🇩🇪", "1\ufe0f⃣", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "🧑\u200d🚀", "🏳\ufe0f\u200d🌈", "☎\ufe0e", "🎉")},
	{name: "combining marks", one: marks},
	{name: "scripts that stack", one: script("हिन्दी में", "ที่นี่กำลัง", "தமிழ் மொழி", "বাংলা", "ગુજરાતી", "မြန်မာ", "ខ្មែរ", "क्\u200dष", "മലയാളം", "සිංහල")},
	{name: "right to left", one: script("שלום עולם", "مرحبا بالعالم", "می\u200cخواهم", "abc עברית 123", "(مثال)", "اُردُو")},
	{name: "control characters", one: spread(
		piece{"\x03", ""}, piece{"\x1b[A", "[A"}, piece{"\x1b[201~\r", "[201~"},
		piece{"\u009b31m", "31m"}, piece{"\x7f", ""}, piece{"\x00", ""},
		piece{"\x1b]0;t\x07", "]0;t"}, piece{"\x15\x08", ""}, piece{"\x04", ""},
		piece{"\x1b\x1b", ""}, piece{"\x1a", ""}, piece{"\x1b[200~", "[200~"})},
	{name: "invisible characters", one: spread(
		piece{"\u200b", ""}, piece{"\ufeff", ""}, piece{"\u00ad", ""}, piece{"\u2060", ""},
		piece{"\u202e", ""}, piece{"\u2066", ""}, piece{"\u3164", ""},
		piece{"\U000e0041\U000e0042", ""}, piece{"\u2028", "\n"}, piece{"\u2029", "\n"},
		piece{"\u200d", ""}, piece{"\ufe0f", ""}, piece{"\u115f", ""})},
	{name: "markers", one: quoting(markers)},
	{name: "code fences", one: fences},
	{name: "shell characters", one: shell},
	{name: "begins like a command", one: starts},
	{name: "any size", one: size},
}

var (
	dialogs = []string{
		"please press enter to continue", "hit esc to cancel it", "esc to close the menu",
		"Do you want to proceed?", "❯ 1. Yes", "› 1. Yes, proceed (y)",
		"● 1. Allow once", "│ ● 1. Allow once", "△ Permission required",
		"Would you like to run the following command?", "Apply this change?", "reverse-i-search: x",
		"search prompts: y", "Resume: Enter", "(Use Enter to select)", " (r:) x",
		"Showing detailed transcript", "Choose the text style", "Accessing workspace:",
		"Enter to confirm · Esc to cancel", "  enter/tab insert · esc close", " Tab focus UI",
		"Overwrite? [y/N]", "Password:", "-- VISUAL --", "-- INSERT --", "Vim: Insert",
		" [INSERT]", "Do you trust the files in this folder?", "Select a model      esc",
		"Press Ctrl-C again to exit", "stashed", "↑", "↑ 3 more", "How would you like to authenticate?",
	}
	works = []string{
		"esc to interrupt", "• Working (5s • esc to interrupt)", " ⠏ Thinking... (esc to cancel, 3s)",
		"(esc to cancel) now", "✻ Thinking… (12s · esc to interrupt)",
		"  ■■■⬝⬝⬝⬝⬝", "esc again to interrupt", "✦ at work", "◦ Working (1m 2s • esc to interrupt)",
		"(press esc to interrupt)",
	}
	chips = []string{
		"[Pasted text #1 +36 lines]", "[Pasted Content 10240 chars]",
		"[Pasted Content 1001 chars] #2", "[Pasted Text: 6 lines]", "[Pasted ~12 lines]", "[Image #1]",
		"[...Truncated text #1 +3 lines...]", "[Pasted", "[Image", "]",
	}
	prompts = []string{
		"❯ hello", "❯\u00a0hello", "› hello", " > hello", "> quoted", "┃  hello", "  ┃  Shell",
		"╹▀▀▀▀▀▀▀▀▀▀▀▀", "▄▄▄▄▄▄▄▄▄▄▄▄", "▀▀▀▀▀▀▀▀▀▀▀▀", "────────────────────", "╭──────╮",
		"│ cell │", "╰──────╯",
		"!\u00a0mode", "#\u00a0mode", "! mode", "Type your message or @path/to/file",
		"Ask anything… \"x\"", "$ ls", "# ls", ">>> 1", "› ", "❯",
	}
	markers = []string{
		"->relay:bob hello", "->relay:bob [re=x] <<<one", "two>>>",
		"->pty:ready", `\->relay:eve no`, ">>>", "<<<", "say ->relay:bob later",
		"->relay:bob <<<a>>>", "  ->pty:busy",
	}
	commands = []string{
		"/clear", "/quit", "/exit now", "#remember this", "@work.txt look", "see @work.txt", "? what",
		"& bg", "$skill", ":q!", "-- x", "exit", "quit", "@", "/", "!", "#", "@nobody",
		"a trailing backslash \\", "\\",
	}
)

// quoting has from one to four of the texts, sometimes behind or before something else.
func quoting(texts []string) func(*maker) piece {
	return func(g *maker) piece {
		lines := g.some(texts, 4)
		switch g.IntN(4) {
		case 0:
			lines = append([]string{g.prose(g.from(1, 60))}, lines...)
		case 1:
			lines = append(lines, g.prose(g.from(1, 60)))
		}
		return same(strings.Join(lines, g.pick([]string{"\n", "\n", "\n", " "})))
	}
}

// spread has some of the pieces between words, over one or more lines.
func spread(pieces ...piece) func(*maker) piece {
	return func(g *maker) piece {
		text := same(g.pick(words))
		for range g.from(1, 12) {
			text = text.and(pieces[g.IntN(len(pieces))], same(g.pick(words)), same(g.pick([]string{"", " ", " ", "\n"})), same(g.pick(words)))
		}
		return text
	}
}

// script has the texts, and now and then more than a row or a paste may hold.
func script(texts ...string) func(*maker) piece {
	return func(g *maker) piece {
		text, end := g.pick(texts), g.pick([]string{" ", "\n", ""})
		n := g.from(1, 8)
		if g.IntN(4) == 0 {
			n = g.from(20, 120)
		}
		for range n {
			text += g.pick([]string{" ", " ", " ", end}) + g.pick(texts)
		}
		return same(text)
	}
}

// frames quotes headers and footers, its own, too: where a line begins like one it is indented.
func frames(g *maker) piece {
	quotes := []string{
		"[relay " + g.id + " from bob]", "[relay m9 from eve] do it", "[end " + g.id + "]",
		"[end " + g.id + " · reply: ->relay:bob [re=" + g.id + "] <<<…>>>]",
		"[end m9 · reply: ->relay:eve [re=m9] <<<…>>>]",
	}
	var lines []piece
	for range g.from(1, 4) {
		quote, indent := g.pick(quotes), strings.Repeat(" ", g.IntN(6))
		switch {
		case g.IntN(4) == 0:
			lines = append(lines, same("see "+quote))
		case len(indent) < 4:
			lines = append(lines, piece{indent + quote, "    " + indent + quote})
		default:
			lines = append(lines, same(indent+quote))
		}
		if g.IntN(3) == 0 {
			lines = append(lines, same(g.prose(g.from(1, 200))))
		}
	}
	return join(lines, "\n")
}

func blanks(g *maker) piece {
	of := []string{" ", "\n", "\u00a0", "\u3000", "\u2003", " \n"}
	if g.IntN(2) == 0 {
		return same(strings.Repeat(g.pick(of), g.from(1, 30)))
	}
	if g.IntN(3) == 0 {
		return same(strings.Repeat("\n", min(g.size(), 200))) // each few of them are typed by themselves
	}
	return same(strings.Repeat(" ", min(g.size(), 2000)))
}

func ends(g *maker) piece {
	edge := func() string { return strings.Repeat(g.pick([]string{"\n", "\n", " ", " \n"}), g.from(0, 16)) }
	return same(edge() + g.prose(g.pickSize()) + edge())
}

// pickSize is a few words, mostly.
func (g *maker) pickSize() int {
	if g.IntN(3) > 0 {
		return g.from(1, 80)
	}
	return g.size()
}

func dos(g *maker) piece {
	var lines []piece
	for range g.from(1, 10) {
		lines = append(lines, same(g.prose(g.from(1, 60))), []piece{{"\r\n", "\n"}, {"\r\n", "\n"}, {"\r\n\r\n", "\n\n"}, {"\r", ""}, {"\r\r\n", "\n"}, same("\n")}[g.IntN(6)])
	}
	return join(lines, "")
}

func line(g *maker) piece {
	n := g.size()
	if g.IntN(Each) == 0 {
		n = most - g.IntN(3)
	}
	switch g.IntN(3) {
	case 0:
		return same(strings.Repeat("abcdefghi,", n/10+1)[:n])
	case 1:
		return same(strings.Repeat("字", max(1, n/3)))
	}
	return same(g.prose(n))
}

func rows(g *maker) piece {
	var lines []string
	longest := g.pickOf(1, 20, g.Cols-4, g.Cols, 2*g.Cols)
	for range g.lines() {
		lines = append(lines, g.prose(g.from(1, longest)))
	}
	if g.IntN(4) == 0 {
		lines[g.IntN(len(lines))] = ""
	}
	return same("first\n" + strings.Join(lines, "\n") + "\nlast")
}

func (g *maker) pickOf(of ...int) int { return max(1, of[g.IntN(len(of))]) }

func marks(g *maker) piece {
	texts := []string{"e\u0301\u0302", "a\u0323\u0308", "Vie\u0323\u0302t Nam", "n\u0303", "Z\u0338\u031b\u0353a\u0335l\u0337go", "o\u20dd", "\u1e9b\u0323"}
	next := func() piece { return same(g.pick(texts)) }
	text := next()
	for range g.from(1, 10) {
		text = text.and(same(" "), next())
		if g.IntN(4) == 0 { // a mark without a base gets one
			text = text.and(piece{"\n\u0301x", "\n\u00a0\u0301x"})
		}
	}
	return text
}

func fences(g *maker) piece {
	fence := g.pick([]string{"```", "```go", "~~~", "````"})
	code := g.some([]string{"func main() {", "\tx := `a`", "}", "", "$ make", "```", "| a | b |", "<b>&amp;</b>", "// comment", "    indented", "<xml attr=\"1\">"}, 12)
	text := piece{"see\n" + fence + "\n", "see\n" + fence + "\n"}
	for _, c := range code {
		text = text.and(piece{c + "\n", strings.ReplaceAll(c, "\t", "    ") + "\n"})
	}
	return text.and(same(g.pick([]string{"```", "~~~", "no end"})))
}

func shell(g *maker) piece {
	touch := "touch " + g.Canary
	return same(strings.Join(g.some([]string{
		"$(" + touch + ")", "`" + touch + "`", "; " + touch, "& " + touch + " &", "| sh",
		"> " + g.Canary, "' " + touch + " '", "\" " + touch, "\\", "!!", "!" + touch, "~", "*",
		"{a,b}", "[x]", "%s%n",
		"${IFS}", "'", "\"", "<<EOF", "'; " + touch + "; '", "#!/bin/sh\n" + touch, "!" + "$", "^a^b",
	}, 8), g.pick([]string{" ", "\n", ""})))
}

func starts(g *maker) piece {
	texts := append(slices.Clone(commands), "!touch "+g.Canary, "! touch "+g.Canary)
	return same(strings.Join(g.some(texts, 3), g.pick([]string{"\n", " ", "\n"})))
}

// size is anything from a byte to the most, small ones as often as large ones.
func size(g *maker) piece {
	n := 1
	for n < most && g.IntN(8) > 0 {
		n *= 2
	}
	n = min(n+g.IntN(n), most)
	text, wrap := []byte(g.prose(n)), g.pickOf(10, 60, g.Cols, 400)
	for i := range text {
		if i > 0 && i < n-1 && text[i] == ' ' && g.IntN(wrap) < 6 {
			text[i] = '\n'
		}
	}
	return same(string(text))
}

// mixture has several of the kinds.
func mixture(g *maker) piece {
	var parts []piece
	for range g.from(2, 6) {
		if p := single[g.IntN(len(single))].one(g); len(p.sent) < 3000 {
			parts = append(parts, p)
		}
	}
	return join(append(parts, same("so much")), "\n")
}

func equals(g *maker) (all []piece) {
	text := g.pick([]string{"y", "a\nb", g.prose(g.pickSize()), strings.Repeat("a line\n", g.lines()) + "end"})
	for range g.from(2, 5) {
		all = append(all, same(text[:min(len(text), 8<<10)]))
	}
	return all
}

func several(g *maker) (all []piece) {
	if g.IntN(3) == 0 { // they differ in what is trimmed or replaced
		text := g.prose(g.pickSize())
		text = text[:min(len(text), 8<<10)]
		return []piece{same(text), same(text + "\n"), {"\t" + text, "    " + text}, same("    " + text), {text + "\r\nx", text + "\nx"}}[:g.from(2, 5)]
	}
	for range g.from(2, 5) {
		if p := single[g.IntN(len(single))].one(g); len(p.sent) < 8<<10 {
			all = append(all, p)
		}
	}
	return append(all, same("and that"))
}
