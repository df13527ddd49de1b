package protocol

import (
	"io"
	"slices"
	"sync"
	"unicode/utf8"
)

// Shown writes text for people. None of it acts on a terminal, turns other text around or is
// hidden: of C0 only newlines and tabs pass, nothing that is [Obeyed] does, and what is not UTF-8
// becomes U+FFFD. A character may come in several writes.
type Shown struct {
	to   io.Writer
	mu   sync.Mutex
	rest []byte // of a character whose end has not come
}

// NewShown makes what writes to w.
func NewShown(w io.Writer) *Shown { return &Shown{to: w} }

// Write implements [io.Writer].
func (s *Shown) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out, rest := shown(append(s.rest, b...), false)
	s.rest = slices.Clone(rest) // it keeps no long text in memory
	if _, err := s.to.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Show is a text as [Shown] writes it.
func Show(text string) string {
	out, _ := shown([]byte(text), true)
	return string(out)
}

// shown is text without what must not pass, and, but where text is whole, what is left of it: the
// begin of a character.
func shown(text []byte, whole bool) (out, rest []byte) {
	out = make([]byte, 0, len(text))
	for len(text) > 0 && (whole || utf8.FullRune(text)) {
		r, size := utf8.DecodeRune(text)
		switch {
		case r == '\u2028' || r == '\u2029': // which part words
			out = append(out, ' ')
		case r < ' ' && r != '\n' && r != '\t' || Obeyed(r):
		default:
			out = utf8.AppendRune(out, r)
		}
		text = text[size:]
	}
	return out, text
}
