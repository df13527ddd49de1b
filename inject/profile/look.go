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
	Menu    string // the same of an unknown program, see Profile.Menu
	Working bool   // busy marks
	Line    string // the row up to the cursor
	Before  string // the last rows up to the cursor, wrapped rows joined
	After   string // what stands right at the cursor
	Alt     bool   // the alternate screen is on
	Paste   bool   // the agent asked for bracketed paste
}

// Box is the composer.
type Box struct {
	Visible bool
	Foreign bool   // it is in a mode in which a message would be a command
	Mode    string // that mode's prompt
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
		v.After = after(s, row, col)
		v.Dialog = firstMatch(p.Asks, v.Line)
		v.Working = v.Working || p.near(s, row, p.Busy) != ""
		return v
	}
	rows, _ := s.Size()
	box, top, below := p.Composer.find(s, rows, p.Dialogs)
	v.Box = box
	if v.Box.Visible {
		v.Working = v.Working || anyRow(s, below, rows, p.Busy) != "" || p.busyAbove(s, top)
		v.Dialog = anyRow(s, below, rows, p.Overlays)
		if p.Composer.Rule == 0 && v.Dialog == "" {
			v.Dialog = anyRow(s, below, rows, p.Dialogs) // no rules tell a composer from a question's prompt
		}
		return v
	}
	v.Dialog = anyRow(s, 0, rows, p.Dialogs)
	return v
}

// Menu is the row near the cursor, or at the bottom, on which a program whose
// composer we do not know shows a question. It is one only if the program is in
// raw mode and shows no prompt: the output of others may look so, too.
func (p *Profile) Menu(s *screen.Screen) string {
	if p.Composer != nil {
		return ""
	}
	row, _ := s.Cursor()
	return p.near(s, row, p.Dialogs)
}

// nearby is how far from the cursor, or the bottom, what a program asks stands.
const nearby = 8

// near looks for a pattern in the rows near the cursor and at the bottom.
func (p *Profile) near(s *screen.Screen, row int, patterns []pattern) string {
	if len(patterns) == 0 {
		return ""
	}
	rows, _ := s.Size()
	if m := anyRow(s, max(0, row-nearby), min(rows, row+nearby+1), patterns); m != "" {
		return m
	}
	return anyRow(s, max(0, rows-nearby), rows, patterns)
}

// busyAbove looks for busy marks in the rows with text right above a composer.
// More of them would be the history, in which anything may stand.
func (p *Profile) busyAbove(s *screen.Screen, top int) bool {
	left := p.Composer.Above
	for r := top - 1; r >= 0 && left > 0; r-- {
		row := s.Row(r)
		if strings.TrimSpace(row) == "" || isRule(row, '─') {
			continue
		}
		left--
		if firstMatch(p.Busy, row) != "" {
			return true
		}
	}
	return false
}

// after is what stands at the cursor, up to a gap, unless it is dim. Text at
// the far right is a second prompt.
func after(s *screen.Screen, row, col int) string {
	_, cols := s.Size()
	var b strings.Builder
	for gap := 0; col < cols && gap < 2; col++ {
		cell := s.Cell(row, col)
		if strings.TrimSpace(cell.Text) == "" || cell.Style.Dim {
			gap++
			continue
		}
		gap = 0
		b.WriteString(cell.Text)
	}
	return b.String()
}

// busy says whether the window title says so. That it says idle is no evidence:
// it does during dialogs, too.
func (p *Profile) busy(title string) bool {
	r, _ := utf8.DecodeRuneInString(title)
	return title != "" && strings.ContainsRune(p.BusyTitle, r)
}

// find looks for the composer from the bottom up and tells its first row and
// the first one below it.
func (c *Composer) find(s *screen.Screen, rows int, dialogs []pattern) (b Box, top, below int) {
	if c.Rule == 0 {
		return c.findBare(s, rows, dialogs)
	}
	bottom := -1
	for r := rows - 1; r >= 0; r-- {
		if isRule(s.Row(r), c.Rule) {
			if bottom >= 0 && bottom-r > 1 {
				return c.readRuled(s, r+1, bottom), r, bottom + 1
			}
			bottom = r
		}
	}
	return Box{}, 0, 0
}

// readRuled reads the rows top … bottom-1 between two rules.
func (c *Composer) readRuled(s *screen.Screen, top, bottom int) Box {
	b, lead := c.head(s.Row(top))
	if !b.Visible {
		if c.More == nil || !c.More().MatchString(s.Row(top-1)) {
			return Box{} // two rules with something else between them
		}
		b.Visible = true
		lead.width = scrolledIndent
	}
	return c.read(s, b, top, bottom, lead)
}

