// Package paper prints for people: tables, colours, and text without what would act on a terminal.
package paper

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"relay-pty/pty/screen/width"
)

// Paper is where a command writes for people: a terminal, or something that takes lines of any
// length and no colours.
type Paper struct {
	io.Writer
	terminal bool
	cols     int // 0: any
	colour   bool
}

// New is the paper that a writer is.
func New(w io.Writer) Paper {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return Paper{Writer: w}
	}
	cols, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		cols = 0
	}
	return Paper{w, true, cols, os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

// colours of words, as parameters of SGR.
var colours = map[string]string{
	"ready": "32", "delivered": "32", "replied": "32",
	"busy": "33", "queued": "33", "injecting": "33", "accepted": "33",
	"blocked": "31", "failed": "31", "unknown": "31", "expired": "31",
	"gone": "2", "cancelled": "2",
}

// Paint colours text, which may have blanks around it, if it is a word that has a colour, with what
// stands behind it in parentheses.
func (p Paper) Paint(text string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(text), " (")
	if c := colours[word]; p.colour && c != "" {
		return "\x1b[" + c + "m" + text + "\x1b[m"
	}
	return text
}

// Whole is text as it is, but without what would act on a terminal where this is one.
func (p Paper) Whole(text string) string {
	if p.terminal {
		return Plain(text)
	}
	return text
}

// gap is what stands between two columns.
const gap = "  "

// Table prints rows of equally many cells, the first of them a header. The last column is cut where
// the terminal ends.
func (p Paper) Table(rows [][]string) error {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], columns(cell))
		}
	}
	last := len(widths) - 1
	before := last * len(gap)
	for _, w := range widths[:last] {
		before += w
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row[:last] {
			line.WriteString(p.Paint(cell+strings.Repeat(" ", widths[i]-columns(cell))) + gap)
		}
		if p.cols > 0 {
			row[last] = Cut(row[last], max(p.cols-before, 1))
		}
		line.WriteString(p.Paint(row[last]))
		if _, err := fmt.Fprintln(p, strings.TrimRight(line.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}

// columns is how many columns of a terminal text takes.
func columns(text string) (n int) {
	for _, r := range text {
		n += width.Of(r)
	}
	return n
}

// Cut shortens text to so many columns.
func Cut(text string, most int) string {
	if columns(text) <= most {
		return text
	}
	n := 0
	for i, r := range text {
		if n += width.Of(r); n > most-1 {
			return text[:i] + "…"
		}
	}
	return text
}

// FirstLine is the first line of a body, with a sign where there is more.
func FirstLine(body string) string {
	line, _, more := strings.Cut(strings.TrimSpace(Plain(body)), "\n")
	if more {
		line += " …"
	}
	return strings.ReplaceAll(line, "\t", " ")
}

// Indent puts blanks before each line of a body.
func Indent(body, blanks string) string {
	return blanks + strings.ReplaceAll(Plain(body), "\n", "\n"+blanks)
}

// Plain removes what would act on a terminal.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, s)
}
