package screen

import (
	"strings"
	"unicode/utf8"

	"relay-pty/pty/screen/vt"
	"relay-pty/pty/screen/width"
)

// cluster is the UTF-8 of a character and what combines with it.
type cluster struct {
	size uint8
	text [47]byte // enough for a family of two with skin tones
}

const joinerRune = '\u200d'

// ASCII prints a run of printable ASCII.
func (t *terminal) ASCII(p []byte) {
	if t.modes.Insert || t.charsets[t.shift] != 'B' {
		for _, c := range p {
			t.print(t.mapped(c))
		}
		return
	}
	t.joiner = false
	t.last = rune(p[len(p)-1])
	style := t.current()
	for len(p) > 0 {
		if t.col >= t.cols {
			t.wrap()
		}
		n := min(len(p), t.cols-t.col)
		cells := t.touch(t.row).open(t.col, t.col+n)
		for i, c := range p[:n] {
			cells[i] = style | cell(c)
		}
		t.col += n
		p = p[n:]
	}
	if t.modes.NoWrap {
		t.col = min(t.col, t.cols-1)
	}
}

// wrap continues in the next row, or stays in the last column without autowrap.
func (t *terminal) wrap() {
	if t.modes.NoWrap {
		t.col = t.cols - 1
		return
	}
	t.lineFeed(true)
	t.col = 0
}

// Multibyte prints a run of UTF-8.
func (t *terminal) Multibyte(p []byte) {
	for len(p) > 0 {
		if n := t.narrowRun(p); n > 0 {
			p = p[n:]
			continue
		}
		r, n := utf8.DecodeRune(p)
		if r == utf8.RuneError {
			n = vt.Subpart(p)
		}
		p = p[n:]
		t.print(r)
	}
}

// narrowRun prints the characters of three bytes and one column that p starts
// with, as many as the row has room for, and returns how many bytes that was. It
// is the fast path of Multibyte: rules, borders, blocks and most symbols.
func (t *terminal) narrowRun(p []byte) int {
	if t.joiner || t.modes.Insert {
		return 0
	}
	var run [64]cell
	n, style := 0, t.current()
	for room := min(len(run), t.cols-t.col); n < room && len(p) >= 3; n++ {
		r := rune(p[0]&0xf)<<12 | rune(p[1]&0x3f)<<6 | rune(p[2]&0x3f)
		if p[0]>>4 != 0xe || p[1]>>6 != 2 || p[2]>>6 != 2 || r < 0x800 || !width.Narrow(r) {
			break
		}
		run[n] = style | cell(r)
		p = p[3:]
	}
	if n == 0 {
		return 0
	}
	copy(t.touch(t.row).open(t.col, t.col+n), run[:n])
	t.last = rune(run[n-1].glyph())
	if t.col += n; t.modes.NoWrap {
		t.col = min(t.col, t.cols-1)
	}
	return 3 * n
}

// print prints one character of any kind.
func (t *terminal) print(r rune) {
	columns := width.Of(r)
	switch {
	case r >= 0x80 && r < 0xa0: // C1 controls mean nothing in UTF-8
		return
	case columns == 0, t.joiner && r >= 0x2000, r >= 0x1f3fb && r <= 0x1f3ff && t.wideBefore():
		t.combine(r)
		t.last, t.joiner = 0, r == joinerRune
		return
	case columns > t.cols:
		return
	}
	t.joiner = false
	t.last = r
	if t.col+columns > t.cols {
		if t.modes.NoWrap && columns == 2 {
			return
		}
		t.wrap()
	}
	l := t.touch(t.row)
	if t.modes.Insert {
		l.insert(t.col, columns, t.empty())
	}
	cells := l.open(t.col, t.col+columns)
	cells[0] = t.current() | cell(r)
	if columns == 2 {
		cells[0] |= wideHead
		cells[1] = t.style | wideTail
	}
	if t.col += columns; t.modes.NoWrap {
		t.col = min(t.col, t.cols-1)
	}
}

// before returns the column of the character before the cursor, -1 if none.
func (t *terminal) before() int {
	c := t.col - 1
	if c > 0 && t.grid.row(t.row).at(c)&wideTail != 0 {
		c--
	}
	return c
}

func (t *terminal) wideBefore() bool {
	c := t.before()
	return c >= 0 && t.grid.row(t.row).at(c)&wideHead != 0
}

// combine adds r to the character before the cursor. At the start of a row, or
// when there is no room, it is dropped.
func (t *terminal) combine(r rune) {
	c := t.before()
	if c < 0 {
		return
	}
	l := t.touch(t.row)
	l.reach(c + 1)
	at := l.cells[c]
	var k cluster
	base := t.appendGlyph(k.text[:0], at)
	if len(base)+utf8.RuneLen(r) > len(k.text) {
		return
	}
	k.size = uint8(len(utf8.AppendRune(base, r)))
	if id, ok := t.clusters.add(k, t.clustersInUse); ok {
		l.cells[c] = at&^(1<<styleShift-1) | clusterBit | cell(id)
	}
}

// appendGlyph appends the text of a cell; a second half has none.
func (t *terminal) appendGlyph(b []byte, c cell) []byte {
	g := c.glyph()
	switch {
	case g&clusterBit != 0:
		k := &t.clusters.items[g&^clusterBit]
		return append(b, k.text[:k.size]...)
	case g != 0:
		return utf8.AppendRune(b, rune(g))
	case c&wideTail != 0:
		return b
	}
	return append(b, ' ')
}

// text returns the text of cells [from, to) of row r.
func (t *terminal) text(r, from, to int, trim bool) string {
	l := t.grid.row(r)
	if trim {
		if l.fill.blank() {
			to = min(to, l.used)
		}
		for to > from && l.at(to-1).blank() && l.at(to-1)&wideTail == 0 {
			to--
		}
	}
	var b strings.Builder
	b.Grow(to - from)
	var glyph [len(cluster{}.text)]byte
	for c := from; c < to; c++ {
		b.Write(t.appendGlyph(glyph[:0], l.at(c)))
	}
	return b.String()
}

// mapped turns a byte into the character of the charset in use.
func (t *terminal) mapped(c byte) rune {
	if c >= '`' && t.charsets[t.shift] == '0' {
		return lineDrawing[c-'`']
	}
	return rune(c)
}

// lineDrawing is DEC Special Graphics from 0x60 on.
var lineDrawing = [...]rune{
	'◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼', '⎺',
	'⎻', '─', '⎼', '⎽', '├', '┤', '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
}
