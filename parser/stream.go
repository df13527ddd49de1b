package parser

import (
	"bytes"
	"sync"
	"unicode/utf8"

	"relay-pty/parser/ansi"
)

// Stream finds the commands in the output of a line program: one that prints
// lines, as opposed to one that paints the screen. Each line counts as it stands
// when its newline comes: escape sequences are dropped, a carriage return or
// backspace lets what follows overwrite, erasures erase.
//
// What is painted never is a command: a line in which the cursor was moved by
// anything else, the lines of the alternate screen, those printed over again
// after a move up, and all after an absolute move until the screen is cleared or
// the turn ends. Nor is a line of which a part was overwritten and the rest left
// standing; it is Invalid if it starts as a marker. Such a line inside an open
// fence makes the marker Invalid.
//
// What the human typed and what was injected comes back in the output and must
// be told first, by Mask or Typed.
//
// Emit is called for each item by the goroutine that called the method, with no
// lock held; it must not block. All methods may be called concurrently. Memory
// is bounded: two lines, one body, and the mask (1 MiB).
type Stream struct {
	Emit func(Item)

	mu      sync.Mutex
	scanner Scanner
	output  ansi.Reader
	mask    mask
	typed   ansi.Typist
	// suspect is not zero while the open marker matches text that we typed: it is then the number
	// of the masked line that would come next.
	suspect int
	items   []Item
}

// Write takes the next bytes of output. It never fails.
func (s *Stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	s.write(p)
	s.unlock()
	return len(p), nil
}

// Mask names lines that will stand in the output without being the program's
// own words: what is injected or typed, told before it is written to the
// program. The terminal's echo of them is no command, also behind a prompt, nor
// is the program's repetition of them (`cat`), nor a fence that they open or
// close. A line may hold newlines. The lines of one call belong together: parts
// that mean little alone, such as a fence's end, are masked where they follow
// their neighbours. The latest lines are kept, 1 MiB less 64 bytes a line.
func (s *Stream) Mask(lines ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mask.add(lines...)
}

// Typed masks what a human types: all bytes written to the program for him, in
// whatever pieces. Lines are edited as a terminal in canonical mode does.
func (s *Stream) Typed(p []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range p {
		if line, ok := s.typed.Key(c); ok {
			s.mask.add(line)
		}
	}
}

// End says that the turn is over: an open marker is Invalid, open code fences
// are forgotten. The line in progress, a prompt most often, stays.
func (s *Stream) End() {
	s.mu.Lock()
	if left := s.scanner.End(); s.suspect == 0 {
		s.items = append(s.items, left...)
	}
	s.suspect = 0
	s.output.Resync()
	s.mask.forgetCursors()
	s.unlock()
}

// Close says that there is no more output: what stands on the last line counts
// as a line, and the turn is over.
func (s *Stream) Close() {
	s.mu.Lock()
	if line, ok := s.output.Rest(); ok {
		s.read(line)
	}
	s.mu.Unlock()
	s.End()
}

// unlock hands out the items. They are taken off under the lock and emitted
// without it.
func (s *Stream) unlock() {
	items := s.items
	s.items = nil
	s.mu.Unlock()
	for _, item := range items {
		s.Emit(item)
	}
}

func (s *Stream) write(p []byte) {
	for len(p) > 0 {
		s.want()
		line, n, ok := s.output.Next(p)
		if ok {
			s.read(line)
		}
		p = p[n:]
	}
}

// want tells the reader which lines may mean something. Painted ones do only inside a fence.
// While nothing is open and nothing masked, a line must hold a marker or open a code fence.
func (s *Stream) want() {
	s.output.SkipPainted, s.output.Among = s.scanner.open == nil, ""
	if s.mask.empty() && s.scanner.idle() {
		s.output.Among = markerBytes
	}
}

