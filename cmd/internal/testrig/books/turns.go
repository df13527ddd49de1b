package books

import (
	"slices"
	"strings"
)

// lines holds what a line program took against what it read, if its lines are told.
func (s *scan) lines() {
	if s.book.Turns == nil {
		return
	}
	rest := string(s.book.Bytes)
	for _, line := range s.book.Turns {
		after, ok := strings.CutPrefix(rest, line)
		if next, whole := strings.CutPrefix(after, "\n"); ok && (whole || after == "") {
			rest = next
			continue
		}
		s.found("I2", "", "the agent took the line %q, and read %q", clip(line), clip(rest))
		return
	}
	if rest != "" && !s.book.Killed {
		s.found("I10", "", "the agent read %q and did not take it", clip(rest))
	}
}

// submitted holds what a composer took against what was typed.
func (s *scan) submitted(turns []typed) {
	var words int // of the human's, up to the last that was taken
	for _, text := range s.book.Turns {
		if strings.HasPrefix(text, opening) {
			part := &scan{c: s.c, a: s.a, book: s.book, text: text, turn: true}
			turns = s.match(part.messages(), turns)
			continue
		}
		words += s.taken(text, words)
	}
	for i, t := range turns {
		if last := i == len(turns)-1 && s.book.Killed; !t.back && !last {
			s.untaken(t)
		}
	}
}

// taken holds a turn of the human's against the words that follow the first so many, and
// returns how many it went on.
func (s *scan) taken(text string, words int) (on int) {
	if strings.Contains(text, opening) {
		s.found("I8", "", "the human's draft was sent with a message: %q", clip(text))
		return 0
	}
	for word := range strings.FieldsSeq(text) {
		at := slices.Index(s.words()[words+on:], word)
		if at < 0 {
			s.found("I9", "", "the agent took %q, which the human did not type, or not then", clip(word))
			break
		}
		on += at + 1
	}
	return on
}

// match takes a turn from those that were typed, which come in the same order.
func (s *scan) match(t typed, turns []typed) []typed {
	at := slices.IndexFunc(turns, func(o typed) bool { return o.entered && !o.back && o.same(t) })
	if at < 0 { // the keys that seem to take it back may be the human's
		at = slices.IndexFunc(turns, func(o typed) bool { return o.entered && o.same(t) })
	}
	for i, m := range t.messages {
		p := t.passages[i]
		p.taken = p.whole
		s.note(m, p)
	}
	if len(t.messages) == 0 {
		return turns
	}
	if at < 0 {
		if at = slices.IndexFunc(turns, t.same); at >= 0 {
			s.found("I10", t.messages[0].ID, "the agent took it, and no Enter was typed")
		}
	}
	if at < 0 {
		s.found("I7", t.messages[0].ID, "the agent took a turn that was not typed")
		return turns
	}
	for _, o := range turns[:at] {
		if !o.back {
			s.untaken(o)
		}
	}
	return turns[at+1:]
}

// same says whether two turns are of the same messages, marked alike.
func (t typed) same(o typed) bool {
	return slices.Equal(t.messages, o.messages) &&
		slices.EqualFunc(t.passages, o.passages, func(x, y passage) bool { return x.marked == y.marked })
}

func (s *scan) untaken(t typed) {
	if len(t.messages) > 0 {
		s.found("I10", t.messages[0].ID, "it was typed, and the agent took no such turn")
	}
}
