package sight

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"relay-pty/inject/profile"
	"relay-pty/pty/screen"
)

// find looks for the composer from the bottom up and tells its first row and
// the first one below it.
func (c composer) find(s *screen.Screen, rows int, dialogs []*profile.Pattern) (b Box, top, below int) {
	switch {
	case c.Floor != nil:
		return c.findFloored(s, rows)
	case c.Rule == 0:
		return c.findBare(s, rows, dialogs)
	}
	bottom := -1
	for r := rows - 1; r >= 0; r-- {
		if isRule(s.Row(r), c.Rule) {
			if bottom < 0 && c.More != nil && c.More.Match(s.Row(r)) {
				return c.readCut(s, r, rows)
			}
			if bottom >= 0 && bottom-r > 1 {
				return c.readRuled(s, r+1, bottom), r, bottom + 1
			}
			if bottom < 0 && r+1 < rows {
				if b, ok := c.readFilling(s, r, rows); ok {
					return b, r, rows
				}
			}
			bottom = r
		}
	}
	return c.readTall(s, rows, bottom, dialogs)
}

// readCut reads a composer that leaves no room for its lower rule: some of its rows are out of
// view above, as its upper rule says, and the cursor stands in the others.
func (c composer) readCut(s *screen.Screen, rule, rows int) (b Box, top, below int) {
	if cursor, _ := s.Cursor(); cursor <= rule {
		return Box{}, 0, 0
	}
	return c.read(s, Box{Visible: true}, rule+1, rows, lead{width: scrolledIndent}), rule, rows
}

// readFilling reads a composer that begins in view and fills the screen to its end, which leaves no
// room for its lower rule. What more there is of it nobody can tell.
func (c composer) readFilling(s *screen.Screen, rule, rows int) (b Box, ok bool) {
	b, l := c.head(s.Row(rule + 1))
	cursor, _ := s.Cursor()
	filled := cursor == rows-1 || strings.TrimSpace(s.Row(rows-1)) != ""
	if !b.Visible || b.Foreign || cursor <= rule || !filled {
		return Box{}, false
	}
	for row := rule + 2; row < rows; row++ {
		if !l.hangs(s, row) {
			return Box{}, false
		}
	}
	b.Top = false
	return c.read(s, b, rule+1, rows, l), true
}

// footer is how many rows may stand below a composer whose beginning is out of view.
const footer = 4

// readTall reads a composer that has grown beyond the top of the screen: all rows above its lower
// rule, the only one, are its own, and the cursor stands in the last of them.
func (c composer) readTall(s *screen.Screen, rows, bottom int, dialogs []*profile.Pattern) (b Box, top, below int) {
	cursor, _ := s.Cursor()
	end := rows // of what stands below; a composer that has shrunk leaves blank rows there
	for end > bottom+1 && strings.TrimSpace(s.Row(end-1)) == "" {
		end--
	}
	if bottom < 1 || cursor != bottom-1 || end-bottom > footer+1 || anyRow(s, bottom, rows, dialogs) != "" {
		return Box{}, 0, 0
	}
	further := 1
	b, l := c.head(s.Row(0))
	if !b.Visible {
		b, l, further = Box{Visible: true}, lead{width: scrolledIndent}, 0
	}
	for ; further < bottom; further++ {
		if !l.hangs(s, further) {
			return Box{}, 0, 0
		}
	}
	return c.read(s, b, 0, bottom, l), 0, bottom + 1
}

// readRuled reads the rows top … bottom-1 between two rules.
func (c composer) readRuled(s *screen.Screen, top, bottom int) Box {
	b, lead := c.head(s.Row(top))
	if !b.Visible {
		if c.More == nil || !c.More.Match(s.Row(top-1)) {
			return Box{} // two rules with something else between them
		}
		b.Visible = true
		lead.width = scrolledIndent
	}
	return c.read(s, b, top, bottom, lead)
}

