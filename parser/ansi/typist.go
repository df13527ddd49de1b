package ansi

import (
	"bytes"
	"unicode/utf8"
)

// Typist makes lines of what a human types, with the editing of a terminal in
// canonical mode (termios(3): ERASE, KILL, WERASE, EOF at their usual keys). Its
// zero value is ready to use.
type Typist struct {
	line   []byte
	escape escape
}

// Key takes one byte and returns the line that it ends.
func (t *Typist) Key(c byte) (line string, ok bool) {
	ends := c == '\r' || c == '\n'
	if (!t.escape.ground() || c == 0x1B) && !ends {
		t.escape.next(c)
		return "", false
	}
	switch c {
	case '\r', '\n', 0x04:
		t.escape = escape{} // Alt-] starts no string
		line = string(t.line)
		t.line = t.line[:0]
		return line, len(line) > 0
	case 0x7F, '\b':
		_, n := utf8.DecodeLastRune(t.line)
		t.line = t.line[:len(t.line)-n]
	case 0x15, 0x03, 0x1C: // kill, interrupt, quit
		t.line = t.line[:0]
	case 0x17: // erase a word
		t.line = bytes.TrimRight(t.line, " \t")
		t.line = t.line[:bytes.LastIndexAny(t.line, " \t")+1]
	default:
		if (c >= ' ' || c == '\t') && len(t.line) < MaxLine {
			t.line = append(t.line, c)
		}
	}
	return "", false
}

// Line is what was typed and not yet entered, valid until the next Key.
func (t *Typist) Line() []byte { return t.line }
