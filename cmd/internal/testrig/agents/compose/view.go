package compose

import (
	"fmt"
	"strings"
)

// Bare is the look of a box as Codex has it: a bold prompt, the terminal's own cursor, no rules.
// The other look, "", is Claude Code's: a rule above and below, a cursor drawn in reverse.
const Bare = "bare"

// View is what the composer shows beside the draft.
type View struct {
	Rows, Cols int
	Look       string
	HardWrap   bool // rows break at the width, not at blanks
	Busy       bool
	Dialog     string   // the command that a dialog asks about; "": none is open
	Ghost      string   // shown in an empty box
	Picker     []string // entries of the open list, the first chosen
	Status     string   // the row above the box
	Hint       string   // footer instead of the usual one
}

// Box is the live part of the screen: rows with SGR, and where the cursor is
// parked, counted from the first row.
type Box struct {
	Rows     []string
	Row, Col int
}

const (
	sgr0    = "\x1b[0m"
	reverse = "\x1b[7m"
	dim     = "\x1b[2m"
	bold    = "\x1b[1m"
	grey    = "\x1b[38;5;246m"
	rule    = "\x1b[38;5;244m"
	blue    = "\x1b[38;5;153m"
)

func (v View) prompt() string {
	if v.Look == Bare {
		return "› "
	}
	return "❯\u00a0"
}

// Said is how a submitted message stands in the history, where no-break spaces are none.
func (v View) Said(message string) string {
	lead := strings.ReplaceAll(v.prompt(), "\u00a0", " ")
	return lead + strings.ReplaceAll(message, "\n", "\n"+strings.Repeat(" ", len([]rune(lead))))
}

// Draw lays out the box: status row, list, box, footer; or the dialog.
func (v View) Draw(e *Editor) Box {
	if v.Dialog != "" {
		return v.dialog()
	}
	text, at := e.Shown()
	indent := len([]rune(v.prompt()))
	lines, row, col := wrap(text, at, v.Cols-indent-1, v.HardWrap) // the cursor stands behind a full row
	from, to := v.window(len(lines), row)
	b := Box{Rows: []string{v.Status}}
	for i, entry := range v.Picker {
		b.Rows = append(b.Rows, v.offer(i, entry))
	}
	if v.Look != Bare {
		b.Rows = append(b.Rows, v.ruler(from, "↑"))
	}
	b.Row, b.Col = len(b.Rows)+row-from, indent+col
	for i := from; i < to; i++ {
		lead := strings.Repeat(" ", indent)
		if i == 0 {
			lead = v.prompt()
			if v.Look == Bare {
				lead = bold + lead + sgr0
			}
		}
		b.Rows = append(b.Rows, lead+v.textRow(lines[i], i == row, col, e.Empty()))
	}
	if v.Look != Bare {
		return Box{append(b.Rows, v.ruler(len(lines)-to, "↓"), v.footer(e)), b.Row, b.Col}
	}
	return Box{append(b.Rows, "", "  "+dim+"fake-model default · ~"+sgr0), b.Row, b.Col}
}

// offer is a row of the list.
func (v View) offer(i int, entry string) string {
	if i == 0 {
		return "  " + blue + "❯ " + entry + sgr0
	}
	return "    " + entry
}

// ruler is a full-width line that tells of the rows of text beyond it.
func (v View) ruler(hidden int, arrow string) string {
	if hidden == 0 {
		return rule + strings.Repeat("─", v.Cols) + sgr0
	}
	more := fmt.Sprintf("%s %d more", arrow, hidden)
	rest := strings.Repeat("─", max(v.Cols-5-len([]rune(more)), 0))
	return rule + "───" + sgr0 + " " + dim + more + sgr0 + " " + rule + rest + sgr0
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

func (v View) textRow(line []rune, here bool, col int, empty bool) string {
	if empty && v.Ghost != "" {
		if v.Look == Bare {
			return dim + v.Ghost + sgr0
		}
		g := []rune(v.Ghost)
		return reverse + string(g[:1]) + sgr0 + dim + string(g[1:]) + sgr0
	}
	if !here || v.Look == Bare {
		return string(line)
	}
	under, after := " ", ""
	if col < len(line) {
		under, after = string(line[col]), string(line[col+1:])
	}
	return string(line[:col]) + reverse + under + sgr0 + after
}

func (v View) footer(e *Editor) string {
	text := "⏸ fake mode"
	switch {
	case v.Hint != "":
		text = v.Hint
	case !e.Empty():
	case v.Busy:
		text += " · esc to interrupt"
	default:
		text += " · ? for shortcuts"
	}
	return "  " + grey + text + sgr0
}

// dialog asks for a permission as Claude Code does.
func (v View) dialog() Box {
	return Box{Row: 5, Col: 1, Rows: []string{
		blue + strings.Repeat("─", v.Cols) + sgr0,
		" " + blue + "Bash command" + sgr0,
		"",
		" " + v.Dialog,
		" Do you want to proceed?",
		" " + blue + "❯" + sgr0 + " 1. " + blue + "Yes" + sgr0,
		"   2. No",
		"",
		" " + grey + "Esc to cancel · Tab to amend" + sgr0,
	}}
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
		cut := i
		for !hard && cut > start && text[cut] != ' ' {
			cut--
		}
		if hard || cut == start {
			emit(i, i)
		} else {
			emit(cut, cut+1)
		}
	}
	emit(len(text), len(text))
	return lines, row, col
}
