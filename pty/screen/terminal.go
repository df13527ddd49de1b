package screen

// terminal carries out actions on a grid.
//
// Invariants: 0 <= row < rows; 0 <= col <= cols, where col == cols means that the
// last column was written and the next character goes to the next row;
// 0 <= top <= bottom < rows.
type terminal struct {
	grid
	row, col    int
	top, bottom int // scroll region, both included
	modes       Modes

	// pen is what SGR asks for. style and blank are its interned forms, to be
	// had from current, which renews them when pen has changed.
	pen, interned pen
	style         cell // style bits of a cell that is written
	blank         cell // a cell that is erased

	charsets [2]byte // designated to G0 and G1: 'B' ASCII, '0' line drawing
	shift    int     // the one of them in use

	saved    cursor // by DECSC
	altSaved cursor // by 1049
	tabs     []bool // by column

	last   rune // the last character printed, for REP; 0 after anything else
	joiner bool // the last thing printed was a zero-width joiner

	title  string
	titles []string // pushed by XTWINOPS 22

	styles   interner[pen]
	clusters interner[cluster]
	recent   [256]uint16 // style ids by hash of their pen

	scrolledOff func(row string, wrapped bool)
}

// cursor is what DECSC saves.
type cursor struct {
	row, col int
	pen      pen
	charsets [2]byte
	shift    int
	origin   bool
}

const (
	maxStyles   = 1 << 14
	maxClusters = 1 << 11
	maxTitles   = 8 // titles kept by push
)

var ascii = [2]byte{'B', 'B'}

func newTerminal(rows, cols int) terminal {
	t := terminal{
		grid:     newGrid(rows, cols),
		styles:   newInterner[pen](maxStyles),
		clusters: newInterner[cluster](maxClusters),
		tabs:     make([]bool, cols),
	}
	t.reset()
	return t
}

// reset is RIS: everything but the title and the size as at the start.
func (t *terminal) reset() {
	t.leaveAlt(false)
	t.pen, t.modes = 0, Modes{}
	t.charsets, t.shift = ascii, 0
	t.saved, t.altSaved = cursor{charsets: ascii}, cursor{charsets: ascii}
	t.top, t.bottom = 0, t.rows-1
	t.row, t.col = 0, 0
	t.defaultTabs(0)
	t.current()
	t.wipe(0, t.rows-1, 0)
}

// softReset is DECSTR: modes and pen, but neither text nor cursor position.
func (t *terminal) softReset() {
	t.pen = 0
	t.charsets, t.shift = ascii, 0
	t.saved = cursor{charsets: ascii}
	t.top, t.bottom = 0, t.rows-1
	m := &t.modes
	m.Insert, m.Origin, m.NoWrap, m.CursorHidden, m.AppCursor, m.AppKeypad = false, false, false, false, false, false
}

func (t *terminal) defaultTabs(from int) {
	for c := from; c < len(t.tabs); c++ {
		t.tabs[c] = c%8 == 0 && c > 0
	}
}

// current returns the style bits for what is written now.
func (t *terminal) current() cell {
	if t.pen != t.interned {
		t.style = cell(t.intern(t.pen)) << styleShift
		t.blank = cell(t.intern(t.pen.erased())) << styleShift
		t.interned = t.pen
	}
	return t.style
}

// empty returns a cell that is erased now: blank, with the pen's background.
func (t *terminal) empty() cell {
	t.current()
	return t.blank
}

func (t *terminal) intern(p pen) uint32 {
	if p == 0 {
		return 0
	}
	slot := &t.recent[uint64(p)*0x9e3779b97f4a7c15>>56]
	if t.styles.items[*slot] == p {
		return uint32(*slot)
	}
	id, ok := t.styles.add(p, t.stylesInUse)
	if !ok {
		// Colours are lost before attributes are: dim tells a placeholder from a
		// draft. There are only 512 sets of attributes.
		id = t.styles.force(p.colorless())
	}
	*slot = uint16(id)
	return id
}

