package parser

import (
	"bytes"
	"unicode/utf8"
)

// typist makes lines of what a human types, with the editing of a terminal in
// canonical mode (termios(3): ERASE, KILL, WERASE, EOF at their usual keys).
type typist struct {
	line   []byte
	escape escape
}

// key takes one byte and returns the line that it ends.
func (t *typist) key(c byte) (line string, ok bool) {
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
		if (c >= ' ' || c == '\t') && len(t.line) < maxLine {
			t.line = append(t.line, c)
		}
	}
	return "", false
}

func (t *typist) empty() bool { return len(t.line) == 0 }

// holds says whether the marker k is what stands typed and not yet entered; the
// program may end that line by printing a newline of its own.
func (t *typist) holds(k []byte) bool {
	typed := key(t.line)
	return len(typed) > 0 && (bytes.HasSuffix(typed, k) || bytes.HasPrefix(k, typed) && len(typed) >= telling)
}
