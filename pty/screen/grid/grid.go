// Package grid is the paper of a terminal: rows of cells on two pages, what
// stands in them, and how fresh each row is. It knows nothing of sequences, of
// the cursor, or of modes.
package grid

// Grid is what can be seen, and the page behind it. The zero Grid is not ready.
//
// Cells name styles and clusters by number. Only Ink, Blank and Combine make new
// numbers, and only Ink and Blank may take some back that no cell uses: a Cell
// that is kept outside of the grid does not outlive the next call of either.
type Grid struct {
	page // what shows

	Rows, Cols int
	// Pen is what Ink and Blank draw with.
	Pen Pen
	// Guard makes Ink protect what is written from EraseUnprotected.
	Guard bool

	behind page // the normal page while the alternate one shows; else empty
	spare  page // the alternate page while it does not show; empty before its first use

	// A row's generation is the larger of its own and all; a scroll of the
	// whole screen renews every row by one store.
	gen, all uint64
	rowGen   []uint64

	drawn   Pen  // Pen and Guard when ink was made
	guarded bool //
	ink     Cell

	styles   interner[Pen]
	clusters interner[cluster]
	recent   [256]uint16 // style ids by hash of their pen
	joints   [256]joint  // cluster ids by hash of what they were made of
}

const (
	maxStyles   = 1 << 14
	maxClusters = 1 << 11
)

// New returns a blank grid; both sizes are at least 1.
func New(rows, cols int) Grid {
	return Grid{
		page: newPage(rows, cols), Rows: rows, Cols: cols, rowGen: make([]uint64, rows),
		styles: newInterner[Pen](maxStyles), clusters: newInterner[cluster](maxClusters),
	}
}

// Changed records a change that is not in the cells.
func (g *Grid) Changed() { g.gen++ }

// Generation grows with every change.
func (g *Grid) Generation() uint64 { return g.gen }

// RowGeneration is the generation at which row r last changed.
func (g *Grid) RowGeneration(r int) uint64 { return max(g.rowGen[r], g.all) }

// Touch records a change of row r and returns the row.
func (g *Grid) Touch(r int) *Line {
	g.gen++
	g.rowGen[r] = g.gen
	return g.Row(r)
}

func (g *Grid) touchRows(top, bottom int) {
	g.gen++
	if top == 0 && bottom == g.Rows-1 {
		g.all = g.gen
		return
	}
	for r := top; r <= bottom; r++ {
		g.rowGen[r] = g.gen
	}
}

// Area is a rectangle of cells, all four sides included.
type Area struct{ Top, Left, Bottom, Right int }

// whole reports whether a spans the whole width.
func (g *Grid) whole(a Area) bool { return a.Left == 0 && a.Right == g.Cols-1 }

// ScrollUp moves the cells of a up by n rows; blank ones come in.
func (g *Grid) ScrollUp(a Area, n int, blank Cell) {
	n = min(n, a.Bottom-a.Top+1)
	if g.whole(a) {
		rotate(g.order[a.Top:a.Bottom+1], n)
		g.clearRows(a.Bottom-n+1, a.Bottom, blank)
	} else {
		for r := a.Top; r+n <= a.Bottom; r++ {
			g.Row(r).take(g.Row(r+n), a.Left, a.Right+1)
		}
		g.eraseRows(a, a.Bottom-n+1, a.Bottom, blank)
	}
	g.touchRows(a.Top, a.Bottom)
}

// ScrollDown moves the cells of a down by n rows; blank ones come in.
func (g *Grid) ScrollDown(a Area, n int, blank Cell) {
	n = min(n, a.Bottom-a.Top+1)
	if g.whole(a) {
		region := g.order[a.Top : a.Bottom+1]
		rotate(region, len(region)-n)
		g.clearRows(a.Top, a.Top+n-1, blank)
	} else {
		for r := a.Bottom; r-n >= a.Top; r-- {
			g.Row(r).take(g.Row(r-n), a.Left, a.Right+1)
		}
		g.eraseRows(a, a.Top, a.Top+n-1, blank)
	}
	g.touchRows(a.Top, a.Bottom)
}

func (g *Grid) eraseRows(a Area, top, bottom int, blank Cell) {
	for r := top; r <= bottom; r++ {
		g.Row(r).Erase(a.Left, a.Right+1, blank)
	}
}

// Wipe makes rows top to bottom, both included, full of c.
func (g *Grid) Wipe(top, bottom int, c Cell) {
	g.clearRows(top, bottom, c)
	g.touchRows(top, bottom)
}

// Fill makes the cells of a full of c.
func (g *Grid) Fill(a Area, c Cell) {
	g.eraseRows(a, a.Top, a.Bottom, c)
	g.touchRows(a.Top, a.Bottom)
}

// ShowAlternate puts an empty alternate page before the normal one.
func (g *Grid) ShowAlternate() {
	if len(g.spare.lines) == 0 {
		g.spare = newPage(g.Rows, g.Cols)
	}
	g.behind, g.page, g.spare = g.page, g.spare, page{}
	g.Wipe(0, g.Rows-1, 0)
}

// ShowNormal takes the alternate page away.
func (g *Grid) ShowNormal() {
	g.page, g.behind, g.spare = g.behind, page{}, g.page
	g.touchRows(0, g.Rows-1)
}

// Resize cuts or pads both pages; nothing is reflowed. As in tmux a page that
// gets lower loses the rows below its cursor first, then rows from the top. row
// is the cursor's row, behind that of the cursor of the normal page where the
// alternate one shows.
func (g *Grid) Resize(rows, cols, row, behind int) {
	if len(g.behind.lines) > 0 {
		g.behind = g.behind.resized(rows, cols, behind)
	}
	g.page, g.spare = g.page.resized(rows, cols, row), page{}
	g.Rows, g.Cols = rows, cols
	g.rowGen = make([]uint64, rows)
	g.touchRows(0, rows-1)
}

// eachCell calls f with every stored cell and every fill of both pages.
func (g *Grid) eachCell(f func(Cell)) {
	for _, lines := range [][]Line{g.lines, g.behind.lines} {
		for i := range lines {
			f(lines[i].fill)
			for _, c := range lines[i].cells[:lines[i].used] {
				f(c)
			}
		}
	}
}
