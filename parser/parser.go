// Package parser finds the commands that an agent writes into its words:
//
//	->relay:TARGET message to the end of the line
//	->relay:TARGET <<<body, one line or many>>>
//	->relay:TARGET [re=msg-123 thread=auth mode=important] <<<…>>>
//	->pty:ready
//
// [Text] reads a whole message, [Scanner] lines as they come, and [Stream] the
// raw output of a line program; all three share one grammar. [Envelope] is the
// other direction, the text in which an agent reads a message.
//
// A marker starts its line, after at most three blanks, one glyph that a TUI
// puts before its agent's words (● ⏺ • ✦) and again at most three blanks. It is
// no command in a Markdown code fence, a quote, code indented by four or after
// a list's bullet. What follows a closing fence on its line is plain text.
//
// A fence of n '<' ends with a run of exactly n '>': the body may hold shorter
// and longer runs. Bodies are exact but for one newline after the opening and
// one before the closing fence; a message to the end of the line loses the
// blanks around it. The package starts no goroutine.
//
// [Stream] costs next to nothing where no marker can begin. It passes over painted lines outside of
// a marker's fence and, while nothing is open and nothing masked, over lines without '>', a
// backtick or '~'; in those it only looks for sequences that reach beyond their line, 64 bytes at a
// time. A model that reads every byte by itself checks the result on random and recorded output,
// cut at random.
package parser

import "bytes"

// maxQuote is how many bytes of a refused marker an Invalid carries.
const maxQuote = 200

// Item is a Command, a Ready or an Invalid.
type Item interface{ item() }

// Command is a message that the agent sends.
type Command struct {
	To      string // NAME, NAME@HOST, #channel or *
	Body    string // 1 to protocol.MaxBody bytes of UTF-8
	ReplyTo string // an id, or empty
	Thread  string // an id, or empty
	Mode    string // sequential, important, urgent or empty
	Raw     string // the marker as it stood from its arrow on, lines joined by newlines
}

// Ready is the agent's word that it can take a message.
type Ready struct{}

// Invalid is a marker that is no command.
type Invalid struct {
	Reason string
	Raw    string // the start of its first line, at most 200 bytes
}

func (Command) item() {}
func (Ready) item()   {}
func (Invalid) item() {}

// Text returns the items of one complete message. A fence that it leaves open
// is Invalid.
func Text(s string) []Item {
	var (
		sc    Scanner
		items []Item
	)
	for line := range bytes.SplitSeq([]byte(s), []byte("\n")) {
		items = sc.line(items, line)
	}
	return append(items, sc.End()...)
}

// Scanner reads the lines of one speaker. Its zero value is ready to use; it is
// not safe for concurrent use.
type Scanner struct {
	code codeFence // a Markdown fence that is open
	open *fenced   // a marker whose fence is open; at most one of the two is
}

// Line takes one line without its newline and returns what it completed.
func (s *Scanner) Line(line string) []Item { return s.line(nil, []byte(line)) }

// End says that the turn is over: an open marker is Invalid, and the next line
// starts afresh.
func (s *Scanner) End() []Item {
	open := s.open
	*s = Scanner{}
	if open == nil {
		return nil
	}
	return []Item{invalid("the fence is not closed", open.raw)}
}

// line appends the items that b completes. It keeps nothing of b.
func (s *Scanner) line(items []Item, b []byte) []Item {
	switch {
	case s.open != nil:
		return s.body(items, b)
	case s.code.open():
		if in, closed := s.code.holds(b); in || closed {
			if closed {
				s.code = codeFence{}
			}
			return items
		}
		s.code = codeFence{}
	}
	if f, ok := opensCode(b); ok {
		s.code = f
		return items
	}
	return s.start(items, b)
}

// start reads a line outside of all fences.
func (s *Scanner) start(items []Item, b []byte) []Item {
	m, kind := marker(b)
	switch kind {
	case readyMarker:
		return append(items, Ready{})
	case relayMarker:
		item, open := parse(m)
		s.open = open
		if item != nil {
			items = append(items, item)
		}
	}
	return items
}

// body adds a line to the open marker.
func (s *Scanner) body(items []Item, b []byte) []Item {
	item, done := s.open.add(b)
	if done {
		s.open = nil
		items = append(items, item)
	}
	return items
}

// matters reports whether b would change the scanner's state or complete an item,
// other than by being one more line of something open.
func (s *Scanner) matters(b []byte) bool {
	switch {
	case s.open != nil:
		return closing(b, s.open.width) >= 0
	case s.code.open():
		in, closed := s.code.holds(b)
		if in || closed {
			return closed
		}
	}
	if len(b) == 0 || b[0]|0x20 >= 'a' && b[0]|0x20 <= 'z' {
		return false // as most lines do
	}
	if _, ok := opensCode(b); ok {
		return true
	}
	_, kind := marker(b)
	return kind != noMarker
}

// idle says that no fence is open.
func (s *Scanner) idle() bool { return s.open == nil && !s.code.open() }