// scrolledIndent is the indent of a composer whose first row is out of view.
const scrolledIndent = 2

// findBare looks for a composer that no rules enclose: the last row that
// begins with its prompt, and what belongs to it. The choices of a dialog may
// begin so, too.
func (c *Composer) findBare(s *screen.Screen, rows int, dialogs []pattern) (b Box, top, below int) {
	for top := rows - 1; top >= 0; top-- {
		if b, lead := c.head(s.Row(top)); b.Visible {
			if firstMatch(dialogs, s.Row(top)) != "" {
				return Box{}, 0, 0
			}
			below := bareEnd(s, top, rows, lead)
			return c.read(s, b, top, below, lead), top, below
		}
	}
	return Box{}, 0, 0
}

// bareEnd is the row after the last one that belongs to a composer at top. The
// cursor stands in its last row while we type; with the cursor elsewhere, its
// rows are those that hang beneath the first one up to the first empty one.
func bareEnd(s *screen.Screen, top, rows int, lead lead) int {
	cursor, _ := s.Cursor()
	end := top + 1
	for end < rows && (end <= cursor && lead.hangs(s, end) || s.Wrapped(end-1)) {
		end++
	}
	if cursor >= top && cursor < end {
		return end
	}
	for end = top + 1; end < rows && strings.TrimSpace(s.Row(end)) != "" && lead.hangs(s, end); {
		end++
	}
	return end
}

// lead is what stands left of a composer's text.
type lead struct {
	width int
	boxed bool // a border stands there, and another one at the right
}

// hangs says whether a row has nothing but blanks, or the border, there.
func (l lead) hangs(s *screen.Screen, row int) bool {
	for col := range l.width {
		t := strings.TrimSpace(s.Cell(row, col).Text)
		if t != "" && !(l.boxed && isBorder(t)) {
			return false
		}
	}
	return true
}

// text is what stands in the row right of it.
func (l lead) text(row string) string {
	row = skip(row, l.width)
	if !l.boxed {
		return row
	}
	if r, w := utf8.DecodeLastRuneInString(row); isBorder(string(r)) {
		row = row[:len(row)-w]
	}
	return strings.TrimRight(row, " ")
}

func isBorder(t string) bool { return t == "│" || t == "┃" || t == "|" }

// head reads the composer's first row; Visible says whether it is one. The
// blank behind a prompt is not in a row without text, hence the padding; a
// pattern with a common blank also means one that does not break.
func (c *Composer) head(row string) (Box, lead) {
	for _, row := range []string{row, row + "\u00a0", strings.ReplaceAll(row, "\u00a0", " ") + " "} {
		if m := c.Prompt().FindString(row); m != "" {
			return Box{Visible: true, Top: true}, leadOf(m)
		}
		for _, mode := range c.Modes {
			if m := mode().FindString(row); m != "" {
				return Box{Visible: true, Foreign: true, Mode: strings.TrimSpace(m)}, leadOf(m)
			}
		}
	}
	return Box{}, lead{}
}

func leadOf(prompt string) lead {
	return lead{width: utf8.RuneCountInString(prompt), boxed: strings.ContainsFunc(prompt, func(r rune) bool { return isBorder(string(r)) })}
}

// read takes the text of the rows top … bottom-1 into b.
func (c *Composer) read(s *screen.Screen, b Box, top, bottom int, lead lead) Box {
	if c.Placeholder == nil && dim(s, top, bottom, lead) {
		return b
	}
	var lines []string
	for r := top; r < bottom; r++ {
		lines = append(lines, lead.text(s.Row(r)))
	}
	b.Text = strings.TrimSpace(strings.Join(lines, "\n"))
	if c.Placeholder != nil && c.Placeholder().MatchString(b.Text) {
		b.Text = ""
	}
	return b
}

// dim says whether all that stands in the rows is dim, except for the first
// character, on which the cursor is drawn in reverse.
func dim(s *screen.Screen, top, bottom int, lead lead) bool {
	_, cols := s.Size()
	dim, first := false, true
	for r := top; r < bottom; r++ {
		for col := lead.width; col < cols; col++ {
			cell := s.Cell(r, col)
			t := strings.TrimSpace(cell.Text)
			if t == "" || lead.boxed && isBorder(t) {
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

func isRule(row string, rule rune) bool {
	n := strings.Count(row, string(rule))
	return n >= 8 && strings.HasPrefix(row, string(rule)) && n*2 > utf8.RuneCountInString(row)
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
	if strings.TrimSpace(row) == "" {
		return "" // also saves the patterns' compiling in programs that show none
	}
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
