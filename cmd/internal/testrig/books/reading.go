package books

import "strings"

const (
	pasteOpen  = "\x1b[200~"
	pasteClose = "\x1b[201~"
	opening    = "[relay "
	enters     = "\r\t" // what submits in a composer; some take Tab while they are busy
)

// scan reads the text of one life, or of one turn of it, from its beginning to its end.
type scan struct {
	c    *checker
	a    *agent
	book *Reading
	text string
	at   int
	turn bool // of a composer, what it took: no keys, no Enter

	pasting bool
	draft   bool // keys of the human stand there unsent
	next    int  // of the human's words
	lost    bool // one of them was not the one to come; told once
}

// read checks one life.
func (c *checker) read(a *agent, book *Reading) {
	s := &scan{c: c, a: a, book: book, text: string(book.Bytes)}
	turns := s.all()
	if !book.Killed && s.next < len(s.words()) && !s.lost {
		s.found("I9", "", "the human's %s never came", s.words()[s.next])
	}
	if book.Line {
		s.lines()
		return
	}
	s.submitted(turns)
}

func (s *scan) words() []string { return s.a.words[s.book.Life] }

func (s *scan) found(invariant, id, format string, args ...any) {
	args = append(args, s.book.Life, s.at)
	s.c.found(invariant, s.a.name, id, format+" (life %d, byte %d)", args...)
}

func (s *scan) rest() string { return s.text[s.at:] }
func (s *scan) over() bool   { return s.at == len(s.text) }

// cut says whether the end of the text is where a kill has cut it.
func (s *scan) cut() bool { return s.over() && s.book.Killed && !s.turn }

func (s *scan) raw() bool { return !s.book.Line && !s.turn }

// all reads everything, and returns the turns.
func (s *scan) all() []typed {
	var turns []typed
	for !s.over() {
		c := s.text[s.at]
		switch {
		case s.bracket():
		case s.raw() && s.book.Killed && strings.HasPrefix(pasteOpen[1:], s.rest()): // cut behind two Escs, of which the second is not the bracket's
			s.at = len(s.text)
		case c == '[':
			turns = append(turns, s.messages())
		case upper(c):
			s.word()
		case c == ' ':
			s.draft = true
			s.at++
		case c == '\n' && !s.raw():
			s.newline()
		case s.raw() && s.key():
		default:
			s.foreign()
		}
	}
	return turns
}

// typed is messages that were typed as one turn.
type typed struct {
	messages []*message
	passages []passage
	entered  bool
	back     bool
}

// messages reads messages up to what submits them.
func (s *scan) messages() typed {
	if s.draft {
		s.found("I8", "", "a message follows the human's draft")
		s.draft = false
	}
	var t typed
	for {
		m, p := s.message()
		if m == nil {
			break
		}
		more := p.whole && s.another()
		switch {
		case more && s.book.Line:
			p.taken = true
		case !more:
			t.entered, t.back = s.ending(m)
			p.taken = s.book.Line && p.whole && t.entered
		}
		t.messages, t.passages = append(t.messages, m), append(t.passages, p)
		if !more {
			break
		}
	}
	for i, m := range t.messages {
		p := &t.passages[i]
		p.back = t.back
		if !s.turn {
			s.note(m, *p)
		}
	}
	return t
}

// note enters where a message stands.
func (s *scan) note(m *message, p passage) {
	m.passages = append(m.passages, p)
	if p.taken {
		s.a.taken = append(s.a.taken, taking{m, p})
	}
}

// message reads one message; nil when it is none that was sent, or too little of it.
func (s *scan) message() (*message, passage) {
	p := passage{life: s.book.Life}
	start := s.at
	if !s.take(opening, "") {
		s.broken("", start)
		return nil, p
	}
	id := s.text[s.at : s.at+idLen(s.rest())]
	m := s.c.ids[id]
	if m == nil || s.at+len(id) == len(s.text) {
		s.unknown(id)
		return nil, p
	}
	if m.Agent != s.a.name {
		s.found("I2", id, "it was sent to %s", m.Agent)
	}
	s.at += len(id)
	if !s.take(" from "+m.From, id) || !s.marks(&p) {
		s.broken(id, start)
		return nil, p
	}
	p.whole = s.take(" ", id) && s.take(content(m.Body), id) &&
		s.take("\n[end "+id+" · reply: ->relay:"+m.From+" [re="+id+"] <<<…>>>]", id)
	if !p.whole {
		s.broken(id, start)
	}
	return m, p
}

// idLen is how long the id is that text begins with.
func idLen(text string) int {
	n := strings.IndexFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f || upper(byte(r)) })
	if n < 0 {
		return len(text)
	}
	return n
}

func (s *scan) unknown(id string) {
	if s.at += len(id); s.cut() || s.raw() && s.clears() {
		return
	}
	s.found("I7", clip(id), "nobody sent a message of this id")
	s.skip()
}

