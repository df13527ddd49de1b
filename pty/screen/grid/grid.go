// Package grid is the paper of a terminal: rows of cells on two pages, and what
// stands in them. It knows nothing of sequences, of the cursor, or of modes.
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
		page: newPage(rows, cols), Rows: rows, Cols: cols,
		styles: newInterner[Pen](maxStyles), clusters: newInterner[cluster](maxClusters),
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
		g.Wipe(a.Bottom-n+1, a.Bottom, blank)
	} else {
		for r := a.Top; r+n <= a.Bottom; r++ {
			g.Row(r).take(g.Row(r+n), a.Left, a.Right+1)
		}
		a.Top = a.Bottom - n + 1
		g.Fill(a, blank)
	}
}

// ScrollDown moves the cells of a down by n rows; blank ones come in.
func (g *Grid) ScrollDown(a Area, n int, blank Cell) {
	n = min(n, a.Bottom-a.Top+1)
	if g.whole(a) {
		region := g.order[a.Top : a.Bottom+1]
		rotate(region, len(region)-n)
		g.Wipe(a.Top, a.Top+n-1, blank)
	} else {
		for r := a.Bottom; r-n >= a.Top; r-- {
			g.Row(r).take(g.Row(r-n), a.Left, a.Right+1)
		}
		a.Bottom = a.Top + n - 1
		g.Fill(a, blank)
	}
}

// Fill makes the cells of a full of c.
func (g *Grid) Fill(a Area, c Cell) {
	for r := a.Top; r <= a.Bottom; r++ {
		g.Row(r).Erase(a.Left, a.Right+1, c)
	}
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