func (t *terminal) stylesInUse() []bool {
	inUse := make([]bool, len(t.styles.items))
	inUse[t.style.style()] = true // it may stand in no cell yet
	t.eachCell(func(c cell) { inUse[c.style()] = true })
	return inUse
}

func (t *terminal) clustersInUse() []bool {
	inUse := make([]bool, len(t.clusters.items))
	t.eachCell(func(c cell) {
		if g := c.glyph(); g&clusterBit != 0 {
			inUse[g&^clusterBit] = true
		}
	})
	return inUse
}

// eachCell calls f with every stored cell and every fill of both pages.
func (t *terminal) eachCell(f func(cell)) {
	for _, lines := range [][]line{t.lines, t.behind.lines} {
		for i := range lines {
			f(lines[i].fill)
			for _, c := range lines[i].cells[:lines[i].used] {
				f(c)
			}
		}
	}
}

func (t *terminal) save() cursor {
	return cursor{t.row, t.col, t.pen, t.charsets, t.shift, t.modes.Origin}
}

func (t *terminal) restore(c cursor) {
	t.row, t.col = min(c.row, t.rows-1), min(c.col, t.cols-1)
	t.pen, t.charsets, t.shift, t.modes.Origin = c.pen, c.charsets, c.shift, c.origin
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
	if len(t.spare.lines) == 0 {
		t.spare = newPage(t.rows, t.cols)
	}
	t.behind, t.page, t.spare = t.page, t.spare, page{}
	t.clearRows(0, t.rows-1, 0)
	t.touchRows(0, t.rows-1)
}

func (t *terminal) leaveAlt(keepCursor bool) {
	if !t.modes.AltScreen {
		return
	}
	t.modes.AltScreen = false
	t.page, t.behind, t.spare = t.behind, page{}, t.page
	if keepCursor {
		t.restore(t.altSaved)
	}
	t.touchRows(0, t.rows-1)
}

// resize cuts or pads both pages; nothing is reflowed. As in tmux a page that
// gets lower loses the rows below its cursor first, then rows from the top.
func (t *terminal) resize(rows, cols int) {
	if rows == t.rows && cols == t.cols {
		return
	}
	if t.modes.AltScreen {
		t.behind = t.behind.resized(rows, cols, t.altSaved.row)
	} else {
		t.scrollOff(0, max(0, t.row-rows+1))
	}
	t.page, t.spare = t.page.resized(rows, cols, t.row), page{}
	t.rows, t.cols = rows, cols
	t.rowGen = make([]uint64, rows)
	t.touchRows(0, rows-1)
	t.row, t.col = min(t.row, rows-1), min(t.col, cols-1)
	t.altSaved.row = min(t.altSaved.row, rows-1)
	t.top, t.bottom = 0, rows-1
	was := len(t.tabs)
	t.tabs = append(t.tabs[:min(was, cols)], make([]bool, max(0, cols-was))...)
	t.defaultTabs(min(was, cols))
}

// scrollOff tells the hook about rows [from, to) before they leave.
func (t *terminal) scrollOff(from, to int) {
	if t.scrolledOff == nil || t.modes.AltScreen {
		return
	}
	for r := from; r < to; r++ {
		t.scrolledOff(t.text(r, 0, t.cols, true), t.grid.row(r).wrapped)
	}
}

// scroll moves the scroll region up by n.
func (t *terminal) scroll(n int) {
	if t.top == 0 {
		t.scrollOff(0, min(n, t.bottom+1))
	}
	t.scrollUp(t.top, t.bottom, n, t.empty())
}

// lineFeed goes to the next row, scrolling at the bottom of the region.
func (t *terminal) lineFeed(wrapped bool) {
	t.grid.row(t.row).wrapped = wrapped
	if t.row == t.bottom {
		t.scroll(1)
	} else if t.row < t.rows-1 {
		t.row++
	}
}
