package sight

import (
	"strings"

	"relay-pty/inject/profile"
	"relay-pty/pty/screen"
)

// footedEnd is the row after a composer at top that an empty row parts from the rows at the bottom
// of the screen, its footer, if there is one. Empty rows up to the cursor are the composer's: its
// text ends with newlines.
func (c composer) footedEnd(s *screen.Screen, top, rows int) int {
	last := c.up(s, rows, top, true)
	foot := c.up(s, last, top, false)
	if foot == top+1 {
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
func (c composer) up(s *screen.Screen, end, top int, blank bool) int {
	for end > top+1 && c.blank(s.Row(end-1)) == blank {
		end--
	}
	return end
}

// repeats reports whether the rows foot … last-1 are left over from an earlier footer, and those
// above … end-1 are the one that counts. Gemini CLI 0.61.0 leaves the last rows of what it had
// painted on the screen when a reply that filled it is cancelled.
func (c composer) repeats(s *screen.Screen, above, end, foot, last int) bool {
	twin := end - (last - foot)
	return twin >= above && twin < end && c.modeless(s.Row(twin)) == c.modeless(s.Row(foot))
}

// modeless is a row of a footer without the mode that it shows.
func (c composer) modeless(row string) string {
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

// modes reads in which of its modes a composer is: the first row below it that shows one tells,
// since further below may stand what is left over from a footer before. In a mode in which Enter
// does not submit no message can be typed.
func (p reader) modes(s *screen.Screen, below int, v *Sight) {
	m := p.Composer.Modal
	if m == nil {
		return
	}
	rows, _ := s.Size()
	shows := func(mode *profile.Pattern, row int) bool { return mode != nil && mode.Match(s.Row(row)) }
	row := below
	for row < rows && !shows(m.Insert, row) && !shows(m.Normal, row) && !shows(m.Select, row) {
		row++
	}
	v.Inserts = row < rows && shows(m.Insert, row)
	v.Commands = !v.Inserts && (m.Normal == nil || row < rows && shows(m.Normal, row))
	v.Box.Foreign = v.Box.Foreign || row < rows && shows(m.Select, row)
}
