package grid

import "slices"

// page is the rows of one screen buffer. Rows are moved by permuting order, not
// by copying cells.
type page struct {
	lines []Line
	order []int32 // order[r] is the index in lines of screen row r
}

// newPage makes a blank page whose cells are one block of memory.
func newPage(rows, cols int) page {
	p := page{lines: make([]Line, rows), order: make([]int32, rows)}
	block := make([]Cell, rows*cols)
	for i := range p.lines {
		p.lines[i].cells = block[i*cols : (i+1)*cols : (i+1)*cols]
		p.order[i] = int32(i)
	}
	return p
}

// Row returns row r from zero.
func (p *page) Row(r int) *Line { return &p.lines[p.order[r]] }

// resized returns a page of the new size that holds p's rows but those below row
// keep, which go first, and those at the top, which go when that is not enough.
func (p *page) resized(rows, cols, keep int) page {
	q, first := newPage(rows, cols), max(0, keep+1-rows)
	for r := 0; r < rows && first+r < len(p.order); r++ {
		from, to := p.Row(first+r), &q.lines[r]
		to.used = copy(to.cells, from.cells[:from.used])
		to.fill = from.fill
		to.Wrapped = from.Wrapped && len(from.cells) == cols
		if to.used == cols && to.cells[cols-1]&WideHead != 0 {
			to.cells[cols-1] = 0
		}
	}
	return q
}

// rotate moves the first n rows behind the others.
func rotate(order []int32, n int) {
	if n == 1 {
		first := order[0]
		copy(order, order[1:])
		order[len(order)-1] = first
		return
	}
	slices.Reverse(order[:n])
	slices.Reverse(order[n:])
	slices.Reverse(order)
}

// Wipe makes rows top to bottom, both included, full of c.
func (p *page) Wipe(top, bottom int, c Cell) {
	for r := top; r <= bottom; r++ {
		l := p.Row(r)
		l.used, l.fill, l.Wrapped = 0, c, false
	}
}
