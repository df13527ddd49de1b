package sight

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"relay-pty/inject/profile"
	"relay-pty/pty/screen"
)

// composer reads a box of any kind by a profile's data.
type composer struct{ *profile.Composer }

// place is where a composer is and what it holds, or what stands there in its stead.
type place struct {
	Box
	top, below int    // its first row, and the first one below it
	ruled      bool   // rules tell it from a question's prompt
	asks       string // the row of a question in its place; "" is none
	maybe      string // the nearest row above it that may be the question of which it is an option
	typed      Box    // the composer, if its first row is an option of a dialog or text that was typed
}

// find looks for the composer from the bottom up. A row of its own may be one of dialogs, but not
// one of elsewhere.
func (c composer) find(s *screen.Screen, dialogs, elsewhere []*profile.Pattern) place {
	switch box := c.Box.(type) {
	case profile.Ruled:
		return ruled{c, box}.find(s, dialogs)
	case profile.Floored:
		return floored{c, box}.find(s)
	case profile.Bare:
		if box.Footed != nil {
			return footed{c, box.Footed}.find(s, dialogs)
		}
	}
	return bare{c}.find(s, dialogs, elsewhere)
}

// area is the rows top … bottom-1 of a composer, and what stands left of the text in them.
type area struct {
	top, bottom int
	lead
}

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

// blank reports whether a row around the composer counts as an empty one.
func (c composer) blank(row string) bool { return strings.TrimSpace(row) == "" || c.Edge.Match(row) }

// ghost reports whether what shows is an empty composer's, by its looks.
func (c composer) ghost(s *screen.Screen, a area) bool {
	return c.Placeholder == nil && a.dim(s) || c.tinted(s, a)
}

// tinted reports whether all that shows, but for the character under the cursor, which stands
// before the rest, has the colour that text of an empty composer has. The default is no such
// colour.
func (c composer) tinted(s *screen.Screen, a area) bool {
	row, col := s.Cursor()
	if c.Tint == nil || row != a.top || col != a.width {
		return false
	}
	tint := c.tint(s, a.bottom)
	if tint == 0 {
		return false
	}
	_, cols := s.Size()
	for r := a.top; r < a.bottom; r++ {
		for col := a.width; col < cols; col++ {
			cell := s.Cell(r, col)
			cursor := r == a.top && col == a.width
			if !cursor && strings.TrimSpace(cell.Text) != "" && cell.Style.Fg != tint {
				return false
			}
		}
	}
	return true
}

// tint is the colour of what Tint matches below a composer.
func (c composer) tint(s *screen.Screen, below int) screen.Color {
	rows, cols := s.Size()
	for r := below; r < rows; r++ {
		at := c.Tint.Index(s.Row(r))
		for col := 0; at >= 0 && col < cols; col++ {
			if len(s.RowTo(r, col+1)) > at {
				return s.Cell(r, col).Style.Fg
			}
		}
	}
	return 0
}

// fill puts the text of the lines into b; moved says that more was typed than shows.
func (c composer) fill(b Box, lines []string, moved bool) Box {
	b.Text = strings.TrimFunc(strings.Join(lines, "\n"), unseen)
	if c.Placeholder.Match(b.Text) {
		b.Text = ""
		return b
	}
	b.Blank = b.Text == "" && moved
	return b
}

// unseen reports whether nobody sees a character: a blank, or the zero-width one that some agents
// draw behind their cursor.
func unseen(r rune) bool { return unicode.IsSpace(r) || r == '\u200b' }

// lines are the area's rows.
func (a area) lines(s *screen.Screen) (lines []string) {
	for r := a.top; r < a.bottom; r++ {
		switch {
		case r > a.top && ranOver(s, r):
			lines = append(lines, a.textOver(s, r))
		case a.border == "":
			lines = append(lines, a.text(s.Row(r)))
		default:
			lines = append(lines, a.text(swept(s, r)))
		}
	}
	return lines
}

// holds reports whether the cursor stands in the area.
func (a area) holds(s *screen.Screen) bool {
	row, _ := s.Cursor()
	return row >= a.top && row < a.bottom
}

// moved reports whether it stands there, and not at the start of the text.
func (a area) moved(s *screen.Screen) bool {
	row, col := s.Cursor()
	return a.holds(s) && (row > a.top || col > a.width)
}

// dim reports whether all that stands in the rows is dim, except for the first
// character, on which the cursor is drawn in reverse.
func (a area) dim(s *screen.Screen) bool {
	_, cols := s.Size()
	dim, first := false, true
	for r := a.top; r < a.bottom; r++ {
		for col := a.width; col < cols; col++ {
			cell := s.Cell(r, col)
			t := strings.TrimSpace(cell.Text)
			if t == "" || a.border != "" && isBorder(t) {
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

// lead is what stands left of a composer's text.
type lead struct {
	width  int
	border string // that of a box, which may stand at the right, too; "" is none
}

func leadOf(prompt string) lead {
	l := lead{width: utf8.RuneCountInString(prompt)}
	if at := strings.IndexAny(prompt, borders); at >= 0 {
		_, size := utf8.DecodeRuneInString(prompt[at:])
		l.border = prompt[at : at+size]
	}
	return l
}

// allHang reports whether the rows from … to-1 hang.
func (l lead) allHang(s *screen.Screen, from, to int) bool {
	for ; from < to; from++ {
		if !l.hangs(s, from) {
			return false
		}
	}
	return true
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

// text is what stands in the row right of it; left of it stand narrow characters.
func (l lead) text(row string) string {
	for range l.width {
		_, size := utf8.DecodeRuneInString(row)
		row = row[size:]
	}
	return l.within(row)
}

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

// isMark reports whether a cell's text begins with a mark that combines with a letter before it.
func isMark(t string) bool {
	r, _ := utf8.DecodeRuneInString(t)
	return unicode.Is(unicode.M, r)
}

// borders are the characters that agents draw the sides of boxes with.
const borders = "│┃|"

func isBorder(t string) bool { return t != "" && strings.Contains(borders, t) }
