package sight

import (
	"slices"
	"strings"

	"relay-pty/inject/profile"
	"relay-pty/pty/screen"
)

// bare finds a composer of which no more is known than its prompt: the last row that begins with
// that, and what belongs to it.
type bare struct{ composer }

func (c bare) find(s *screen.Screen, dialogs, elsewhere []*profile.Pattern) place {
	top, b, l := c.last(s)
	if top < 0 {
		return place{}
	}
	rows, _ := s.Size()
	below := end(s, top, rows, l)
	if a := (area{top, below, l}); !c.ghost(s, a) {
		b = c.fill(b, a.lines(s), false)
	}
	if firstMatch(dialogs, s.Row(top)) != "" {
		return option(s, b, top, rows, dialogs)
	}
	return place{Box: b, top: top, below: below, maybe: c.maybe(s, top, slices.Concat(dialogs, elsewhere))}
}

// last is the last row that begins with the prompt, -1 if there is none. The choices of a dialog
// may begin so, too, and what was said before, which is dim.
func (c composer) last(s *screen.Screen) (top int, b Box, l lead) {
	rows, _ := s.Size()
	for top = rows - 1; top >= 0; top-- {
		if b, l = c.head(s.Row(top)); b.Visible && !s.Cell(top, 0).Style.Dim {
			return top, b, l
		}
	}
	return -1, Box{}, lead{}
}

// end is the row after the last one that belongs to a composer at top. The
// cursor stands in its last row while we type; with the cursor elsewhere, its
// rows are those that hang beneath the first one up to the first empty one.
func end(s *screen.Screen, top, rows int, l lead) int {
	cursor, _ := s.Cursor()
	end := top + 1
	for end < rows && (end <= cursor && l.hangs(s, end) || s.Wrapped(end-1)) {
		end++
	}
	if cursor >= top && cursor < end {
		return end
	}
	for end = top + 1; end < rows && strings.TrimSpace(s.Row(end)) != "" && l.hangs(s, end); {
		end++
	}
	return end
}

// option is a composer in whose first row a dialog shows: it is one of its options, or, if no other
// row shows a dialog, perhaps text that was typed.
func option(s *screen.Screen, b Box, top, rows int, dialogs []*profile.Pattern) (p place) {
	if anyRow(s, 0, top, dialogs) == "" && anyRow(s, top+1, rows, dialogs) == "" {
		p.typed = b
	}
	return p
}

// maybe is the nearest row above the composer that may be the question of a dialog, of whose
// options the composer would be one. What was typed before ends the search, and so does
// distance: all sorts of things stand in the history.
func (c bare) maybe(s *screen.Screen, top int, dialogs []*profile.Pattern) string {
	for r := top - 1; r >= max(0, top-tail); r-- {
		if b, _ := c.head(s.Row(r)); b.Visible {
			return ""
		}
		if m := firstMatch(dialogs, s.Row(r)); m != "" {
			return m
		}
	}
	return ""
}
