package screen

import (
	"relay-pty/pty/screen/grid"
	"relay-pty/pty/screen/width"
)

// terminal carries out actions on a grid.
//
// Invariants: 0 <= row < Rows; 0 <= col <= Cols, where col == Cols means that the
// last column was written and the next character goes to the next row; the region
// lies on the screen, has two rows or more where the screen has, and spans all
// columns unless fenced.
type terminal struct {
	grid.Grid
	row, col int
	region   grid.Area // what scrolls
	fenced   bool      // the region does not span all columns
	brim     bool      // the right margin, in column col-1, was just written: wrap next
	modes    Modes
	traces   Traces // but for what the fields beside it tell
	margins  bool   // mode 69: CSI s sets the left and right margins

	charsets [4]byte // designated to G0 … G3: 'B' ASCII, '0' line drawing
	shift    int     // the one of them in use
	single   int     // 2 or 3: that one is in use for the next character; else 0

	saved    cursor // by DECSC
	altSaved cursor // by 1049
	tabs     []bool // by column

	last   rune // the last character printed, for REP; 0 after anything else
	joiner bool // the last thing printed was a zero-width joiner
	widths width.Cache

	scratch [64]grid.Cell // of run, here because clearing one there costs more than it does

	heading
	headings []heading // pushed by XTWINOPS 22
	titled   uint64    // times that the title was set, or brought back
	notes    notes
}

// heading is a window title.
type heading struct {
	title string
	own   bool // the program set it, be it to nothing
}

// cursor is what DECSC saves.
type cursor struct {
	row, col int
	pen      grid.Pen
	guard    bool
	charsets [4]byte
	shift    int
	origin   bool
}

const maxTitles = 8 // titles kept by push

var ascii = [4]byte{'B', 'B', 'B', 'B'}

func newTerminal(rows, cols int) terminal {
	t := terminal{Grid: grid.New(rows, cols), tabs: make([]bool, cols)}
	t.reset()
	return t
}

// reset is RIS: everything but the title, the notes and the size as at the start.
func (t *terminal) reset() {
	t.leaveAlt(false)
	t.softReset()
	t.modes, t.traces, t.altSaved = Modes{}, Traces{}, t.saved
	t.row, t.col = 0, 0
	t.defaultTabs(0)
	t.Wipe(0, t.Rows-1, 0)
}

// softReset is DECSTR: modes and pen, but neither text nor cursor position.
func (t *terminal) softReset() {
	t.Pen, t.Guard = 0, false
	t.charsets, t.shift, t.single = ascii, 0, 0
	t.saved = cursor{charsets: ascii}
	t.margins = false
	t.wholeRegion()
	t.traces.soft()
	m := &t.modes
	m.Insert, m.Origin, m.NoWrap, m.CursorHidden, m.AppCursor, m.AppKeypad = false, false, false, false, false, false
}

// wholeRegion makes the whole screen scroll.
func (t *terminal) wholeRegion() {
	t.endWrap()
	t.region = grid.Area{Bottom: t.Rows - 1, Right: t.Cols - 1}
	t.fenced = false
}

func (t *terminal) defaultTabs(from int) {
	for c := from; c < len(t.tabs); c++ {
		t.tabs[c] = c%8 == 0 && c > 0
	}
}

func (t *terminal) save() cursor {
	return cursor{t.row, t.col, t.Pen, t.Guard, t.charsets, t.shift, t.modes.Origin}
}

func (t *terminal) restore(c cursor) {
	t.row, t.col = min(c.row, t.Rows-1), min(c.col, t.Cols-1)
	t.Pen, t.Guard, t.charsets, t.shift, t.modes.Origin = c.pen, c.guard, c.charsets, c.shift, c.origin
}

// enterAlt shows an empty alternate page. 1049 saves the cursor, 47 does not.
func (t *terminal) enterAlt(keepCursor bool) {
	if t.modes.AltScreen {
		return
	}
	if keepCursor {
		t.altSaved = t.save()
	}
	t.modes.AltScreen = true
	t.ShowAlternate()
}

func (t *terminal) leaveAlt(keepCursor bool) {
	if !t.modes.AltScreen {
		return
	}
	t.modes.AltScreen = false
	t.ShowNormal()
	if keepCursor {
		t.restore(t.altSaved)
	}
}

// resize cuts or pads both pages; nothing is reflowed.
func (t *terminal) resize(rows, cols int) {
	if rows == t.Rows && cols == t.Cols {
		return
	}
	t.Resize(rows, cols, t.row, t.altSaved.row)
	t.row, t.col = min(t.row, rows-1), min(t.col, cols-1)
	t.altSaved.row = min(t.altSaved.row, rows-1)
	t.brim = false
	t.wholeRegion()
	was := len(t.tabs)
	t.tabs = append(t.tabs[:min(was, cols)], make([]bool, max(0, cols-was))...)
	t.defaultTabs(min(was, cols))
}

// scroll moves the scroll region up by n.
func (t *terminal) scroll(n int) {
	t.ScrollUp(t.region, n, t.Blank())
}

// lineFeed goes to the next row, scrolling at the bottom of the region.
func (t *terminal) lineFeed(wrapped bool) {
	t.Row(t.row).Wrapped = wrapped
	if t.row != t.region.Bottom {
		t.row = min(t.row+1, t.Rows-1)
	} else if t.between() {
		t.scroll(1)
	}
}

// endWrap ends a pending wrap at the right margin: the cursor stands in it.
func (t *terminal) endWrap() {
	if t.brim {
		t.col, t.brim = t.region.Right, false
	}
}

// between reports whether the cursor stands between the left and right margins.
func (t *terminal) between() bool {
	return !t.fenced || t.col >= t.region.Left && t.col <= t.region.Right
}

// within reports whether the cursor stands in the region.
func (t *terminal) within() bool {
	return t.row >= t.region.Top && t.row <= t.region.Bottom && t.between()
}

// home returns the column that a carriage return goes to.
func (t *terminal) home() int {
	if t.col >= t.region.Left || t.modes.Origin {
		return t.region.Left
	}
	return 0
}

// edge returns the column that text wraps at: that after the right margin for a
// cursor at or before it, else the screen's.
func (t *terminal) edge() int {
	if t.fenced && (t.brim || t.col <= t.region.Right) {
		return t.region.Right + 1
	}
	return t.Cols
}
