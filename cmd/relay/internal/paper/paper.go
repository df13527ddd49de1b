// Package paper prints for people: tables, bodies, and the colours of words.
package paper

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"relay-pty/parser"
	"relay-pty/protocol"
	"relay-pty/pty/screen/width"
)

// Paper is where a command writes for people: a terminal, or something that takes lines of any
// length and no colours. Colours are no part of text, so that no text can bring one: [Paper.Printf]
// alone writes them, and what is written otherwise is [protocol.Shown].
type Paper struct {
	*protocol.Shown
	bare   io.Writer
	cols   int // 0: any
	colour bool
}

// New is the paper that a writer is.
func New(w io.Writer) Paper {
	if p, is := w.(Paper); is {
		return p
	}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return Of(w, 0, false)
	}
	cols, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		cols = 0
	}
	return Of(w, cols, os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb")
}

// Of is a terminal of so many columns (0: any), with colours or without.
func Of(w io.Writer, cols int, colour bool) Paper {
	return Paper{protocol.NewShown(w), w, cols, colour}
}

// Bare is what a paper writes to, for what draws on a terminal itself.
func Bare(w io.Writer) io.Writer {
	if p, is := w.(Paper); is {
		return p.bare
	}
	return w
}

// colours of words, as parameters of SGR.
var colours = map[string]string{
	"ready": "32", "delivered": "32", "replied": "32",
	"busy": "33", "queued": "33", "injecting": "33", "accepted": "33",
	"blocked": "31", "failed": "31", "unknown": "31", "expired": "31",
	"gone": "2", "cancelled": "2",
}

// Painted is text, perhaps with blanks around it, that [Paper.Printf] prints in a colour if it is a
// word that has one, with what stands behind it in parentheses.
type Painted string

// Printf prints the words of others by a format of ours.
func (p Paper) Printf(format string, args ...any) error {
	safe := make([]any, len(args))
	for i, a := range args {
		safe[i] = foreign{a}
		if text, is := a.(Painted); is {
			safe[i] = p.paint(string(text))
		}
	}
	_, err := fmt.Fprintf(p.bare, format, safe...)
	return err
}

func (p Paper) paint(text string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(text), " (")
	text = strings.ReplaceAll(protocol.Show(text), "\n", " ")
	if c := colours[word]; p.colour && c != "" {
		return "\x1b[" + c + "m" + text + "\x1b[m"
	}
	return text
}

// foreign is a value that may hold the words of others.
type foreign struct{ value any }

// Format implements [fmt.Formatter].
func (f foreign) Format(s fmt.State, verb rune) {
	io.WriteString(s, protocol.Show(fmt.Sprintf(fmt.FormatString(s, verb), f.value))) // a buffer of fmt's
}

// gap is what stands between two columns.
const gap = "  "

// Table prints rows of equally many cells, the first of them a header. Words are coloured in the
// columns that tell a state. The last column is cut where the terminal ends; if others reach its
// end, the row goes on below.
func (p Paper) Table(rows [][]string) error {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i := range row {
			row[i] = parser.OneLine(row[i])
			widths[i] = max(widths[i], columns(row[i]))
		}
	}
	for _, row := range rows {
		if err := p.row(rows[0], row, widths); err != nil {
			return err
		}
	}
	return nil
}

func (p Paper) row(head, row []string, widths []int) error {
	for len(row) > 0 && row[len(row)-1] == "" {
		row = row[:len(row)-1]
	}
	var line []any
	at := 0
	for i, cell := range row {
		takes := columns(cell)
		if i == len(head)-1 {
			takes = min(takes, minRoom)
		}
		if p.cols > 0 && at > 0 && at+takes > p.cols {
			line, at = append(line, "\n"+gap+gap), 2*len(gap)
		}
		if p.cols > 0 {
			cell = Cut(cell, max(p.cols-at, 1))
		}
		if i < len(row)-1 {
			cell += strings.Repeat(" ", widths[i]-columns(cell)) + gap
		}
		at += columns(cell)
		if head[i] == "STATE" || head[i] == "STATUS" {
			line = append(line, Painted(cell))
		} else {
			line = append(line, cell)
		}
	}
	return p.Printf(strings.Repeat("%s", len(line))+"\n", line...)
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
	return line
}

// Indent is a body with so many blanks before each line, also before what a terminal would break
// off. On a narrow terminal they are fewer.
func (p Paper) Indent(body string, blanks int) string {
	blanks = p.indent(blanks)
	return strings.Repeat(" ", blanks) + p.Behind(body, blanks)
}

// Behind is text whose first line begins at a column, where something stands before it. The others
// are indented as far.
func (p Paper) Behind(text string, at int) string {
	var b strings.Builder
	indent := p.indent(at)
	next := func() {
		b.WriteString("\n" + strings.Repeat(" ", indent))
		at = indent
	}
	for i, line := range strings.Split(Plain(text), "\n") {
		if i > 0 {
			next()
		}
		for _, r := range line {
			w := most(r)
			if p.cols > 0 && at+w > p.cols {
				next()
			}
			b.WriteRune(r)
			at += w
		}
	}
	return b.String()
}

// indent is how far lines are indented: half of the terminal at most.
func (p Paper) indent(blanks int) int {
	if p.cols > 0 {
		return min(blanks, p.cols/2)
	}
	return blanks
}

// most is how many columns a character takes on any terminal: they don't agree on vowels of Hangul
// that join none, and on symbols that are to be shown as emoji.
func most(r rune) int {
	if r == '\ufe0f' || r >= 0x1160 && r <= 0x11ff || r >= 0xd7b0 && r <= 0xd7fb {
		return 1
	}
	return width.Of(r)
}

// minRoom is how much of the last column of a table stands on a line at least.
const minRoom = 10

// Plain is text without what would act on a terminal, or show nothing.
func Plain(s string) string { return parser.Sanitize(s) }