// marks reads the header from the sender to its end.
func (s *scan) marks(p *passage) bool {
	text, _, closed := strings.Cut(s.rest(), "]")
	if !closed && s.book.Killed && !s.turn {
		s.at = len(s.text)
		return false
	}
	rest := text
	if rest, p.marked = strings.CutPrefix(rest, " · redelivery"); rest == "" || aged(rest) {
		s.at += len(text)
	}
	return s.take("]", "")
}

// aged says whether text tells an age, as " · 12m old".
func aged(text string) bool {
	text, of := strings.CutPrefix(text, " · ")
	text, old := strings.CutSuffix(text, " old")
	n := len(text) - 1
	return of && old && n > 0 && strings.Trim(text[:n], "0123456789") == "" && strings.IndexByte("mhd", text[n]) >= 0
}

// take reads what is wanted, in which parts may be pasted. Keys of the human in it are
// told and passed over.
func (s *scan) take(want, id string) bool {
	for {
		if strings.HasPrefix(s.rest(), want) {
			s.at += len(want)
			return true
		}
		n := 0
		for n < len(want) && s.at+n < len(s.text) && s.text[s.at+n] == want[n] {
			n++
		}
		s.at += n
		if want = want[n:]; !s.bracket() && !s.intruder(id) {
			return false
		}
	}
}

// intruder passes over keys of the human inside a message.
func (s *scan) intruder(id string) bool {
	if s.over() {
		return false
	}
	switch c := s.text[s.at]; {
	case upper(c):
		s.found("I8", id, "the human's keys are inside it")
		s.word()
		if !s.over() && strings.IndexByte(" \r\n", s.text[s.at]) >= 0 {
			s.at++
		}
	case s.raw() && s.reply() > 0:
		s.found("I8", id, "an answer of the terminal is inside it")
		s.at += s.reply()
	default:
		return false
	}
	return true
}

// broken passes over the rest of what began as a message.
func (s *scan) broken(id string, start int) {
	switch {
	case s.cut():
	case s.raw() && s.clears():
	case s.over():
		s.found("I10", id, "it was not typed to its end: %q", clip(s.text[start:]))
	default:
		s.found("I7", id, "what was typed is not what was sent%s: %q", s.proof(id, start), clip(s.rest()))
		s.skip()
	}
}

// proof tells whether the body that was read in place of another one proves itself.
func (s *scan) proof(id string, start int) string {
	read, _, whole := strings.Cut(s.text[start:], "\n[end "+id+" ")
	if _, body, ok := strings.Cut(read, "] "); whole && ok && proven(body) {
		return ", though its sum is right"
	}
	return ""
}

// skip passes over what cannot be read, to where something may begin.
func (s *scan) skip() {
	for s.at++; !s.over() && !strings.HasPrefix(s.rest(), opening) && strings.IndexByte("\n\r", s.text[s.at]) < 0; s.at++ {
	}
}

// another says whether another message of the same turn follows, and passes over what is
// between them.
func (s *scan) another() bool {
	was, blank := *s, 0
	for s.brackets(); blank < 2 && strings.HasPrefix(s.rest(), "\n"); s.brackets() {
		s.at++
		blank++
	}
	if blank == 2 && strings.HasPrefix(s.rest(), opening) {
		return true
	}
	if s.book.Killed && strings.HasPrefix(opening, s.rest()) {
		s.at = len(s.text)
	}
	if !s.raw() || !s.clears() && !s.cut() { // nothing but what separates them was typed
		s.at, s.pasting = was.at, was.pasting
	}
	return false
}

// ending reads what follows the last message of a turn, and says whether it was submitted,
// or taken back.
func (s *scan) ending(m *message) (entered, back bool) {
	if s.turn {
		if !s.over() {
			s.found("I7", m.ID, "it was submitted with more behind it: %q", clip(s.rest()))
			s.at = len(s.text)
		}
		return true, false
	}
	submits := enters
	if s.book.Line {
		submits = "\n"
	}
	for {
		s.brackets()
		switch {
		case s.over():
			if !s.cut() {
				s.found("I10", m.ID, "it was typed and not submitted")
			}
			return false, false
		case s.pasting:
			s.found("I10", m.ID, "its paste was not closed")
			s.pasting = false
		case strings.IndexByte(submits, s.text[s.at]) >= 0:
			s.at++
			return true, s.raw() && s.clears()
		case s.raw() && s.clears():
			return false, true
		case s.text[s.at] == ' ':
			s.at++
			s.found("I8", m.ID, "the human's blank is between it and its Enter")
		case upper(s.text[s.at]):
			s.found("I8", m.ID, "the human's keys are between it and its Enter")
			s.word()
			s.draft = false
		case s.raw() && s.reply() > 0:
			s.found("I8", m.ID, "an answer of the terminal is between it and its Enter")
			s.at += s.reply()
		default:
			s.found("I10", m.ID, "no Enter follows it, but %q", clip(s.rest()))
			s.skip()
			return false, false
		}
	}
}

func clip(text string) string {
	if len(text) > 60 {
		return text[:60] + "…"
	}
	return text
}
