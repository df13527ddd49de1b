package sight

import (
	"slices"
	"strings"

	"relay-pty/inject/profile"
	"relay-pty/pty/screen"
)

// footed finds a bare composer that an empty row parts from the rows at the bottom of the screen,
// its footer, if there is one. It counts with the cursor in it, or parked, alone.
type footed struct {
	composer
	*profile.Footed
}

func (c footed) find(s *screen.Screen, dialogs []*profile.Pattern) place {
	top, b, l := c.last(s)
	if top < 0 {
		return c.hung(s, dialogs)
	}
	rows, _ := s.Size()
	a := area{top, end(s, top, rows, l), l}
	// A tall one leaves no room for anything below it; a list that looks like it shows no cursor.
	foot, hidden := c.end(s, top, rows), s.Modes().CursorHidden
	cursor, _ := s.Cursor()
	switch floor := c.floor(s, top, rows); {
	case floor > 0:
		a.bottom = floor
	case c.open(s, top, rows):
		return place{}
	case cursor < foot || cursor-top < rows/3 || hidden:
		a.bottom = foot
	}
	if !a.holds(s) && !c.parked(s, a, dialogs) {
		return place{}
	}
	b = c.read(s, b, a)
	// The row is the option of a dialog if a pattern describes it from its start and the cursor is
	// hidden: what matches further inside is text that somebody typed.
	starts := func(p *profile.Pattern) bool { return p.Index(s.Row(top)) == 0 }
	if hidden && slices.ContainsFunc(dialogs, starts) {
		return option(s, b, top, rows, dialogs)
	}
	return place{Box: b, top: top, below: a.bottom}
}

// floor is the row after the text of a composer below which nothing stands, not even a footer.
// Where its text ends then, its frame alone tells: an edge, or a blank row in the colour that all
// its rows have. 0: something stands there, or it has no frame.
func (c footed) floor(s *screen.Screen, top, rows int) int {
	colour, end := s.Cell(top, 0).Style.Bg, top+1
	for end < rows && !c.Edge.Match(s.Row(end)) && s.Cell(end, 0).Style.Bg == colour {
		end++
	}
	empty := func(row int) bool { return strings.TrimSpace(s.Row(row)) == "" }
	edge := c.Edge.Match(s.Row(end)) && c.Edge.Match(s.Row(top-1))
	for r := end; r < rows; r++ {
		if !empty(r) && !(r == end && edge) {
			return 0
		}
	}
	switch {
	case edge:
		return end
	case colour != 0 && end-1 > top && empty(end-1):
		return end - 1
	}
	return 0
}

// open reports whether neither a frame nor anything below tells where such a composer ends: what
// comes behind an empty row of a message would look like a footer.
func (c footed) open(s *screen.Screen, top, rows int) bool {
	last := c.up(s, rows, top, true)
	return c.Hang > 0 && last < rows && c.up(s, last, top, false) == top+1
}

// hung reads a composer that has grown beyond the top of the screen: all rows down to its end
// hang as its text does, and the cursor stands in that.
func (c footed) hung(s *screen.Screen, dialogs []*profile.Pattern) place {
	rows, _ := s.Size()
	cursor, col := s.Cursor()
	a := area{0, c.end(s, -1, rows), lead{width: c.Hang}}
	if c.Hang == 0 || cursor == 0 || !a.holds(s) || col < c.Hang || anyRow(s, a.bottom, rows, dialogs) != "" || !a.allHang(s, 0, a.bottom) {
		return place{}
	}
	return place{Box: c.read(s, Box{Visible: true}, a), below: a.bottom}
}

