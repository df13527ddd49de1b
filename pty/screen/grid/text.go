package grid

import (
	"strings"
	"unicode/utf8"
)

// cluster is the UTF-8 of a character and what combines with it.
type cluster struct {
	size uint8
	text [MaxCluster]byte
}

// MaxCluster is how many bytes of UTF-8 one cell holds: enough for a family of
// four with skin tones. What combines beyond it is dropped.
const MaxCluster = 47

// joint remembers what came of a glyph when r was added.
type joint struct {
	glyph uint32
	r     rune
	id    uint32
}

// Combine adds r to the character in column c of row.
func (g *Grid) Combine(row, c int, r rune) {
	l := g.Row(row)
	l.reach(c + 1)
	at := l.cells[c]
	j := &g.joints[(at.Glyph()*31+uint32(r))*0x9e3779b1>>24]
	if j.glyph != at.Glyph() || j.r != r {
		id, ok := g.join(at, r)
		if !ok {
			return
		}
		*j = joint{at.Glyph(), r, id}
	}
	l.cells[c] = at&^glyphMask | clusterBit | Cell(j.id)
}

// join interns the text of at with r added; it says false when that is too long,
// or when there is no room for another cluster.
func (g *Grid) join(at Cell, r rune) (id uint32, ok bool) {
	var k cluster
	base := g.AppendGlyph(k.text[:0], at)
	if len(base)+utf8.RuneLen(r) > len(k.text) {
		return 0, false
	}
	k.size = uint8(len(utf8.AppendRune(base, r)))
	return g.clusters.add(k, g.clustersInUse)
}

// clustersInUse also forgets all joints: ids are about to be taken back.
func (g *Grid) clustersInUse() []bool {
	clear(g.joints[:])
	inUse := make([]bool, len(g.clusters.items))
	g.eachCell(func(c Cell) {
		if id := c.Glyph(); id&clusterBit != 0 {
			inUse[id&^clusterBit] = true
		}
	})
	return inUse
}

// AppendGlyph appends the text of a cell; a second half has none.
func (g *Grid) AppendGlyph(b []byte, c Cell) []byte {
	glyph := c.Glyph()
	switch {
	case glyph&clusterBit != 0:
		k := &g.clusters.items[glyph&^clusterBit]
		return append(b, k.text[:k.size]...)
	case glyph != 0:
		return utf8.AppendRune(b, rune(glyph))
	case c&WideTail != 0:
		return b
	}
	return append(b, ' ')
}

// Text returns the text of cells [from, to) of row r; trim leaves out the blanks
// at its end.
func (g *Grid) Text(r, from, to int, trim bool) string {
	l := g.Row(r)
	if trim {
		if l.fill.Blank() {
			to = min(to, l.used)
		}
		for to > from && l.At(to-1).Blank() && l.At(to-1)&WideTail == 0 {
			to--
		}
	}
	var b strings.Builder
	b.Grow(to - from)
	var glyph [MaxCluster]byte
	for c := from; c < to; c++ {
		b.Write(g.AppendGlyph(glyph[:0], l.At(c)))
	}
	return b.String()
}
