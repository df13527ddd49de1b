package sight

import (
	"strings"
	"unicode/utf8"

	"relay-pty/inject/profile"
	"relay-pty/pty/screen"
)

// floored finds a composer all of whose rows begin with its prompt, down to a floor.
type floored struct {
	composer
	profile.Floored
}

// find looks for the lowest floor and reads the box above it, if the cursor stands there: what was
// said before may be boxed, too. Under a lid a message would lose rows, so nothing counts there.
func (c floored) find(s *screen.Screen) place {
	rows, _ := s.Size()
	if rows < c.Room && c.Lid.Match(s.Row(rows-2)) {
		return place{}
	}
	for floor := rows - 1; floor > 0; floor-- {
		if !c.Floor.Match(swept(s, floor)) {
			continue
		}
		b, a := Box{}, area{top: floor, bottom: floor}
		for a.top > 0 {
			above, l := c.boxed(s, a.top-1)
			if !above.Visible {
				break
			}
			b, a.top, a.lead = above, a.top-1, l
		}
		if !a.holds(s) {
			break
		}
		if c.Shell.Match(swept(s, floor-1)) {
			b.Foreign, b.Mode = true, "!"
		}
		a.bottom -= c.Under
		return place{Box: c.read(s, b, a), top: a.top, below: floor + 1}
	}
	return place{asks: c.question(s, rows)}
}

// read takes the text of the box. Its last row may have run over the one below.
func (c floored) read(s *screen.Screen, b Box, a area) Box {
	if c.ghost(s, a) {
		return b
	}
	lines := a.lines(s)
	if c.Under > 0 && a.bottom > a.top && ranOver(s, a.bottom) {
		lines = append(lines, a.textOver(s, a.bottom))
	}
	if c.Tall > 0 && len(lines) >= c.Tall { // empty rows scroll as others do
		b.Top = false
	}
	return c.fill(b, lines, false)
}

// boxed reads the beginning of a box's row. That of a row which the one above has run over is that
// one's.
func (c floored) boxed(s *screen.Screen, row int) (b Box, l lead) {
	if b, l = c.edge(s, row); !b.Visible && ranOver(s, row) {
		return c.boxed(s, row-1)
	}
	return b, l
}

// edge reads the beginning of a row, strays left of its border aside.
func (c floored) edge(s *screen.Screen, row int) (b Box, l lead) {
	if b, l = c.head(s.Row(row)); !b.Visible {
		b, l = c.head(swept(s, row))
	}
	return b, l
}

// question is the row that shows a question in the place of the composer: one of the first two of
// the lowest box on the screen, or its first one with text if one of the last three tells keys.
// Boxes of what was said begin and end with other words.
func (c floored) question(s *screen.Screen, rows int) string {
	if c.Question == nil {
		return ""
	}
	boxed := func(r int) bool { b, _ := c.edge(s, r); return b.Visible }
	for r := rows - 1; r >= 0 && !c.Floor.Match(swept(s, r)); r-- {
		if !boxed(r) {
			continue
		}
		below := r + 1
		for r > 0 && boxed(r-1) {
			r--
		}
		if m := anyRow(s, r, min(r+2, rows), []*profile.Pattern{c.Question}); m != "" || anyRow(s, max(r, below-3), below, []*profile.Pattern{c.Keys}) == "" {
			return m
		}
		return anyRow(s, r, below, []*profile.Pattern{text})
	}
	return ""
}

// text matches a row of a box that has some.
var text = profile.NewPattern(`[\pL\pN]`)

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
