package screen

import (
	"relay-pty/pty/screen/grid"
	"relay-pty/pty/screen/vt"
)

// CSI runs a control sequence. Those with a prefix or an intermediate are
// different commands, most of them queries, and are not taken for the plain ones.
func (t *terminal) CSI(s *vt.Sequence) {
	if s.Prefix == 0 && s.Inter == 0 && s.Final == 'm' {
		t.last = 0
		t.Pen = sgr(t.Pen, s)
		return
	}
	last := t.last
	t.forget()
	t.endWrap()
	switch {
	case s.Prefix == 0 && s.Inter == 0 && s.Final == 'b':
		t.repeat(last, s.Arg(0, 1))
	case s.Prefix == 0 && s.Inter == 0:
		if !t.move(s) {
			t.edit(s)
		}
	case s.Prefix == '?' && s.Inter == 0:
		t.private(s)
	case s.Prefix == 0:
		t.special(s)
	case s.Inter == 0:
		t.traces.keysAs(s)
	}
}

// private runs the sequences with a question mark that we know.
func (t *terminal) private(s *vt.Sequence) {
	switch s.Final {
	case 'h', 'l':
		for i := 0; i < s.Count(); i++ {
			t.setPrivate(s.Args[i], s.Final == 'h')
		}
	case 'J': // DECSED
		t.eraseDisplay(s.Args[0], true)
	case 'K': // DECSEL
		t.eraseLine(t.row, s.Args[0], true)
	}
}

// special runs the sequences with an intermediate that we know.
func (t *terminal) special(s *vt.Sequence) {
	switch string([]byte{s.Inter, s.Final}) {
	case "!p":
		t.softReset()
	case " q": // DECSCUSR
		t.traces.shape = s.Args[0] != 0
	case "\"q": // DECSCA
		t.Guard = s.Args[0] == 1
	case "$x": // DECFRA
		if c := s.Args[0]; c >= ' ' && c < 0x7f || c >= 0xa0 && c <= 0xff {
			t.fill(s, 1, t.Ink()|grid.Cell(c))
		}
	case "$z": // DECERA
		t.fill(s, 0, t.Blank())
	}
}

// fill fills the rectangle that four arguments from i on tell: top, left, bottom
// and right, counted from one, in origin mode from the region's corner.
func (t *terminal) fill(s *vt.Sequence, i int, c grid.Cell) {
	var from grid.Area
	if t.modes.Origin {
		from = t.region
	}
	a := grid.Area{
		Top: s.Arg(i, 1) - 1 + from.Top, Left: s.Arg(i+1, 1) - 1 + from.Left,
		Bottom: min(s.Arg(i+2, t.Rows)+from.Top, t.Rows) - 1, Right: min(s.Arg(i+3, t.Cols)+from.Left, t.Cols) - 1,
	}
	if a.Top <= a.Bottom && a.Left <= a.Right {
		t.Fill(a, c)
	}
}

// move runs a sequence that moves the cursor; it says false for any other.
func (t *terminal) move(s *vt.Sequence) bool {
	n := s.Arg(0, 1)
	switch s.Final {
	case 'A':
		t.up(n)
	case 'B', 'e':
		t.down(n)
	case 'C', 'a':
		t.col = min(t.col+n, t.edge()-1)
	case 'D':
		t.left(n)
	case 'E':
		t.down(n)
		t.col = t.home()
	case 'F':
		t.up(n)
		t.col = t.home()
	case 'G', '`':
		t.goToCol(n - 1)
	case 'H', 'f':
		t.goTo(n-1, s.Arg(1, 1)-1)
	case 'd':
		t.goToRow(n - 1)
	case 'I':
		t.tab(n)
	case 'Z':
		t.backTab(n)
	case 's':
		if t.margins {
			t.setMargins(n-1, s.Arg(1, t.Cols)-1)
		} else {
			t.saved = t.save()
		}
	case 'u':
		t.restore(t.saved)
	default:
		return false
	}
	return true
}

func (t *terminal) goTo(row, col int) {
	t.goToRow(row)
	t.goToCol(col)
}

// goToRow goes to a row of the screen, or in origin mode of the region.
func (t *terminal) goToRow(row int) {
	if t.modes.Origin {
		row = min(row+t.region.Top, t.region.Bottom)
	}
	t.row = min(row, t.Rows-1)
}

func (t *terminal) goToCol(col int) {
	if t.modes.Origin {
		col = min(col+t.region.Left, t.region.Right)
	}
	t.col = min(col, t.Cols-1)
}

