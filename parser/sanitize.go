package parser

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sanitize makes a field fit to be typed into a terminal: control characters
// but newline (C0, DEL, C1) are removed, a tab becomes four blanks, CRLF a
// newline; a carriage return alone is a control character like others. Bytes
// that are not UTF-8 become U+FFFD. All else stays: emoji, joiners, direction
// marks. Sanitize(Sanitize(s)) == Sanitize(s).
func Sanitize(s string) string {
	if clean(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s {
		switch {
		case r == '\t':
			b.WriteString("    ")
		case r == '\n' || !unicode.IsControl(r):
			b.WriteRune(r)
		}
	}
	return b.String()
}

// clean says that Sanitize would change nothing.
func clean(s string) bool {
	for i, r := range s {
		if unicode.IsControl(r) && r != '\n' {
			return false
		}
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				return false
			}
		}
	}
	return true
}