// parked reports whether the cursor stands where the agent leaves it while its terminal has no
// focus: behind all that it shows, at the left of the next row if there is one. Nothing but a
// footer then parts that from the composer: of what was said before a dialog does, which hides the
// composer. Below may be what is left over from a footer before.
func (c footed) parked(s *screen.Screen, a area, dialogs []*profile.Pattern) bool {
	rows, _ := s.Size()
	end, col := s.Cursor()
	if end == rows-1 && col > 0 && len(s.RowTo(end, col)) >= len(s.Row(end)) {
		end, col = rows, 0
	}
	below, gap := end-a.bottom, c.blank(s.Row(end-1)) // of an agent without footer the edge alone stands there
	if !c.Park || !s.Modes().FocusEvents || col > 0 || below < 1 || below > footer || gap && below > 1 {
		return false
	}
	var shown []string
	for r := a.bottom; r < rows; r++ {
		switch row := c.modeless(s.Row(r)); {
		case r < end:
			shown = append(shown, row)
		case !c.blank(row) && !slices.Contains(shown, row):
			return false
		}
	}
	return anyRow(s, a.bottom, end, dialogs) == ""
}

// read takes the text of the composer. Where a tall one scrolls, it marks its first row, or nobody
// can tell.
func (c footed) read(s *screen.Screen, b Box, a area) Box {
	marked := c.More.Match(s.Row(a.top)) && dimEnd(s, a.top)
	if !marked && c.ghost(s, a) {
		return b
	}
	lines := a.lines(s)
	switch {
	case marked:
		b.Top, lines[0] = false, lines[0][:max(0, c.More.Index(lines[0]))]
	case c.Tall > 0 && len(lines) >= c.Tall, c.mayLoseMark(s, a.bottom, lines): // empty rows scroll as others do
		b.Top = false
	}
	return c.fill(b, lines, a.moved(s) || !a.holds(s))
}

// mayLoseMark reports whether rows of a composer may be scrolled out of it although its first row,
// the end of which should show that, does not. An agent that gives the characters in that row fewer
// columns than the terminal paints the mark beyond its end, and what it paints next covers that.
// Such a composer is all that stands in the lower part of the screen.
func (c footed) mayLoseMark(s *screen.Screen, bottom int, lines []string) bool {
	if c.More == nil || len(lines) < 2 || !strings.ContainsFunc(lines[0], profile.Uncertain) {
		return false
	}
	rows, _ := s.Size()
	return c.up(s, rows, bottom-1, true) == bottom
}

// end is the row after the composer at top. Empty rows up to the cursor are the composer's: its
// text ends with newlines.
func (c footed) end(s *screen.Screen, top, rows int) int {
	last := c.up(s, rows, top, true)
	foot := c.up(s, last, top, false)
	if foot == top+1 {
		if cursor, col := s.Cursor(); c.Hang > 0 && col >= c.Hang { // no footer, and behind a newline
			return max(last, cursor+1)
		}
		return last
	}
	end := c.up(s, foot, top, true)
	for {
		above := c.up(s, end, top, false)
		if !c.repeats(s, above, end, foot, last) {
			break
		}
		foot, last = above, end
		end = c.up(s, foot, top, true)
	}
	if cursor, _ := s.Cursor(); cursor >= end && cursor < foot && strings.TrimSpace(s.Row(cursor)) == "" {
		return cursor + 1
	}
	return end
}

// up is the first of the rows right above end that are blank, or of those that are not; the
// composer's first row, top, is none of them.
func (c footed) up(s *screen.Screen, end, top int, blank bool) int {
	for end > top+1 && c.blank(s.Row(end-1)) == blank {
		end--
	}
	return end
}

// repeats reports whether the rows foot … last-1 are left over from an earlier footer, and those
// above … end-1 are the one that counts. An agent may leave the last rows of what it had painted on
// the screen when a reply that filled it is cancelled.
func (c footed) repeats(s *screen.Screen, above, end, foot, last int) bool {
	twin := end - (last - foot)
	return twin >= above && twin < end && c.modeless(s.Row(twin)) == c.modeless(s.Row(foot))
}

// modeless is a row of a footer without the mode that it shows.
func (c footed) modeless(row string) string {
	if c.Modal == nil {
		return row
	}
	for _, mode := range []*profile.Pattern{c.Modal.Insert, c.Modal.Normal} {
		if mode != nil {
			row = strings.Replace(row, mode.Find(row), "", 1)
		}
	}
	return row
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