// up stops at the region's top unless it starts above it.
func (t *terminal) up(n int) {
	stop := 0
	if t.row >= t.region.Top {
		stop = t.region.Top
	}
	t.row = max(stop, t.row-n)
	t.col = min(t.col, t.Cols-1)
}

func (t *terminal) down(n int) {
	stop := t.Rows - 1
	if t.row <= t.region.Bottom {
		stop = t.region.Bottom
	}
	t.row = min(stop, t.row+n)
	t.col = min(t.col, t.Cols-1)
}

// left stops at the left margin unless it starts before it.
func (t *terminal) left(n int) {
	stop := 0
	if t.col >= t.region.Left {
		stop = t.region.Left
	}
	t.col = max(stop, t.col-n)
}

// edit runs the sequences that are not about the cursor alone.
func (t *terminal) edit(s *vt.Sequence) {
	n := s.Arg(0, 1)
	switch s.Final {
	case 'J':
		t.eraseDisplay(s.Args[0], false)
	case 'K':
		t.eraseLine(t.row, s.Args[0], false)
	case 'X':
		t.Row(t.row).Erase(t.col, min(t.col+n, t.Cols), t.Blank())
	case '@':
		if t.between() {
			t.Row(t.row).Insert(t.col, t.edge(), n, t.Blank())
		}
	case 'P':
		if t.between() {
			t.Row(t.row).Remove(t.col, t.edge(), n, t.Blank())
		}
	case 'L':
		if t.within() {
			t.ScrollDown(t.below(), n, t.Blank())
		}
	case 'M':
		if t.within() {
			t.ScrollUp(t.below(), n, t.Blank())
		}
	case 'S':
		t.scroll(n)
	case 'T':
		if s.Count() == 1 {
			t.ScrollDown(t.region, n, t.Blank())
		}
	case 'g':
		t.clearTabs(s.Args[0])
	case 'h', 'l':
		t.setStandard(s)
	case 'r':
		t.setRegion(n-1, s.Arg(1, t.Rows)-1)
	case 't':
		t.titleStack(n, int(s.Args[min(1, s.Count()-1)]))
	}
}

// below is the region from the cursor's row on.
func (t *terminal) below() grid.Area {
	a := t.region
	a.Top = t.row
	return a
}

// eraseDisplay is ED, or where kind is set DECSED, which leaves protected cells.
func (t *terminal) eraseDisplay(what uint16, kind bool) {
	var from, to int // whole rows
	switch what {
	case 0:
		from, to = t.row+1, t.Rows
	case 1:
		from, to = 0, t.row
	case 2:
		from, to = 0, t.Rows
	default:
		return
	}
	if what < 2 {
		t.eraseLine(t.row, what, kind)
	}
	if !kind {
		if from < to {
			t.Wipe(from, to-1, t.Blank())
		}
		return
	}
	for r := from; r < to; r++ {
		t.eraseLine(r, 2, true)
	}
}

// eraseLine is EL, or where kind is set DECSEL, of row r.
func (t *terminal) eraseLine(r int, what uint16, kind bool) {
	from, to := 0, t.Cols
	switch what {
	case 0:
		from = t.col
	case 1:
		to = min(t.col+1, t.Cols)
	case 2:
	default:
		return
	}
	if kind {
		t.Row(r).EraseUnprotected(from, to, t.Blank())
	} else {
		t.Row(r).Erase(from, to, t.Blank())
	}
}

func (t *terminal) clearTabs(what uint16) {
	switch {
	case what == 0 && t.col < t.Cols:
		t.tabs[t.col] = false
	case what == 3:
		clear(t.tabs)
	}
}

// setRegion is DECSTBM; a region of less than two rows is refused.
func (t *terminal) setRegion(top, bottom int) {
	bottom = min(bottom, t.Rows-1)
	if top >= bottom {
		return
	}
	t.region.Top, t.region.Bottom = top, bottom
	t.goTo(0, 0)
}

// setMargins is DECSLRM; less than two columns are refused.
func (t *terminal) setMargins(left, right int) {
	right = min(right, t.Cols-1)
	if left >= right {
		return
	}
	t.region.Left, t.region.Right = left, right
	t.fenced = left > 0 || right < t.Cols-1
	t.goTo(0, 0)
}

// repeat is REP: the last character n more times, as many as the row has room for.
func (t *terminal) repeat(r rune, n int) {
	if r == 0 {
		return
	}
	for n = min(n, (t.edge()-t.col)/t.widths.Of(r)); n > 0; n-- {
		t.print(r)
	}
	t.last = 0
}
