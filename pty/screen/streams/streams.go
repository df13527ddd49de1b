// Package streams makes the kinds of terminal output that speed is measured on. Only tests use it.
package streams

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Kind is one kind of output, and the kind of program that writes it.
type Kind struct {
	Name string
	part func(*strings.Builder, *rand.Rand)
}

// Kinds are all kinds. Of those that paint, pieces and tui are full screens of at least 50 rows
// and 100 columns, boxes and ink are blocks of lines that are painted again where they stand.
var Kinds = []Kind{
	{"text", text},     // a compiler, cat
	{"sgr", sgr},       // ls, git: a colour every few letters
	{"tui", tui},       // an editor: full screens, row by row
	{"ink", ink},       // Ink: erases its last frame line by line and prints the next
	{"pieces", pieces}, // htop: positioned pieces of a full screen
	{"boxes", boxes},   // rules, borders and glyphs, then up again
	{"world", world},   // many scripts, emoji, and what joins and combines with them
}

// Make is about size bytes of the kind, the same whenever it is made.
func (k Kind) Make(size int) []byte {
	var b strings.Builder
	for r := rand.New(rand.NewPCG(1, 2)); b.Len() < size; {
		k.part(&b, r)
	}
	return []byte(b.String())
}

const letters = "the quick brown fox jumps over a lazy dog and then sleeps until noon " +
	"because nothing else is to be done "

func words(r *rand.Rand, n int) string {
	from := r.IntN(len(letters) - n)
	return letters[from : from+n]
}

func text(b *strings.Builder, r *rand.Rand) {
	b.WriteString(words(r, 20+r.IntN(80)))
	b.WriteString("\r\n")
}

func sgr(b *strings.Builder, r *rand.Rand) {
	for range 8 {
		fmt.Fprintf(b, "\x1b[%d;%dm%s\x1b[0m ", r.IntN(2), 31+r.IntN(7), words(r, 5+r.IntN(10)))
	}
	b.WriteString("\r\n")
}

func tui(b *strings.Builder, r *rand.Rand) {
	b.WriteString("\x1b[?25l\x1b[H")
	for row := range 50 {
		fmt.Fprintf(b, "\x1b[%d;1H\x1b[38;5;%dm%4d \x1b[m", row+1, 240+r.IntN(8), row)
		for range 4 {
			fmt.Fprintf(b, "\x1b[38;5;%dm%s \x1b[m", r.IntN(256), words(r, 4+r.IntN(16)))
		}
		b.WriteString("\x1b[K")
	}
	fmt.Fprintf(b, "\x1b[50;1H\x1b[7m %-60s\x1b[27m", words(r, 40))
	fmt.Fprintf(b, "\x1b[%d;%dH\x1b[?25h", 1+r.IntN(50), 1+r.IntN(100))
}

func ink(b *strings.Builder, r *rand.Rand) {
	const rows = 8
	b.WriteString(strings.Repeat("\x1b[2K\x1b[1A", rows-1) + "\x1b[2K\x1b[G")
	fmt.Fprintf(b, "\x1b[38;2;%d;119;87m✳\x1b[39m %s…", 215-r.IntN(9), words(r, 12))
	fmt.Fprintf(b, "\x1b[2m (%ds · esc to interrupt)\x1b[22m\r\n", r.IntN(99))
	b.WriteString("\x1b[2m╭" + strings.Repeat("─", 60) + "╮\x1b[22m\r\n")
	for range rows - 4 {
		fmt.Fprintf(b, "\x1b[2m│\x1b[22m \x1b[38;5;%dm❯\x1b[39m ", r.IntN(256))
		fmt.Fprintf(b, "%-56s \x1b[2m│\x1b[22m\r\n", words(r, 20+r.IntN(30)))
	}
	b.WriteString("\x1b[2m╰" + strings.Repeat("─", 60) + "╯\x1b[22m\r\n")
}

func pieces(b *strings.Builder, r *rand.Rand) {
	fmt.Fprintf(b, "\x1b[%d;%dH", 1+r.IntN(50), 1+r.IntN(100))
	fmt.Fprintf(b, "\x1b[38;5;%dm%s\x1b[K", r.IntN(256), words(r, 10+r.IntN(30)))
	if r.IntN(8) == 0 {
		b.WriteString("\x1b[?25l\x1b[m\x1b[H\x1b[2;40r\x1b[r\x1b[?25h")
	}
}

func boxes(b *strings.Builder, r *rand.Rand) {
	b.WriteString("\x1b[2m╭" + strings.Repeat("─", 78) + "╮\x1b[22m\r\n")
	for range 3 {
		fmt.Fprintf(b, "│ \x1b[38;2;%d;120;%dm❯\x1b[39m ", r.IntN(4)*60, r.IntN(4)*60)
		fmt.Fprintf(b, "%-40s ● ✳ ⎿ … │\x1b[K\r\n", words(r, 30))
	}
	b.WriteString("╰" + strings.Repeat("─", 78) + "╯\r\n\x1b[2K\x1b[5A\x1b[G")
}

// world writes one row in four of each kind of text.
func world(b *strings.Builder, r *rand.Rand) {
	switch r.IntN(4) {
	case 0:
		b.WriteString("漢字かな交じり文、全角の句読点。한국어 문장도 있습니다")
	case 1:
		b.WriteString("Ünïcödé façade naïve, Ελληνικά, кириллица, ✓ done → next")
	case 2:
		b.WriteString("🚀 launch 👍🏽 ok 👩‍💻 dev 🇦🇺 flag ⚠️ warn ❤️‍🔥")
	case 3:
		b.WriteString("e\u0301a\u0300o\u0308 हिन्दी ไทย " + words(r, 30))
	}
	b.WriteString("\r\n")
}
