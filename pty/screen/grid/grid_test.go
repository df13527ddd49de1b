package grid

import (
	"strings"
	"testing"
)

// put writes text from column c on, one cell a character.
func put(g *Grid, r, c int, text string) {
	for _, ch := range text {
		g.Row(r).Open(c, c+1)[0] = g.Ink() | Cell(ch)
		c++
	}
}

func wide(g *Grid, r, c int, ch rune) {
	cells := g.Row(r).Open(c, c+2)
	cells[0], cells[1] = g.Ink()|WideHead|Cell(ch), g.Ink()|WideTail
}

func shown(g *Grid) string {
	var rows []string
	for r := range g.Rows {
		rows = append(rows, g.Text(r, 0, g.Cols, true))
	}
	return strings.Join(rows, "|")
}

func TestScrollWithinARectangle(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(g *Grid)
		want string
	}{
		{"up by one", func(g *Grid) { g.ScrollUp(Area{1, 1, 3, 2}, 1, 0) }, "abcd|ejkh|inol|m  p"},
		{"up by more than there is", func(g *Grid) { g.ScrollUp(Area{1, 1, 3, 2}, 9, 0) }, "abcd|e  h|i  l|m  p"},
		{"down by one", func(g *Grid) { g.ScrollDown(Area{0, 2, 2, 3}, 1, 0) }, "ab|efcd|ijgh|mnop"},
		{"down by more than there is", func(g *Grid) { g.ScrollDown(Area{0, 2, 2, 3}, 9, 0) }, "ab|ef|ij|mnop"},
		{"whole width", func(g *Grid) { g.ScrollUp(Area{0, 0, 3, 3}, 2, 0) }, "ijkl|mnop||"},
		{"fill", func(g *Grid) { g.Fill(Area{1, 1, 2, 3}, 'x') }, "abcd|exxx|ixxx|mnop"},
		{"half a wide character stays behind", func(g *Grid) {
			wide(g, 2, 0, '中')
			g.ScrollUp(Area{1, 1, 3, 3}, 1, 0)
		}, "abcd|e kl| nop|m"},
		{"half a wide character comes in", func(g *Grid) {
			wide(g, 2, 2, '中')
			g.ScrollUp(Area{1, 0, 3, 2}, 1, 0)
		}, "abcd|ij h|mno|   p"},
	} {
		g := New(4, 4)
		for r, text := range []string{"abcd", "efgh", "ijkl", "mnop"} {
			put(&g, r, 0, text)
		}
		c.do(&g)
		if got := shown(&g); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestInsertAndRemoveStopAtTheEnd(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(l *Line)
		want string
	}{
		{"insert", func(l *Line) { l.Insert(1, 4, 1, 0) }, "a bcef"},
		{"insert more than there is", func(l *Line) { l.Insert(1, 4, 9, 0) }, "a   ef"},
		{"remove", func(l *Line) { l.Remove(1, 4, 1, 0) }, "acd ef"},
		{"remove more than there is", func(l *Line) { l.Remove(1, 4, 9, 0) }, "a   ef"},
		{"insert before half a wide character", func(l *Line) { l.cells[3], l.cells[4] = WideHead|'中', WideTail; l.Insert(1, 4, 1, 0) }, "a bc f"},
		{"remove before half a wide character", func(l *Line) { l.cells[3], l.cells[4] = WideHead|'中', WideTail; l.Remove(1, 4, 1, 0) }, "ac   f"},
		{"insert at the end", func(l *Line) { l.Insert(6, 6, 3, 0) }, "abcdef"},
	} {
		g := New(1, 6)
		put(&g, 0, 0, "abcdef")
		c.do(g.Row(0))
		if got := shown(&g); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestProtectedCellsOutliveSelectiveErase(t *testing.T) {
	g := New(1, 6)
	put(&g, 0, 0, "ab")
	g.Guard = true
	put(&g, 0, 2, "cd")
	g.Guard = false
	put(&g, 0, 4, "ef")
	g.Row(0).EraseUnprotected(1, 6, 0)
	if got, want := shown(&g), "a cd"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	g.Row(0).Erase(0, 3, 0)
	if got, want := shown(&g), "   d"; got != want {
		t.Errorf("%q, want %q: a plain erase takes protected cells too", got, want)
	}
}

func TestStylesAreBounded(t *testing.T) {
	g := New(200, 200)
	for i := range 200 * 200 {
		g.Pen = Pen(0).WithFg(RGB(uint8(i>>16), uint8(i>>8), uint8(i)))
		put(&g, i/200, i%200, "x")
	}
	if got, limit := len(g.styles.items), maxStyles+512; got > limit {
		t.Errorf("%d styles, want at most %d", got, limit)
	}
}

// TestClustersAreBoundedAndRight goes through more pairs than there is room for,
// in an order in which two at a time are made again and again: what is remembered
// of a pair must not outlive the cluster, nor be taken for another's.
func TestClustersAreBoundedAndRight(t *testing.T) {
	g := New(1, 10)
	for i := range 8 * maxClusters {
		for c, n := range []int{i, i / 2, i, i + 1, i / 3} {
			base, mark := string(rune('a'+n%26)), rune(0x300+n/26%0x70)
			put(&g, 0, c, base)
			g.Combine(0, c, mark)
			g.Combine(0, c, '\u0301'+rune(n/2912))
			if got, want := g.Text(0, c, c+1, false), base+string(mark)+string('\u0301'+rune(n/2912)); got != want {
				t.Fatalf("cluster %d is %q, want %q", n, got, want)
			}
		}
	}
	if got := len(g.clusters.items); got > maxClusters {
		t.Errorf("%d clusters, want at most %d", got, maxClusters)
	}
}

func TestClustersAreRefusedWhenAllAreInUse(t *testing.T) {
	g := New(50, 100)
	for i := range 50 * 100 {
		put(&g, i/100, i%100, "e")
		g.Combine(i/100, i%100, rune(0x4e00+i))
	}
	if got := len(g.clusters.items); got > maxClusters {
		t.Errorf("%d clusters, want at most %d", got, maxClusters)
	}
	if got, want := g.Text(0, 0, 1, false)+g.Text(49, 99, 100, false), "e\u4e00e"; got != want {
		t.Errorf("first and last are %q, want %q", got, want)
	}
}
