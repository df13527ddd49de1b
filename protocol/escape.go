package protocol

import (
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// Obeyed reports whether terminals, or who reads on them, are misled by a character that JSON lets
// stand in strings: DEL and C1, the controls of direction, separators of lines, and what shows
// nothing and shapes nothing (zero-width spaces, soft hyphens, tags).
func Obeyed(r rune) bool {
	switch {
	case r < 0x7f:
		return false
	case r < 0xa0 || r == 0xad || r == 0x61c || r == 0x180e || r == 0xfeff:
		return true
	case r >= 0x200b && r <= 0x202e:
		return r == 0x200b || r == 0x200e || r == 0x200f || r >= 0x2028
	}
	return r >= 0x2060 && r <= 0x206f || r >= 0xfff0 && r <= 0xfffb || r >= 0xe0000 && r <= 0xe0fff
}

// Escape escapes in JSON what is [Obeyed]. The JSON means the same afterwards.
func Escape(b []byte) []byte {
	r, at, size := nextObeyed(b)
	if size == 0 {
		return b
	}
	out := make([]byte, 0, len(b)+64)
	for ; size > 0; r, at, size = nextObeyed(b) {
		out = append(out, b[:at]...)
		if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
			out, r = fmt.Appendf(out, `\u%04x`, high), low
		}
		out = fmt.Appendf(out, `\u%04x`, r)
		b = b[at+size:]
	}
	return append(out, b...)
}

func nextObeyed(b []byte) (r rune, at, size int) {
	for at < len(b) {
		if b[at] < 0x7f {
			at++
			continue
		}
		if r, size = utf8.DecodeRune(b[at:]); Obeyed(r) {
			return r, at, size
		}
		at += size
	}
	return 0, at, 0
}

// JSON is a value as JSON that may be shown as it is, see [Escape].
func JSON(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	return Escape(b), err
}

// Escaping writes JSON so that it may be shown as it is, see [Escape]. Each Write is of whole
// characters.
type Escaping struct{ io.Writer }

// Write implements [io.Writer].
func (e Escaping) Write(b []byte) (int, error) {
	if _, err := e.Writer.Write(Escape(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}