// findFloored looks for the lowest row that closes a box and reads the box above
// it, if the cursor stands there: what was said before may be boxed, too.
func (c composer) findFloored(s *screen.Screen, rows int) (b Box, top, below int) {
	cursor, _ := s.Cursor()
	for floor := rows - 1; floor > 0; floor-- {
		if !c.Floor.Match(swept(s, floor)) {
			continue
		}
		top, b, lead := floor, Box{}, lead{}
		for top > 0 {
			above, l := c.boxed(s, top-1)
			if !above.Visible {
				break
			}
			top, b, lead = top-1, above, l
		}
		if cursor < top || cursor >= floor {
			return Box{}, 0, 0
		}
		if c.Shell != nil && c.Shell.Match(swept(s, floor-1)) {
			b.Foreign, b.Mode = true, "!"
		}
		return c.read(s, b, top, floor-c.Under, lead), top, floor + 1
	}
	return Box{}, 0, 0
}

// boxed reads the beginning of a box's row. That of a row which the one above has run over is that
// one's.
func (c composer) boxed(s *screen.Screen, row int) (b Box, l lead) {
	if b, l = c.head(swept(s, row)); !b.Visible && ranOver(s, row) {
		return c.boxed(s, row-1)
	}
	return b, l
}

// swept is a row without strays left of its border: what a row of the page above the composer has
// put there when it ran over, and what the agent takes for a blank that it need not paint anew.
func swept(s *screen.Screen, row int) string {
	line := s.Row(row)
	said := strings.TrimSpace(line)
	first, size := utf8.DecodeRuneInString(said)
	if size == 0 || isBorder(said[:size]) || !profile.Uncertain(first) {
		return line
	}
	_, cols := s.Size()
	for col := range cols {
		text := s.Cell(row, col).Text
		r, _ := utf8.DecodeRuneInString(text)
		switch {
		case strings.TrimSpace(text) == "":
		case isBorder(text) || r == corner:
			return strings.Repeat(" ", col) + line[len(s.RowTo(row, col)):]
		case !profile.Uncertain(r):
			return line
		}
	}
	return line
}

// corner is the lower end of a border.
const corner = '╹'

// question is the row that shows a question in the place of a floored composer: one of the first
// two of the lowest box on the screen. Boxes of what was said begin with other words.
func (c composer) question(s *screen.Screen, rows int) string {
	if c.Question == nil {
		return ""
	}
	boxed := func(r int) bool { b, _ := c.head(swept(s, r)); return b.Visible }
	for r := rows - 1; r >= 0 && !c.Floor.Match(swept(s, r)); r-- {
		if !boxed(r) {
			continue
		}
		for r > 0 && boxed(r-1) {
			r--
		}
		return anyRow(s, r, min(r+2, rows), []*profile.Pattern{c.Question})
	}
	return ""
}

// scrolledIndent is the indent of a composer whose first row is out of view.
const scrolledIndent = 2

// findBare looks for a composer that no rules enclose: the last row that
// begins with its prompt, and what belongs to it. The choices of a dialog may
// begin so, too, and what was said before, which is dim.
func (c composer) findBare(s *screen.Screen, rows int, dialogs []*profile.Pattern) (b Box, top, below int) {
	for top := rows - 1; top >= 0; top-- {
		if b, lead := c.head(s.Row(top)); b.Visible && !s.Cell(top, 0).Style.Dim {
			b.Optional = c.optional(s, top, dialogs)
			below := bareEnd(s, top, rows, lead)
			if cursor, _ := s.Cursor(); c.Footed {
				// A tall one leaves no room for anything below it; a list that looks like it shows
				// no cursor.
				if foot := c.footedEnd(s, top, rows); cursor < foot || cursor-top < rows/3 || s.Modes().CursorHidden {
					below = foot
				}
				if cursor < top || cursor >= below {
					return Box{}, 0, 0
				}
			}
			return c.read(s, b, top, below, lead), top, below
		}
	}
	return c.readHung(s, rows, dialogs)
}

// readHung reads a composer that has grown beyond the top of the screen: all rows down to its end
// hang as its text does, and the cursor stands in that.
func (c composer) readHung(s *screen.Screen, rows int, dialogs []*profile.Pattern) (b Box, top, below int) {
	cursor, col := s.Cursor()
	end, l := c.footedEnd(s, -1, rows), lead{width: c.Hang}
	if c.Hang == 0 || cursor == 0 || cursor >= end || col < c.Hang || anyRow(s, end, rows, dialogs) != "" {
		return Box{}, 0, 0
	}
	for row := range end {
		if !l.hangs(s, row) {
			return Box{}, 0, 0
		}
	}
	return c.read(s, Box{Visible: true}, 0, end, l), 0, end
}

