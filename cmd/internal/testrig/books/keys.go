package books

import (
	"slices"
	"strings"
)

func upper(c byte) bool { return 'A' <= c && c <= 'Z' }

// word reads a word of the human's, which must be the next one.
func (s *scan) word() {
	start := s.at
	for !s.over() && upper(s.text[s.at]) {
		s.at++
	}
	s.draft = true
	word, left := s.text[start:s.at], s.words()[s.next:]
	switch at := slices.Index(left[:min(len(left), 1000)], word); {
	case at == 0, s.cut() && len(left) > 0 && strings.HasPrefix(left[0], word):
		s.next++
	case s.lost:
	default:
		s.lost = true
		s.found("I9", "", "the human's word %s is none that was typed, or not the next one", clip(word))
		s.next += max(at, -1) + 1
	}
}

// newline ends a line of a line program that the human typed.
func (s *scan) newline() {
	if s.at++; s.book.Line && !s.draft && !s.cut() {
		s.found("I7", "", "an empty line that nobody typed")
	}
	s.draft = false
}

// foreign passes over bytes that nobody sent or typed.
func (s *scan) foreign() {
	start := s.at
	for s.at++; !s.over(); s.at++ {
		if c := s.text[s.at]; upper(c) || c == '[' || c < ' ' {
			break
		}
	}
	s.found("I7", "", "nobody wrote %q", clip(s.text[start:s.at]))
}

// bracket passes over the begin or the end of a paste.
func (s *scan) bracket() bool {
	if !s.raw() || s.over() || s.text[s.at] != 0x1b {
		return false
	}
	open := strings.HasPrefix(s.rest(), pasteOpen)
	if !open && !strings.HasPrefix(s.rest(), pasteClose) {
		return s.cutShort()
	}
	if open == s.pasting {
		s.found("I10", "", "a paste begins in a paste, or ends outside one")
	}
	s.pasting = open
	s.at += len(pasteOpen)
	return true
}

// cutShort passes over the beginning of a bracket at the end of a killed life.
func (s *scan) cutShort() bool {
	rest := s.rest()
	if !s.book.Killed || !strings.HasPrefix(pasteOpen, rest) && !strings.HasPrefix(pasteClose, rest) {
		return false
	}
	s.at = len(s.text)
	return true
}

func (s *scan) brackets() {
	for s.bracket() {
	}
}

// clearing are the keys that empty composers.
var clearing = []string{"\x1b\x1b", "\x1b[1;2H\x7f", "\x15", "\x03", "\x7f"}

// clears says whether keys follow that empty the composer.
func (s *scan) clears() bool {
	return !s.lone() && slices.ContainsFunc(clearing, func(keys string) bool { return strings.HasPrefix(s.rest(), keys) })
}

// lone says whether an Esc follows that is a key by itself, though what comes next could
// belong to it.
func (s *scan) lone() bool {
	after, esc := strings.CutPrefix(s.rest(), "\x1b")
	cut := s.book.Killed && after != "" && strings.HasPrefix(opening, after)
	return esc && (cut || strings.HasPrefix(after, pasteOpen) || strings.HasPrefix(after, opening))
}

// key reads a key of a composer that is no text; false: it is none that is known.
func (s *scan) key() bool {
	if s.lone() {
		s.at++
		return true
	}
	if strings.HasPrefix(s.rest(), "\x1b\x1b") { // before what may follow it as text
		s.draft = false
		s.at += 2
		return true
	}
	if n := s.reply(); n > 0 {
		s.at += n
		return true
	}
	switch s.text[s.at] {
	case '\r', 0x03, 0x13, 0x15:
		s.draft = s.draft && s.pasting
	case 0x1b, '\n', 0x01, 0x05, 0x08, 0x0b, 0x7f:
	default:
		return false
	}
	s.at++
	return true
}

// reply is the length of an escape sequence here, as a terminal sends for special keys
// and as answers to queries; 0: none, an Esc perhaps.
func (s *scan) reply() int {
	rest := s.rest()
	if len(rest) < 3 || rest[0] != 0x1b {
		return 0
	}
	switch rest[1] {
	case 'O':
		return 3
	case '[':
		n := 2 + strings.IndexFunc(rest[2:], func(r rune) bool { return r < 0x20 || r > 0x3f })
		if n < 2 || rest[n] < 0x40 || rest[n] > 0x7e {
			return 0
		}
		return n + 1
	case ']', 'P':
		return stringSequence(rest)
	}
	return 0
}

// stringSequence is the length of an OSC or a DCS up to its BEL or ST.
func stringSequence(rest string) int {
	n := strings.IndexAny(rest[2:], "\a\x1b")
	switch {
	case n < 0:
		return 0
	case rest[2+n] == '\a':
		return n + 3
	case strings.HasPrefix(rest[2+n:], "\x1b\\"):
		return n + 4
	}
	return 0
}
