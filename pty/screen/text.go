package screen

import (
	"unicode/utf8"

	"relay-pty/pty/screen/grid"
	"relay-pty/pty/screen/vt"
	"relay-pty/pty/screen/width"
)

const joinerRune = '\u200d'

// ASCII prints a run of printable ASCII.
func (t *terminal) ASCII(p []byte) {
	if t.modes.Insert || t.fenced || t.single != 0 || t.charsets[t.shift] != 'B' {
		for _, c := range p {
			t.print(t.mapped(c))
		}
		return
	}
	t.joiner = false
	t.last = rune(p[len(p)-1])
	ink := t.Ink()
	for len(p) > 0 {
		if t.col >= t.Cols {
			t.wrap()
		}
		run := p[:min(len(p), t.Cols-t.col)]
		cells := t.Row(t.row).Open(t.col, t.col+len(run))[:len(run)]
		for i, c := range run {
			cells[i] = ink | grid.Cell(c)
		}
		t.col += len(run)
		p = p[len(run):]
	}
	if t.modes.NoWrap {
		t.col = min(t.col, t.Cols-1)
	}
}

// wrap continues in the next row, or stays in the last column without autowrap.
func (t *terminal) wrap() {
	if t.modes.NoWrap {
		t.col = t.edge() - 1
		return
	}
	t.endWrap()
	t.lineFeed(true)
	t.col = t.home()
}

// Multibyte prints a run of UTF-8.
func (t *terminal) Multibyte(p []byte) {
	for len(p) > 0 {
		if n := t.run(p); n > 0 {
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

// run prints the characters that p starts with, as many as the row has room for
// and as neither join nor combine, and returns how many bytes that was. It is the
// fast path of Multibyte.
func (t *terminal) run(p []byte) int {
	if t.joiner || t.modes.Insert || t.fenced || t.single != 0 {
		return 0
	}
	cells := &t.scratch
	n, used, ink := 0, 0, t.Ink()
	for room := min(len(cells), t.Cols-t.col); n < room; {
		r, size := three(p[used:]), 3
		columns := width.Quick(r)
		if columns == 0 || r < 0x800 {
			if r, size, columns = t.slow(p[used:]); columns == 0 {
				break
			}
		}
		if n+columns > room {
			break
		}
		cells[n] = ink | grid.Cell(r)
		if columns == 2 {
			cells[n] |= grid.WideHead
			cells[n+1] = ink | grid.WideTail
		}
		n += columns
		used += size
		t.last = r
	}
	if n == 0 {
		return 0
	}
	copy(t.Row(t.row).Open(t.col, t.col+n), cells[:n])
	if t.col += n; t.modes.NoWrap {
		t.col = min(t.col, t.Cols-1)
	}
	return used
}

// three decodes a character of three bytes; it returns less than 0x800 for all
// else. It is small enough to be inlined.
func three(p []byte) rune {
	if len(p) < 3 || p[0]>>4 != 0xe || p[1]>>6 != 2 || p[2]>>6 != 2 {
		return 0
	}
	return rune(p[0]&0xf)<<12 | rune(p[1]&0x3f)<<6 | rune(p[2]&0x3f)
}

// slow decodes any character of two bytes or more that takes columns of its own;
// columns is 0 for all else.
func (t *terminal) slow(p []byte) (r rune, size, columns int) {
	if r, size = utf8.DecodeRune(p); size < 2 || r < 0xa0 || isTone(r) {
		return r, size, 0
	}
	return r, size, t.widths.Of(r)
}

// isTone reports whether r is a skin tone, which joins an emoji before it.
func isTone(r rune) bool { return r >= 0x1f3fb && r <= 0x1f3ff }

// print prints one character of any kind.
func (t *terminal) print(r rune) {
	columns := t.widths.Of(r)
	switch {
	case r >= 0x80 && r < 0xa0: // C1 controls mean nothing in UTF-8
		return
	case columns == 0, t.joiner && r >= 0x2000, isTone(r) && t.wideBefore():
		t.combine(r)
		t.last, t.joiner = 0, r == joinerRune
		return
	case columns > t.Cols:
		return
	}
	t.joiner, t.single = false, 0
	t.last = r
	if t.col+columns > t.edge() {
		if t.modes.NoWrap && columns == 2 {
			return
		}
		t.wrap()
	}
	l, edge := t.Row(t.row), t.edge()
	if t.modes.Insert {
		l.Insert(t.col, edge, columns, t.Blank())
	}
	ink := t.Ink()
	cells := l.Open(t.col, t.col+columns)
	cells[0] = ink | grid.Cell(r)
	if columns == 2 {
		cells[0] |= grid.WideHead
		cells[1] = ink | grid.WideTail
	}
	t.col += columns
	if t.modes.NoWrap {
		t.col = min(t.col, edge-1)
	}
	t.brim = t.fenced && t.col == edge && edge <= t.region.Right+1
}

// before returns the column of the character before the cursor, -1 if none.
func (t *terminal) before() int {
	c := t.col - 1
	if c > 0 && t.Row(t.row).At(c)&grid.WideTail != 0 {
		c--
	}
	return c
}

func (t *terminal) wideBefore() bool {
	c := t.before()
	return c >= 0 && t.Row(t.row).At(c)&grid.WideHead != 0
}

// combine adds r to the character before the cursor. At the start of a row, or
// when there is no room, it is dropped.
func (t *terminal) combine(r rune) {
	if c := t.before(); c >= 0 {
		t.Combine(t.row, c, r)
	}
}

// mapped turns a byte into the character of the charset in use.
func (t *terminal) mapped(c byte) rune {
	set := t.charsets[t.shift]
	if t.single != 0 {
		set = t.charsets[t.single]
	}
	if c >= '`' && set == '0' {
		return lineDrawing[c-'`']
	}
	return rune(c)
}

// lineDrawing is DEC Special Graphics from 0x60 on.
var lineDrawing = [...]rune{
	'◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼', '⎺',
	'⎻', '─', '⎼', '⎽', '├', '┤', '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
}
