package parser

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"relay-pty/parser/ansi"
)

const (
	maskBudget = 1 << 20 // bytes of masked lines, each with maskCost
	maskCost   = 64
	// telling is the length in bytes from which a line is known again anywhere;
	// shorter ones, "}" or ">>>", only where they follow their neighbours.
	telling   = 12
	maxPrompt = 80 // bytes of a prompt before an echo
)

var arrow = []byte("->")

// How a line is masked.
const (
	unmasked = iota
	echoed   // it follows the masked line before it
	known    // it equals a masked line
)

// mask remembers lines. A cursor stands before the line that an echo or a
// repetition shows next; several may be under way.
type mask struct {
	lines   []maskedLine
	base    int            // the number of lines[0]; numbers are never used again
	latest  map[string]int // the number of a telling line
	cursors [4]int         // numbers of lines; 0 is none
	oldest  int            // the cursor to replace next
	size    int
}

type maskedLine struct {
	key  string
	last bool // of those that belong together
}

// key is the text of a line without what may stand around it.
func key(b []byte) []byte {
	b = trimRight(b)
	if i := leadIn(b); i > 0 {
		return b[i:]
	}
	return trimLeft(b)
}

func (m *mask) empty() bool { return len(m.lines) == 0 }

// add appends lines that belong together.
func (m *mask) add(lines ...string) {
	if m.latest == nil {
		m.latest, m.base = map[string]int{}, 1
	}
	first := m.base + len(m.lines)
	for _, text := range lines {
		for line := range strings.SplitSeq(text, "\n") {
			m.addLine(Printable(line))
		}
	}
	if m.base+len(m.lines) == first {
		return
	}
	m.lines[len(m.lines)-1].last = true
	m.expect(first)
	m.evict()
}

func (m *mask) addLine(line string) {
	k := string(key([]byte(line)))
	if k == "" || len(k) > ansi.MaxLine {
		return
	}
	if len(k) >= telling || strings.HasPrefix(k, string(arrow)) {
		m.latest[k] = m.base + len(m.lines)
	}
	m.lines = append(m.lines, maskedLine{key: k})
	m.size += len(k) + maskCost
}

// evict drops the oldest lines when there are too many; a quarter at once, for
// the rest has to be moved.
func (m *mask) evict() {
	if m.size <= maskBudget {
		return
	}
	n := 0
	for m.size > maskBudget*3/4 {
		k := m.lines[n].key
		if m.latest[k] == m.base+n {
			delete(m.latest, k)
		}
		m.size -= len(k) + maskCost
		n++
	}
	m.lines = append([]maskedLine(nil), m.lines[n:]...)
	m.base += n
}

func (m *mask) at(number int) (maskedLine, bool) {
	i := number - m.base
	if number <= 0 || i < 0 || i >= len(m.lines) {
		return maskedLine{}, false
	}
	return m.lines[i], true
}

// expect puts one more cursor before a line; a program may print each line twice.
func (m *mask) expect(number int) {
	m.cursors[m.oldest] = number
	m.oldest = (m.oldest + 1) % len(m.cursors)
}

// unexpect takes the cursors before a line away.
func (m *mask) unexpect(number int) {
	for i, c := range m.cursors {
		if c == number {
			m.cursors[i] = 0
		}
	}
}

// forgetCursors forgets the cursors: the echo of what was typed has long come.
func (m *mask) forgetCursors() { m.cursors = [4]int{} }

// match looks k up and moves the cursors.
func (m *mask) match(k []byte) (how, at int) {
	for i, c := range m.cursors {
		if e, ok := m.at(c); ok && fits(k, e.key) {
			m.cursors[i]++
			return echoed, c
		}
	}
	if at, ok := m.latest[string(k)]; ok {
		m.expect(at + 1)
		return known, at
	}
	return unmasked, 0
}

// search is for a line that starts like a marker and equals no masked line: the
// end of one, as wrapped by a line editor, a whole one with a prompt behind, or one
// whose echo was cut by what the program printed meanwhile.
func (m *mask) search(k []byte) (how, at int) {
	for i := len(m.lines) - 1; i >= 0; i-- {
		masked := m.lines[i].key
		if !strings.Contains(masked, string(arrow)) {
			continue
		}
		if strings.HasSuffix(masked, string(k)) || repeatsWithPrompt(k, masked) || cutEcho(k, masked) {
			m.expect(m.base + i + 1)
			return known, m.base + i
		}
	}
	return unmasked, 0
}

// repeatsWithPrompt reports whether k is a masked command with a prompt behind it.
func repeatsWithPrompt(k []byte, masked string) bool {
	if len(masked) < telling || !bytes.HasPrefix(k, []byte(masked)) || !prompt(k[len(masked):], ">$%#:❯") {
		return false
	}
	c, kind := marker([]byte(masked))
	if kind != relayMarker {
		return kind == readyMarker
	}
	item, _ := parse(c)
	_, whole := item.(Command)
	return whole
}

// cutEcho reports whether k is the end of a masked line, from a marker on, with
// something behind its closing fence or a prompt in its midst.
func cutEcho(k []byte, masked string) bool {
	for at := strings.Index(masked, string(relayPrefix)); at >= 0; {
		tail := masked[at:]
		if item, _ := parse([]byte(tail)); item != nil {
			c, whole := item.(Command)
			if whole && strings.HasSuffix(c.Raw, ">>>") && strings.HasPrefix(string(k), c.Raw) {
				return true
			}
		}
		if cutByPrompt(k, tail) {
			return true
		}
		next := strings.Index(tail[1:], string(relayPrefix))
		if next < 0 {
			break
		}
		at += 1 + next
	}
	return false
}

// cutByPrompt reports whether k is text with a prompt somewhere in it.
func cutByPrompt(k []byte, text string) bool {
	n := len(k) - len(text)
	if n <= 0 || n > maxPrompt {
		return false
	}
	for at := 0; at < len(text) && k[at] == text[at]; at++ {
		if string(k[at+1+n:]) == text[at+1:] && prompt(k[at+1:at+1+n], ">$%#:?])❯»") {
			return at+1 < len(text)
		}
	}
	return false
}

// fits reports whether the line k shows masked, perhaps behind a prompt.
func fits(k []byte, masked string) bool {
	n := len(k) - len(masked)
	return n >= 0 && string(k[n:]) == masked && (n == 0 || prompt(k[:n], ">$%#:?])❯»"))
}

// prompt reports whether b could be one: short, its last character among ends.
func prompt(b []byte, ends string) bool {
	if len(b) > maxPrompt {
		return false
	}
	r, _ := utf8.DecodeLastRune(bytes.TrimRightFunc(b, unicode.IsSpace))
	return r != utf8.RuneError && strings.ContainsRune(ends, r)
}
