package ansi

import (
	"bytes"
	"unicode/utf8"
)

// line is the line in progress. While it only grows it is text; once the cursor
// goes back it is cells, one a character: a wide character counts as one and a
// tab too, so where text is overwritten the result may be off by columns. Such
// a line is no command unless all of the older text is gone.
type line struct {
	text  []byte
	cells []rune
	cell  bool // cells hold the line, text is empty
	at    int  // the cursor in cells
	wrote int  // cells printed since the last carriage return
	cr    bool // one came, and what follows is not yet known
	part  []byte
}

// simple says that plain bytes may be appended to text.
func (l *line) simple() bool { return !l.cell && !l.cr }

func (l *line) empty() bool { return len(l.text) == 0 && len(l.cells) == 0 }

// append adds plain bytes to a simple line.
func (l *line) append(p []byte) {
	l.text = append(l.text, p[:min(len(p), MaxLine-len(l.text))]...)
}

// put prints one byte of text.
func (l *line) put(c byte) {
	l.applyReturn()
	if !l.cell {
		if len(l.text) < MaxLine {
			l.text = append(l.text, c)
		}
		return
	}
	if c >= utf8.RuneSelf {
		l.part = append(l.part, c)
		if !utf8.FullRune(l.part) {
			return
		}
		r, n := utf8.DecodeRune(l.part)
		l.print(r)
		rest := l.part[n:]
		l.part = l.part[:0]
		for _, c := range rest { // a broken sequence, then the next one's start
			l.put(c)
		}
		return
	}
	l.flush()
	l.print(rune(c))
}

// flush ends a character that was cut short.
func (l *line) flush() {
	if len(l.part) > 0 {
		l.part = l.part[:0]
		l.print(utf8.RuneError)
	}
}

func (l *line) print(r rune) {
	switch {
	case l.at < len(l.cells):
		l.cells[l.at] = r
	case len(l.cells) >= MaxLine:
		return
	default:
		l.cells = append(l.cells, r)
	}
	l.at++
	l.wrote = max(l.wrote, l.at)
}

func (l *line) carriage() { l.cr = true }

// applyReturn carries out a carriage return that no newline followed.
func (l *line) applyReturn() {
	if !l.cr {
		return
	}
	l.cr = false
	if l.empty() {
		return
	}
	l.edit()
	l.at, l.wrote = 0, 0
}

// edit turns text into cells.
func (l *line) edit() {
	l.flush()
	if l.cell {
		return
	}
	l.cell = true
	l.cells = l.cells[:0]
	for t := l.text; len(t) > 0; {
		r, n := utf8.DecodeRune(t)
		l.cells = append(l.cells, r)
		t = t[n:]
	}
	l.text = l.text[:0]
	l.at = len(l.cells)
	l.wrote = l.at
}

// back moves the cursor one character to the left.
func (l *line) back() {
	l.applyReturn()
	if l.empty() {
		return
	}
	l.edit()
	l.at = max(0, l.at-1)
}

// erase is the terminal's EL: 0 to the end, 1 to the cursor, 2 the whole line.
func (l *line) erase(mode int) {
	if l.empty() {
		return
	}
	l.edit()
	switch mode {
	case 0:
		l.cells = l.cells[:l.at]
	case 1:
		blank(l.cells[:min(l.at+1, len(l.cells))])
	case 2:
		l.cells = l.cells[:l.at]
		blank(l.cells)
	}
	l.wrote = min(l.wrote, len(l.cells))
	if len(l.cells) == 0 {
		l.reset()
	}
}

func blank(cells []rune) {
	for i := range cells {
		cells[i] = ' '
	}
}

// end returns the line as it stands and starts the next. The text is valid until
// the next byte. Where older text stands behind newer text, only the first fresh
// bytes are the newer.
func (l *line) end() (text []byte, fresh int) {
	if !l.cell {
		text = l.text
		l.reset()
		return text, len(text)
	}
	l.flush()
	for i, r := range l.cells {
		if i == l.wrote {
			fresh = len(l.text)
		}
		l.text = utf8.AppendRune(l.text, r)
	}
	text = bytes.TrimRight(l.text, " ") // often blanks that wiped longer text
	if l.wrote == 0 || l.wrote >= len(l.cells) || fresh > len(text) {
		fresh = len(text)
	}
	l.reset()
	return text, fresh
}

// reset makes the line empty. Buffers of ordinary size are kept.
func (l *line) reset() {
	const ordinary = 8192
	text, cells := l.text[:0], l.cells[:0]
	if cap(cells) > ordinary {
		cells = nil
	}
	*l = line{text: text, cells: cells, part: l.part[:0]}
}
