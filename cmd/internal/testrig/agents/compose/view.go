package compose

import (
	"fmt"
	"strings"
)

// Mode is what the agent is doing.
type Mode int

// The modes.
const (
	Idle Mode = iota
	Busy
	Dialog
)

// View is what the composer shows beside the draft.
type View struct {
	Rows, Cols int
	Mode       Mode
	Ghost      string // shown dim in an empty box
	Status     string // the row above the box
	Hint       string // footer instead of the usual one
	Unfocused  bool
	Command    string // what the dialog asks about
}

// Box is the live part of the screen: rows with SGR, and where the hidden
// cursor is parked, counted from the first row.
type Box struct {
	Rows     []string
	Row, Col int
}

const (
	sgr0    = "\x1b[0m"
	reverse = "\x1b[7m"
	dim     = "\x1b[2m"
	grey    = "\x1b[38;5;246m"
	rule    = "\x1b[38;5;244m"
	blue    = "\x1b[38;5;153m"
	nbsp    = "\u00a0"
	indent  = 2
)

// Draw lays out the box: status row, rule, text, rule, footer; or the dialog.
func (v View) Draw(e *Editor) Box {
	if v.Mode == Dialog {
		return v.dialog()
	}
	text, at := e.Shown()
	lines, row, col := wrap(text, at, v.Cols-indent-1)
	from, to := v.window(len(lines), row)
	b := Box{Row: 2 + row - from, Col: indent + col}
	b.Rows = append(b.Rows, v.Status, v.rule(from, '↑'))
	for i := from; i < to; i++ {
		cursor := -1
		if i == row && !v.Unfocused {
			cursor = col
		}
		b.Rows = append(b.Rows, v.textRow(i, lines[i], cursor, e.Empty()))
	}
	b.Rows = append(b.Rows, v.rule(len(lines)-to, '↓'), v.footer(e))
	return b
}

// window chooses the rows of text to show: Claude shows half the screen less
// five, at least three, and keeps the cursor among them.
func (v View) window(n, cursor int) (from, to int) {
	most := max(3, v.Rows/2-5)
	if n <= most {
		return 0, n
	}
	from = min(max(0, cursor-most+1), n-most)
	return from, from + most
}

// rule is a full-width line; it says how many rows of text lie beyond it.
func (v View) rule(hidden int, arrow rune) string {
	if hidden == 0 {
		return rule + strings.Repeat("─", v.Cols) + sgr0
	}
	more := fmt.Sprintf("%c %d more", arrow, hidden)
	rest := max(v.Cols-5-len([]rune(more)), 0)
	return rule + "───" + sgr0 + " " + dim + more + sgr0 + " " + rule + strings.Repeat("─", rest) + sgr0
}

func (v View) textRow(i int, line []rune, cursor int, empty bool) string {
	lead := "  "
	if i == 0 {
		lead = "❯" + nbsp
		if v.Mode == Busy {
			lead = grey + lead + sgr0
		}
	}
	if empty && v.Ghost != "" {
		g := []rune(v.Ghost)
		return lead + reverse + string(g[:1]) + sgr0 + dim + string(g[1:]) + sgr0
	}
	if cursor < 0 {
		return lead + string(line)
	}
	under, after := " ", ""
	if cursor < len(line) {
		under, after = string(line[cursor]), string(line[cursor+1:])
	}
	return lead + string(line[:cursor]) + reverse + under + sgr0 + after
}

func (v View) footer(e *Editor) string {
	switch {
	case v.Hint != "":
		return "  " + grey + v.Hint + sgr0
	case !e.Empty():
		return "  " + grey + "⏸ fake mode" + sgr0
	case v.Mode == Busy:
		return "  " + grey + "⏸ fake mode · esc to interrupt" + sgr0
	}
	return "  " + grey + "⏸ fake mode · ? for shortcuts" + sgr0
}

func (v View) dialog() Box {
	b := Box{Row: 5, Col: 1}
	b.Rows = []string{
		blue + strings.Repeat("─", v.Cols) + sgr0,
		" " + blue + "Bash command" + sgr0,
		"",
		" " + v.Command,
		" Do you want to proceed?",
		" " + blue + "❯" + sgr0 + " 1. " + blue + "Yes" + sgr0,
		"   2. No",
		"",
		" " + grey + "Esc to cancel · Tab to amend" + sgr0,
	}
	return b
}

// wrap breaks text into rows of at most width runes, at blanks where it can; a
// blank at a break is dropped. It finds the cursor's row and column on the way.
// One rune counts as one column: enough for a fake.
func wrap(text []rune, at, width int) (lines [][]rune, row, col int) {
	width = max(width, 1)
	start := 0
	emit := func(end, next int) {
		if at >= start && at <= end {
			row, col = len(lines), at-start
		}
		lines = append(lines, text[start:end])
		start = next
	}
	for i := 0; i < len(text); i++ {
		if text[i] == '\n' {
			emit(i, i+1)
			continue
		}
		if i-start < width {
			continue
		}
		cut := lastBlank(text, start, i)
		if cut < 0 {
			emit(i, i)
		} else {
			emit(cut, cut+1)
		}
	}
	emit(len(text), len(text))
	return lines, row, col
}

// lastBlank is the last blank at which the row from start may break, or -1.
func lastBlank(text []rune, start, end int) int {
	for i := end; i > start; i-- {
		if text[i] == ' ' {
			return i
		}
	}
	return -1
}
