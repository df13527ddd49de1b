package grid

// Cell is one position of the grid in eight bytes, so that a row is copied,
// cleared and filled as fast as memory allows:
//
//	bits 0-30   rune, 0 when nothing was written, or an index into the clusters
//	bit  31     the low bits are a cluster index
//	bits 32-47  index into the interned pens
//	bit  48     first half of a wide character
//	bit  49     second half; its glyph is 0
//	bit  50     selective erase leaves it
//
// The zero Cell is a blank in the default style.
type Cell uint64

const (
	clusterBit      = 1 << 31
	WideHead   Cell = 1 << 48
	WideTail   Cell = 1 << 49
	protected  Cell = 1 << 50
	styleShift      = 32
	glyphMask  Cell = 1<<styleShift - 1
)

// Glyph is what stands in the cell, without its style: the rune for all but clusters.
func (c Cell) Glyph() uint32 { return uint32(c) }

// Blank reports whether nothing, or a space, stands in the cell.
func (c Cell) Blank() bool { return c.Glyph() == 0 || c.Glyph() == ' ' }

func (c Cell) style() uint16 { return uint16(c >> styleShift) }

// Line is one row. Cells from used on are not stored: each stands for fill.
// That makes erasing to the end of a row, and so clearing the whole screen or
// scrolling in an empty row, independent of the width.
type Line struct {
	Wrapped bool // the text goes on in the next row

	cells []Cell
	used  int
	fill  Cell
}

// At returns the cell of column c.
func (l *Line) At(c int) Cell {
	if c < l.used {
		return l.cells[c]
	}
	return l.fill
}

// reach stores the cells before n.
func (l *Line) reach(n int) {
	for l.used < n {
		l.cells[l.used] = l.fill
		l.used++
	}
}

// Open makes cells [from, to) ready to be overwritten: what lies before is
// stored, and a wide character that is cut in two loses its other half.
func (l *Line) Open(from, to int) []Cell {
	if from > l.used {
		l.reach(from)
	}
	if from < l.used && l.cells[from]&WideTail != 0 {
		l.cells[from-1] = 0
	}
	if to < l.used {
		if l.cells[to]&WideTail != 0 {
			l.cells[to] = 0
		}
	} else {
		l.used = to
	}
	return l.cells[from:to]
}

// Erase makes cells [from, to) blanks.
func (l *Line) Erase(from, to int, blank Cell) {
	if from >= to {
		return
	}
	if to < len(l.cells) {
		l.reach(to)
		fill(l.Open(from, to), blank)
		return
	}
	l.Wrapped = false
	if from > l.used && blank == l.fill {
		return
	}
	l.Open(from, to)
	l.used, l.fill = from, blank
}

// EraseUnprotected makes blanks of those cells of [from, to) that are not protected.
func (l *Line) EraseUnprotected(from, to int, blank Cell) {
	for from < to {
		end := from
		for end < to && l.At(end)&protected == 0 {
			end++
		}
		l.Erase(from, end, blank)
		from = end + 1
	}
}

// Insert shifts the cells of [c, end) to the right by n; those pushed over the
// end are lost.
func (l *Line) Insert(c, end, n int, blank Cell) {
	l.reach(len(l.cells))
	n = min(n, end-c)
	l.Open(c, c)
	l.Open(end, end)
	copy(l.cells[c+n:end], l.cells[c:end])
	if last := &l.cells[end-1]; *last&WideHead != 0 {
		*last = 0
	}
	fill(l.cells[c:c+n], blank)
}

// Remove takes n cells out at c; blanks come in at end.
func (l *Line) Remove(c, end, n int, blank Cell) {
	l.reach(len(l.cells))
	n = min(n, end-c)
	l.Open(c, c+n)
	l.Open(end, end)
	copy(l.cells[c:end], l.cells[c+n:end])
	fill(l.cells[end-n:end], blank)
}

// take makes cells [from, to) those of another row of the same width.
func (l *Line) take(other *Line, from, to int) {
	other.reach(to)
	l.reach(to)
	copy(l.Open(from, to), other.cells[from:to])
	if l.cells[from]&WideTail != 0 {
		l.cells[from] = 0
	}
	if l.cells[to-1]&WideHead != 0 {
		l.cells[to-1] = 0
	}
}

func fill(cells []Cell, with Cell) {
	for i := range cells {
		cells[i] = with
	}
}
