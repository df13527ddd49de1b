package sight

import (
	"strings"
	"unicode/utf8"

	"relay-pty/inject/profile"
	"relay-pty/pty/screen"
)

// ruled finds a composer between two rules, of which one may be out of view.
type ruled struct {
	composer
	profile.Ruled
}

func (c ruled) find(s *screen.Screen, dialogs []*profile.Pattern) place {
	rows, _ := s.Size()
	lower := -1
	for r := rows - 1; r >= 0; r-- {
		plain := c.isRule(s.Row(r))
		switch {
		case !plain && !c.labelled(s, r, lower) && !c.wrapped(s, r, lower):
			continue
		case lower < 0 && c.More.Match(s.Row(r)):
			return c.cut(s, r, rows)
		case lower < 0:
			if p := c.filling(s, r, rows); p.Visible || !plain {
				return p
			}
		case lower-r > 1:
			return c.between(s, r, lower)
		}
		lower = r
	}
	return c.tall(s, lower, rows, dialogs)
}

// between reads the rows between two rules. Without a prompt it is something else that stands
// there, or rows of the composer are out of view above, as its upper rule says.
func (c ruled) between(s *screen.Screen, upper, lower int) place {
	b, l := c.head(s.Row(upper + 1))
	if !b.Visible && c.More.Match(s.Row(upper)) {
		b, l = scrolled()
	}
	return c.read(s, b, upper, area{upper + 1, lower, l})
}

// cut reads a composer that leaves no room for its lower rule: some of its rows are out of
// view above, and the cursor stands in the others.
func (c ruled) cut(s *screen.Screen, upper, rows int) place {
	if cursor, _ := s.Cursor(); cursor <= upper {
		return place{}
	}
	b, l := scrolled()
	return c.read(s, b, upper, area{upper + 1, rows, l})
}

// filling reads a composer that begins in view and fills the screen to its end, which leaves no
// room for its lower rule. What more there is of it nobody can tell.
func (c ruled) filling(s *screen.Screen, upper, rows int) place {
	b, l := c.head(s.Row(upper + 1))
	cursor, _ := s.Cursor()
	filled := cursor == rows-1 || strings.TrimSpace(s.Row(rows-1)) != ""
	if !b.Visible || b.Foreign || cursor <= upper || !filled || !l.allHang(s, upper+2, rows) {
		return place{}
	}
	b.Top = false
	return c.read(s, b, upper, area{upper + 1, rows, l})
}

// footer is how many rows may stand below a composer whose beginning is out of view.
const footer = 4

// tall reads a composer that has grown beyond the top of the screen: all rows above its lower
// rule, the only one, are its own, and the cursor stands in the last of them.
func (c ruled) tall(s *screen.Screen, lower, rows int, dialogs []*profile.Pattern) place {
	cursor, _ := s.Cursor()
	end := rows // of what stands below; a composer that has shrunk leaves blank rows there
	for end > lower+1 && strings.TrimSpace(s.Row(end-1)) == "" {
		end--
	}
	if lower < 1 || cursor != lower-1 || end-lower > footer+1 || anyRow(s, lower, rows, dialogs) != "" {
		return place{}
	}
	further := 1
	b, l := c.head(s.Row(0))
	if !b.Visible {
		b, l = scrolled()
		further = 0
	}
	if !l.allHang(s, further, lower) {
		return place{}
	}
	return c.read(s, b, 0, area{0, lower, l})
}

// scrolled is a composer whose first row is out of view, and the indent of the others.
func scrolled() (Box, lead) { return Box{Visible: true}, lead{width: 2} }

// read takes the text of the composer. A further row between its rules is one that was typed.
func (c ruled) read(s *screen.Screen, b Box, top int, a area) place {
	if c.Tall > 0 && a.bottom-a.top >= c.Tall {
		b.Top = false
	}
	p := place{Box: b, top: top, below: a.bottom + 1, ruled: true}
	if b.Visible && !c.ghost(s, a) {
		p.Box = c.fill(b, a.lines(s), a.moved(s) || a.holds(s) && a.bottom-a.top > 1)
	}
	return p
}

// isRule reports whether a row is a rule of the composer, with its corners if it has some.
func (c ruled) isRule(row string) bool {
	if c.Corners {
		row = strings.TrimLeft(row, " ╭╰┌└")
	}
	return isRule(row)
}

// labelled reports whether a row is an upper rule of which a label, as a session's long name,
// leaves no more than its end: in the last column, in the colours of the rule below. What was said
// has no such end above a prompt, and what is typed hangs.
func (c ruled) labelled(s *screen.Screen, row, lower int) bool {
	rows, cols := s.Size()
	shows := func(col int) string { return strings.TrimSpace(s.Cell(row, col).Text) }
	end := cols - 1
	for end > 0 && shows(end) == "─" {
		end--
	}
	if row+1 == rows || end == cols-1 || shows(end) != "" || lower >= 0 && s.Cell(row, cols-1).Style != s.Cell(lower, cols-1).Style {
		return false
	}
	begun := shows(0) == "─"
	if b, _ := c.head(s.Row(row + 1)); b.Visible {
		return begun || shows(0) == "" && shows(1) != ""
	}
	return begun && c.More.Match(s.Row(row))
}

// wrapped reports whether a row is the end of an upper rule that a label has made longer than the
// screen is wide: it stands above a prompt, and the lower rule, which is as long, wraps, too.
func (c ruled) wrapped(s *screen.Screen, row, lower int) bool {
	rows, cols := s.Size()
	if lower < 0 || lower+1 >= rows || s.Row(lower) != strings.Repeat("─", cols) {
		return false
	}
	over, last := utf8.RuneCountInString(s.Row(lower+1)), cols-1
	for last > 0 && strings.TrimSpace(s.Cell(row, last).Text) == "" {
		last--
	}
	b, _ := c.head(s.Row(row + 1))
	return b.Visible && over > 0 && over < cols && s.Row(lower+1) == strings.Repeat("─", over) && last+1 >= over &&
		s.Cell(row, last).Text == "─" && s.Cell(row, last).Style == s.Cell(lower, 0).Style
}

// isRule reports whether a row is a line from the left on, for the most part.
func isRule(row string) bool {
	n := strings.Count(row, "─")
	return n >= 8 && strings.HasPrefix(row, "─") && n*2 > utf8.RuneCountInString(row)
}
