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
	Look       string // LookRule, LookBox or LookBare
	Prompt     string // before the text; "" is the look's own
	HardWrap   bool   // rows break at the width, not at blanks
	Mode       Mode
	Ghost      string   // shown in an empty box
	Picker     []string // entries of the open list, the first chosen
	Status     string   // the row above the box
	Hint       string   // footer instead of the usual one
	Unfocused  bool
	Command    string // what the dialog asks about
	Rewind     bool   // the dialog is the list of earlier turns
}

// Box is the live part of the screen: rows with SGR, and where the cursor is
// parked, counted from the first row.
type Box struct {
	Rows     []string
	Row, Col int
	Cursor   bool // the terminal's own cursor is visible
}

const (
	sgr0    = "\x1b[0m"
	reverse = "\x1b[7m"
	dim     = "\x1b[2m"
	bold    = "\x1b[1m"
	grey    = "\x1b[38;5;246m"
	rule    = "\x1b[38;5;244m"
	blue    = "\x1b[38;5;153m"
	pale    = "\x1b[38;5;248m"
	nbsp    = "\u00a0"
)

// Draw lays out the box: status row, list, box, footer; or the dialog.
func (v View) Draw(e *Editor) Box {
	if v.Mode == Dialog {
		return v.dialog()
	}
	f := v.frame()
	text, at := e.Shown()
	lines, row, col := wrap(text, at, f.width, v.HardWrap)
	from, to := v.window(len(lines), row)
	b := Box{Rows: []string{v.Status}, Cursor: f.cursor}
	b.Rows = append(b.Rows, v.list()...)
	b.Rows = append(b.Rows, f.above(from)...)
	b.Row, b.Col = len(b.Rows)+row-from, f.indent+col
	for i := from; i < to; i++ {
		cursor := -1
		if i == row && !v.Unfocused && !f.cursor {
			cursor = col
		}
		b.Rows = append(b.Rows, f.left+v.textRow(f, i, lines[i], cursor, e.Empty())+f.right)
	}
	b.Rows = append(b.Rows, f.below(len(lines)-to)...)
	b.Rows = append(b.Rows, v.footer(e))
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

// list is the picker's rows, as Claude shows them above the box.
func (v View) list() []string {
	var rows []string
	for i, entry := range v.Picker {
		if i == 0 {
			rows = append(rows, "  "+blue+"❯ "+entry+sgr0)
		} else {
			rows = append(rows, "    "+entry)
		}
	}
	return rows
}

func (v View) textRow(f frame, i int, line []rune, cursor int, empty bool) string {
	lead := strings.Repeat(" ", len([]rune(f.prompt)))
	if i == 0 {
		lead = f.lead
	}
	if empty && v.Ghost != "" {
		g := []rune(v.Ghost)
		fill := f.fill(len(g))
		if f.cursor {
			return lead + f.ghost + v.Ghost + sgr0 + fill
		}
		return lead + reverse + string(g[:1]) + sgr0 + f.ghost + string(g[1:]) + sgr0 + fill
	}
	if cursor < 0 {
		return lead + string(line) + f.fill(len(line))
	}
	under, after := " ", ""
	if cursor < len(line) {
		under, after = string(line[cursor]), string(line[cursor+1:])
	}
	return lead + string(line[:cursor]) + reverse + under + sgr0 + after + f.fill(max(len(line), cursor+1))
}

func (v View) footer(e *Editor) string {
	switch {
	case v.Hint != "":
		return "  " + grey + v.Hint + sgr0
	case v.Look == LookBare:
		return "  " + dim + "fake-model default · ~" + sgr0
	case v.Look == LookBox:
		return " " + pale + "~ no sandbox fake-model" + sgr0
	case !e.Empty():
		return "  " + grey + "⏸ fake mode" + sgr0
	case v.Mode == Busy:
		return "  " + grey + "⏸ fake mode · esc to interrupt" + sgr0
	}
	return "  " + grey + "⏸ fake mode · ? for shortcuts" + sgr0
}

// wrap breaks text into rows of at most width runes, at blanks where it can
// unless hard; a blank at a break is dropped. It finds the cursor's row and
// column on the way. One rune counts as one column: enough for a fake.
func wrap(text []rune, at, width int, hard bool) (lines [][]rune, row, col int) {
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
		cut := -1
		if !hard {
			cut = lastBlank(text, start, i)
		}
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

// more tells how many rows of text lie beyond the box; empty for none.
func more(hidden int, arrow rune) string {
	if hidden == 0 {
		return ""
	}
	return fmt.Sprintf("%c %d more", arrow, hidden)
}
