package profile

import (
	"strings"
	"unicode/utf8"

	"relay-pty/pty/screen"
)

// Sight is what a profile makes of a screen.
type Sight struct {
	Box     Box
	Dialog  string // the row that shows a dialog; "" is none
	Working bool   // busy marks
	Line    string // the row up to the cursor
	Before  string // the last rows up to the cursor, wrapped rows joined
	Alt     bool   // the alternate screen is on
	Paste   bool   // the agent asked for bracketed paste
}

// Box is the composer.
type Box struct {
	Visible bool
	Foreign bool   // it is in a mode in which a message would be a command
	Top     bool   // its first row is in view; a tall one scrolls inside
	Text    string // its rows, joined with newlines; "" when empty or a placeholder
}

// tail is how many rows up to the cursor Before holds.
const tail = 16

// Look reads the screen by the profile's data.
func (p *Profile) Look(s *screen.Screen) Sight {
	row, col := s.Cursor()
	m := s.Modes()
	v := Sight{Line: s.RowTo(row, col), Alt: m.AltScreen, Paste: m.BracketedPaste}
	v.Working = p.busy(s.Title())
	if p.Composer == nil {
		v.Before = before(s, row, v.Line)
		v.Dialog = firstMatch(p.Asks, v.Line)
		return v
	}
	rows, _ := s.Size()
	below := 0
	v.Box, below = p.Composer.find(s, rows)
	if v.Box.Visible {
		v.Working = v.Working || anyRow(s, below, rows, p.Busy) != ""
		v.Dialog = anyRow(s, below, rows, p.Overlays)
		return v
	}
	v.Dialog = anyRow(s, 0, rows, p.Dialogs)
	return v
}

// busy says whether the window title says so. That it says idle is no evidence:
// it does during dialogs, too.
func (p *Profile) busy(title string) bool {
	r, _ := utf8.DecodeRuneInString(title)
	return title != "" && strings.ContainsRune(p.BusyTitle, r)
}

// find looks for the composer from the bottom up and tells the first row below
// it.
func (c *Composer) find(s *screen.Screen, rows int) (Box, int) {
	bottom := -1
	for r := rows - 1; r >= 0; r-- {
		text := s.Row(r)
		if c.isRule(text) {
			if bottom >= 0 && bottom-r > 1 {
				return c.read(s, r+1, bottom)
			}
			bottom = r
		}
	}
	return Box{}, 0
}

// read reads the rows top … bottom-1 between two rules.
func (c *Composer) read(s *screen.Screen, top, bottom int) (Box, int) {
	first := pad(s.Row(top))
	b := Box{Visible: true, Top: strings.HasPrefix(first, c.Prompt)}
	for _, mode := range c.Modes {
		b.Foreign = b.Foreign || strings.HasPrefix(first, mode)
	}
	if !b.Top && !b.Foreign && !c.More().MatchString(s.Row(top-1)) {
		return Box{}, 0 // two rules with something else between them
	}
	if c.placeholder(s, top, bottom) {
		return b, bottom + 1
	}
	var lines []string
	for r := top; r < bottom; r++ {
		lines = append(lines, skip(s.Row(r), c.Indent))
	}
	b.Text = strings.TrimSpace(strings.Join(lines, "\n"))
	return b, bottom + 1
}

// pad restores the blank behind a prompt that trimming took.
func pad(row string) string { return row + "\u00a0" }

// placeholder says whether all that stands in the rows is dim, except for the
// first character, on which the cursor is drawn in reverse.
func (c *Composer) placeholder(s *screen.Screen, top, bottom int) bool {
	_, cols := s.Size()
	dim, first := false, true
	for r := top; r < bottom; r++ {
		for col := c.Indent; col < cols; col++ {
			cell := s.Cell(r, col)
			if strings.TrimSpace(cell.Text) == "" {
				continue
			}
			cursor := first && cell.Style.Reverse
			first = false
			if !cell.Style.Dim && !cursor {
				return false
			}
			dim = dim || cell.Style.Dim
		}
	}
	return dim
}

func (c *Composer) isRule(row string) bool {
	n := strings.Count(row, string(c.Rule))
	return n >= 8 && strings.HasPrefix(row, string(c.Rule)) && n*2 > utf8.RuneCountInString(row)
}

// before joins the rows up to the cursor's, wrapped ones without a newline.
func before(s *screen.Screen, row int, line string) string {
	var b strings.Builder
	for r := max(0, row-tail); r < row; r++ {
		b.WriteString(s.Row(r))
		if !s.Wrapped(r) {
			b.WriteByte('\n')
		}
	}
	b.WriteString(line)
	return b.String()
}

func firstMatch(patterns []pattern, row string) string {
	for _, p := range patterns {
		if p().MatchString(row) {
			return strings.TrimSpace(row)
		}
	}
	return ""
}

func anyRow(s *screen.Screen, from, to int, patterns []pattern) string {
	for r := from; r < to; r++ {
		if m := firstMatch(patterns, s.Row(r)); m != "" {
			return m
		}
	}
	return ""
}

// skip drops the first n columns of a row; they hold narrow characters.
func skip(row string, n int) string {
	for range n {
		_, w := utf8.DecodeRuneInString(row)
		row = row[w:]
	}
	return row
}