// optional reports whether a row that begins with the prompt may be the option of a dialog. Where
// a composer counts only with the cursor in it, the row is one if a pattern describes it from its
// start and the cursor is hidden: what matches further inside is text that somebody typed.
func (c composer) optional(s *screen.Screen, row int, dialogs []*profile.Pattern) bool {
	text := s.Row(row)
	if !c.Footed {
		return firstMatch(dialogs, text) != ""
	}
	starts := func(p *profile.Pattern) bool { return p.Index(text) == 0 }
	return s.Modes().CursorHidden && slices.ContainsFunc(dialogs, starts)
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

func (c composer) blank(row string) bool {
	return strings.TrimSpace(row) == "" || c.Edge != nil && c.Edge.Match(row)
}

// lead is what stands left of a composer's text.
type lead struct {
	width  int
	border string // that of a box, which may stand at the right, too; "" is none
}

// hangs reports whether a row has nothing but blanks, or the border, there, or what a row above put
// there that ran over its end. Of the screen's first row only its text tells that.
func (l lead) hangs(s *screen.Screen, row int) bool {
	if ranOver(s, row) || row == 0 && spilled(s.Cell(0, 0)) {
		return true
	}
	for col := range l.width {
		t := strings.TrimSpace(s.Cell(row, col).Text)
		if t != "" && !(l.border != "" && isBorder(t)) && !isMark(t) {
			return false
		}
	}
	return true
}

// isMark reports whether a cell's text begins with a mark that combines with a letter before it.
func isMark(t string) bool {
	r, _ := utf8.DecodeRuneInString(t)
	return unicode.Is(unicode.M, r)
}

// text is what stands in the row right of it.
func (l lead) text(row string) string { return l.within(skip(row, l.width)) }

// textOver is the same of a row which the one above has run over, with what that has put there.
func (l lead) textOver(s *screen.Screen, r int) string {
	row, over := s.Row(r), s.RowTo(r, l.width)
	return l.within(l.cover(over) + row[min(len(over), len(row)):])
}

// within is the text without the border at its right. Another line than that is text: a row may
// wrap behind the "|" of a command.
func (l lead) within(text string) string {
	if l.border == "" {
		return text
	}
	return strings.TrimRight(strings.TrimSuffix(text, l.border), " ")
}

// cover is the text in what stands there. It may leave a part of a border.
func (l lead) cover(over string) string {
	text := strings.TrimRight(over, " ")
	switch {
	case l.border == "":
	case text == over:
		text += string(profile.Covered)
	default:
		text = l.within(text)
	}
	return text
}

// ranOver reports whether the row above has run over the beginning of this one: an agent that gives
// its characters fewer columns than the terminal does not see that it has.
func ranOver(s *screen.Screen, row int) bool {
	return s.Wrapped(row-1) && strings.TrimSpace(s.Cell(row, 0).Text) != ""
}

// spilled reports whether a row above that ran over may have put a cell's text there: it is on such
// characters' columns that programs differ. Agents mark what was said with narrow symbols.
func spilled(c screen.Cell) bool {
	r, _ := utf8.DecodeRuneInString(c.Text)
	return profile.Uncertain(r) && (unicode.In(r, unicode.L, unicode.M) || c.Width == 2)
}

// borders are the characters that agents draw the sides of boxes with.
const borders = "│┃|"

func isBorder(t string) bool { return t != "" && strings.Contains(borders, t) }

// head reads the composer's first row; Visible reports whether it is one. The
// blank behind a prompt is not in a row without text, hence the padding; a
// pattern with a common blank also means one that does not break.
func (c composer) head(row string) (Box, lead) {
	for _, row := range []string{row, row + "\u00a0", strings.ReplaceAll(row, "\u00a0", " ") + "  "} {
		if m := c.Prompt.Find(row); m != "" {
			return Box{Visible: true, Top: true}, leadOf(m)
		}
		for _, mode := range c.Modes {
			if m := mode.Find(row); m != "" {
				return Box{Visible: true, Foreign: true, Mode: strings.TrimSpace(m)}, leadOf(m)
			}
		}
	}
	return Box{}, lead{}
}

func leadOf(prompt string) lead {
	l := lead{width: utf8.RuneCountInString(prompt)}
	if at := strings.IndexAny(prompt, borders); at >= 0 {
		_, size := utf8.DecodeRuneInString(prompt[at:])
		l.border = prompt[at : at+size]
	}
	return l
}

// read takes the text of the rows top … bottom-1 into b. Where a tall composer
// scrolls, it marks its first row, or nobody can tell.
func (c composer) read(s *screen.Screen, b Box, top, bottom int, lead lead) Box {
	marked := c.Rule == 0 && c.More != nil && bottom > top && c.More.Match(s.Row(top)) && dimEnd(s, top)
	if c.Placeholder == nil && !marked && dim(s, top, bottom, lead) {
		return b
	}
	var lines []string
	for r := top; r < bottom || r == bottom && r > top && c.Under > 0; r++ {
		switch {
		case r > top && ranOver(s, r):
			lines = append(lines, lead.textOver(s, r))
		case r < bottom:
			lines = append(lines, lead.text(swept(s, r)))
		}
	}
	switch {
	case marked:
		b.Top, lines[0] = false, lines[0][:max(0, c.More.Index(lines[0]))]
	case c.Tall > 0 && len(lines) >= c.Tall, c.mayLoseMark(s, bottom, lines): // empty rows scroll as others do
		b.Top = false
	}
	b.Text = strings.TrimSpace(strings.Join(lines, "\n"))
	if c.Placeholder != nil && c.Placeholder.Match(b.Text) {
		b.Text = ""
		return b
	}
	b.Blank = b.Text == "" && c.blanks(s, top, bottom, lead)
	return b
}

// mayLoseMark reports whether rows of a composer may be scrolled out of it although its first row,
// the end of which should show that, does not. An agent that gives the characters in that row fewer
// columns than the terminal paints the mark beyond its end, and what it paints next covers that.
// Such a composer is all that stands in the lower part of the screen.
func (c composer) mayLoseMark(s *screen.Screen, bottom int, lines []string) bool {
	if c.Rule != 0 || c.More == nil || len(lines) < 2 || !strings.ContainsFunc(lines[0], profile.Uncertain) {
		return false
	}
	rows, _ := s.Size()
	for ; bottom < rows && c.blank(s.Row(bottom)); bottom++ {
	}
	return bottom == rows
}

// blanks reports whether a composer that shows no text holds blanks or newlines: its cursor has
// left the start of the text, or rules enclose a further row.
func (c composer) blanks(s *screen.Screen, top, bottom int, lead lead) bool {
	row, col := s.Cursor()
	if !c.Caret || row < top || row >= bottom {
		return false
	}
	return row > top || col > lead.width || c.Rule != 0 && bottom-top > 1
}

// dim reports whether all that stands in the rows is dim, except for the first
// character, on which the cursor is drawn in reverse.
func dim(s *screen.Screen, top, bottom int, lead lead) bool {
	_, cols := s.Size()
	dim, first := false, true
	for r := top; r < bottom; r++ {
		for col := lead.width; col < cols; col++ {
			cell := s.Cell(r, col)
			t := strings.TrimSpace(cell.Text)
			if t == "" || lead.border != "" && isBorder(t) {
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

// dimEnd reports whether the last character of the row is dim, as no text is that was typed.
func dimEnd(s *screen.Screen, row int) bool {
	_, cols := s.Size()
	for col := cols - 1; col >= 0; col-- {
		if cell := s.Cell(row, col); strings.TrimSpace(cell.Text) != "" {
			return cell.Style.Dim
		}
	}
	return false
}

func isRule(row string, rule rune) bool {
	n := strings.Count(row, string(rule))
	return n >= 8 && strings.HasPrefix(row, string(rule)) && n*2 > utf8.RuneCountInString(row)
}

// skip drops the first n columns of a row; they hold narrow characters.
func skip(row string, n int) string {
	for range n {
		_, w := utf8.DecodeRuneInString(row)
		row = row[w:]
	}
	return row
}
