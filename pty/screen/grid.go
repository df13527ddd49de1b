package screen

import "slices"

// page is the rows of one screen buffer. Rows are moved by permuting order, not
// by copying cells.
type page struct {
	lines []line
	order []int32 // order[r] is the index in lines of screen row r
}

// newPage makes a blank page whose cells are one block of memory.
func newPage(rows, cols int) page {
	p := page{lines: make([]line, rows), order: make([]int32, rows)}
	block := make([]cell, rows*cols)
	for i := range p.lines {
		p.lines[i].cells = block[i*cols : (i+1)*cols : (i+1)*cols]
		p.order[i] = int32(i)
	}
	return p
}

func (p *page) row(r int) *line { return &p.lines[p.order[r]] }

// resized returns a page of the new size that holds p's rows but those below row
// keep, which go first, and those at the top, which go when that is not enough.
func (p *page) resized(rows, cols, keep int) page {
	q, first := newPage(rows, cols), max(0, keep+1-rows)
	for r := 0; r < rows && first+r < len(p.order); r++ {
		from, to := p.row(first+r), &q.lines[r]
		to.used = copy(to.cells, from.cells[:from.used])
		to.fill = from.fill
		to.wrapped = from.wrapped && len(from.cells) == cols
		if to.used == cols && to.cells[cols-1]&wideHead != 0 {
			to.cells[cols-1] = 0
		}
	}
	return q
}

// grid is what can be seen, the page behind it, and how fresh each row is.
type grid struct {
	page
	rows, cols int
	behind     page // the normal page while the alternate one shows; else empty
	spare      page // the alternate page while it does not show; empty before its first use

	// A row's generation is the larger of its own and allGen; a scroll of the
	// whole screen renews every row by one store.
	gen    uint64
	allGen uint64
	rowGen []uint64
}

func newGrid(rows, cols int) grid {
	return grid{page: newPage(rows, cols), rows: rows, cols: cols, rowGen: make([]uint64, rows)}
}

// touch records a change of row r and returns the row.
func (g *grid) touch(r int) *line {
	g.gen++
	g.rowGen[r] = g.gen
	return g.row(r)
}

func (g *grid) touchRows(top, bottom int) {
	g.gen++
	if top == 0 && bottom == g.rows-1 {
		g.allGen = g.gen
		return
	}
	for r := top; r <= bottom; r++ {
		g.rowGen[r] = g.gen
	}
}

// scrollUp moves rows top to bottom, both included, up by n.
func (g *grid) scrollUp(top, bottom, n int, blank cell) {
	region := g.order[top : bottom+1]
	n = min(n, len(region))
	if n == 1 {
		first := region[0]
		copy(region, region[1:])
		region[len(region)-1] = first
	} else {
		rotate(region, n)
	}
	g.clearRows(bottom-n+1, bottom, blank)
	g.touchRows(top, bottom)
}

// scrollDown moves rows top to bottom, both included, down by n.
func (g *grid) scrollDown(top, bottom, n int, blank cell) {
	region := g.order[top : bottom+1]
	n = min(n, len(region))
	rotate(region, len(region)-n)
	g.clearRows(top, top+n-1, blank)
	g.touchRows(top, bottom)
}

// rotate moves the first n rows behind the others.
func rotate(order []int32, n int) {
	slices.Reverse(order[:n])
	slices.Reverse(order[n:])
	slices.Reverse(order)
}

// clearRows blanks rows top to bottom, both included.
func (g *grid) clearRows(top, bottom int, blank cell) {
	for r := top; r <= bottom; r++ {
		l := g.row(r)
		l.used, l.fill, l.wrapped = 0, blank, false
	}
}

func (g *grid) wipe(top, bottom int, blank cell) {
	g.clearRows(top, bottom, blank)
	g.touchRows(top, bottom)
}