// read takes a line. Most lines of most programs mean nothing and are not copied; one that was
// typed may show what is typed next.
func (s *Stream) read(l ansi.Line) {
	idle := s.scanner.idle() && !s.scanner.matters(l.Text)
	switch {
	case l.Painted || l.Fresh < len(l.Text):
		s.refuse(l)
	case idle && s.mask.empty():
	case hasC1(l.Text): // U+009B and its like: terminals may obey them
		s.refuse(ansi.Line{Painted: true})
	case idle:
		s.masked(l.Text, false)
	default:
		s.take(l.Text)
	}
}

// refuse handles a line that is not as it was printed.
func (s *Stream) refuse(l ansi.Line) {
	if s.scanner.open != nil {
		s.items = append(s.items, invalid("the body was overwritten on the screen", s.scanner.open.raw))
		s.scanner.open, s.suspect = nil, 0
		return
	}
	m, kind := marker(l.Text)
	if l.Painted || kind != relayMarker {
		return
	}
	if how, _ := s.masked(l.Text[:l.Fresh], true); how == unmasked {
		s.items = append(s.items, invalid("a part of the line was overwritten", m))
	}
}

// take gives a line to the scanner unless the mask forbids.
func (s *Stream) take(line []byte) {
	text := validUTF8(line)
	matters := s.scanner.matters(text)
	how, at := s.masked(line, matters) // a prompt may stand in the middle of a character
	following := s.scanner.open != nil && s.suspect > 0
	if following {
		s.follow(text)
	} else if matters && (how == echoed || how == known && !s.opens(text)) {
		return
	}
	before := len(s.items)
	s.items = s.scanner.line(s.items, text)
	switch {
	case s.scanner.open == nil:
		if following && s.suspect > 0 { // all of it repeats masked lines
			s.items = s.items[:before]
		}
		s.suspect = 0
	case !following && matters:
		s.suspect = 0
		if how == known {
			s.suspect = at + 1
		}
		s.giveUp(at)
	case following && s.suspect > 0:
		s.giveUp(s.suspect - 1)
	}
}

// opens reports whether text would leave a marker's fence open.
func (s *Stream) opens(text []byte) bool {
	if !s.scanner.idle() {
		return false
	}
	m, kind := marker(text)
	if kind != relayMarker {
		return false
	}
	_, open := parse(m)
	return open != nil
}

// follow compares the next line of an open marker, which began as a masked
// marker does, with what follows that one.
func (s *Stream) follow(text []byte) {
	k := key(text)
	if len(k) == 0 {
		return
	}
	if e, ok := s.mask.at(s.suspect); ok && e.key == string(k) {
		s.suspect++
		return
	}
	s.mask.unexpect(s.suspect)
	s.suspect = 0
}

// giveUp forgets an open marker that repeats masked lines to their end, at.
func (s *Stream) giveUp(at int) {
	if e, ok := s.mask.at(at); ok && e.last && s.suspect > 0 {
		s.scanner.open, s.suspect = nil, 0
	}
}

// masked looks text up in the mask; thorough is for lines that matter.
func (s *Stream) masked(text []byte, thorough bool) (how, at int) {
	if s.mask.empty() && len(s.typed.Line()) == 0 {
		return unmasked, 0
	}
	k := key(text)
	if len(k) == 0 {
		return unmasked, 0
	}
	how, at = s.mask.match(k)
	if how != unmasked || !thorough || !bytes.HasPrefix(k, arrow) {
		return how, at
	}
	// The program may end a line that stands typed by printing a newline.
	typed := key(s.typed.Line())
	if len(typed) > 0 && (bytes.HasSuffix(typed, k) || len(typed) >= telling && bytes.HasPrefix(k, typed)) {
		return echoed, 0
	}
	return s.mask.search(k)
}

// hasC1 finds U+0080 to U+009F.
func hasC1(b []byte) bool {
	for {
		i := bytes.IndexByte(b, 0xC2)
		if i < 0 || i+1 == len(b) {
			return false
		}
		if b[i+1] < 0xA0 && b[i+1] >= 0x80 {
			return true
		}
		b = b[i+1:]
	}
}

func validUTF8(b []byte) []byte {
	if utf8.Valid(b) {
		return b
	}
	return bytes.ToValidUTF8(b, []byte("\uFFFD"))
}
