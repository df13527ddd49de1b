package screen

// cell is one position of the grid in eight bytes, so that a row is copied,
// cleared and filled as fast as memory allows:
//
//	bits 0-30   rune, 0 when nothing was written, or an index into the clusters
//	bit  31     the low bits are a cluster index
//	bits 32-47  index into the interned pens
//	bit  48     first half of a wide character
//	bit  49     second half; its glyph is 0
//
// The zero cell is a blank in the default style.
type cell uint64

const (
	clusterBit      = 1 << 31
	wideHead   cell = 1 << 48
	wideTail   cell = 1 << 49
	styleShift      = 32
)

func (c cell) glyph() uint32 { return uint32(c) }
func (c cell) style() uint16 { return uint16(c >> styleShift) }
func (c cell) blank() bool   { return c.glyph() == 0 || c.glyph() == ' ' }

// line is one row. Cells from used on are not stored: each stands for fill.
// That makes erasing to the end of a row, and so clearing the whole screen or
// scrolling in an empty row, independent of the width.
type line struct {
	cells   []cell
	used    int
	fill    cell
	wrapped bool // the text goes on in the next row
}

func (l *line) at(c int) cell {
	if c < l.used {
		return l.cells[c]
	}
	return l.fill
}

// reach stores the cells before n.
func (l *line) reach(n int) {
	for l.used < n {
		l.cells[l.used] = l.fill
		l.used++
	}
}

// open makes cells [from, to) ready to be overwritten: what lies before is
// stored, and a wide character that is cut in two loses its other half.
func (l *line) open(from, to int) []cell {
	if from > l.used {
		l.reach(from)
	}
	if from < l.used && l.cells[from]&wideTail != 0 {
		l.cells[from-1] = 0
	}
	if to < l.used {
		if l.cells[to]&wideTail != 0 {
			l.cells[to] = 0
		}
	} else {
		l.used = to
	}
	return l.cells[from:to]
}

// erase makes cells [from, to) blanks.
func (l *line) erase(from, to int, blank cell) {
	if from >= to {
		return
	}
	if to < len(l.cells) {
		l.reach(to)
		cells := l.open(from, to)
		for i := range cells {
			cells[i] = blank
		}
		return
	}
	l.wrapped = false
	if from > l.used && blank == l.fill {
		return
	}
	l.open(from, to)
	l.used, l.fill = from, blank
}

// insert shifts the cells from c on to the right by n; those pushed over the
// end are lost.
func (l *line) insert(c, n int, blank cell) {
	l.reach(len(l.cells))
	n = min(n, len(l.cells)-c)
	l.open(c, c)
	copy(l.cells[c+n:], l.cells[c:])
	if last := &l.cells[len(l.cells)-1]; *last&wideHead != 0 {
		*last = 0
	}
	for i := c; i < c+n; i++ {
		l.cells[i] = blank
	}
}

// remove takes n cells out at c; blanks come in from the right.
func (l *line) remove(c, n int, blank cell) {
	l.reach(len(l.cells))
	n = min(n, len(l.cells)-c)
	l.open(c, c+n)
	copy(l.cells[c:], l.cells[c+n:])
	for i := len(l.cells) - n; i < len(l.cells); i++ {
		l.cells[i] = blank
	}
}
