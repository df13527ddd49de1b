package books

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

const (
	opening = "[relay "
	maxLead = 300 // bytes of a header or a key; those of storms are far shorter
)

var (
	header = regexp.MustCompile(`^\[relay ([^\sA-Z]+) from [^\sA-Z]+?(( · redelivery)?(?: · \d+[mhd] old)?)\]`)
	begun  = regexp.MustCompile(`^[^\]\nA-Z[:cntrl:]]*`) // of a header
	human  = regexp.MustCompile(`^[A-Z]+`)
	alien  = regexp.MustCompile(`^.[^A-Z\[[:cntrl:]]*`)
)

// reader reads the text of one life, or one turn that a composer took.
type reader struct {
	c     *checker
	a     *agent
	life  int
	line  bool // of a line program
	turn  bool // it is what a composer took
	enter string
	// killed is whether a kill may have cut the text short.
	killed bool

	text  string // what is left of it
	size  int    // of all
	draft bool   // keys of the human stand there unsent
	words []string
	next  int    // of the human's words
	begun string // of that word, where the draft that ends with it was put aside in its middle
	lost  bool   // one of them was not the one to come; told once
}

// typed is messages that were typed as one turn.
type typed struct {
	all     []taking
	entered bool
	back    bool
}

// read checks one life.
func (c *checker) read(a *agent, book *Reading) {
	r := &reader{c: c, a: a, life: book.Life, line: book.Line, killed: book.Killed, words: a.words[book.Life], enter: enter}
	if r.text = string(book.Bytes); r.line {
		r.enter = "\n"
	} else {
		r.text = r.plain(r.text)
	}
	r.size = len(r.text)
	turns := r.all()
	if !r.killed && r.next < len(r.words) && !r.lost {
		r.found("I9", "", "the human's %s never came", r.words[r.next])
	}
	if !r.line {
		r.submitted(book.Turns, turns)
	}
}

func (r *reader) found(invariant, id, format string, args ...any) {
	args = append(args, r.life, r.size-len(r.text), clip(r.text))
	r.c.found(invariant, r.a.name, id, format+" (life %d, byte %d, before %q)", args...)
}

// take passes over a beginning of the text.
func (r *reader) take(begin string) (found bool) {
	r.text, found = strings.CutPrefix(r.text, begin)
	return found
}

// begins says what the text begins with, if anything of those.
func (r *reader) begins(any string) bool {
	return r.text != "" && strings.Contains(any, r.text[:1])
}

// typing reports whether a word of the human's begins here.
func (r *reader) typing() bool { return human.MatchString(r.text[:min(1, len(r.text))]) }

// cut reports whether the text ends where a kill has cut it.
func (r *reader) cut() bool { return r.text == "" && r.killed }

// all reads everything, and returns the turns.
func (r *reader) all() []typed {
	var turns []typed
	for r.text != "" {
		switch {
		case r.begins("["):
			turns = append(turns, r.messages())
		case r.typing():
			r.word()
		case r.take(" "):
			r.draft = true
		case r.take(r.enter):
			if r.line && !r.draft && !r.cut() {
				r.found("I7", "", "an empty line that nobody typed")
			}
			if r.draft = false; r.begun != "" {
				r.found("I9", "", "the rest of the human's %s… never came", r.begun)
				r.begun = ""
			}
		case !r.line && (r.take(empties) || r.take(aside)):
			r.draft = false
		case !r.line && (r.take(other) || r.take("\n")):
		default:
			nobodys := alien.FindString(r.text)
			r.found("I7", "", "nobody wrote %q", clip(nobodys))
			r.text = r.text[max(1, len(nobodys)):]
		}
	}
	return turns
}

// word reads a word of the human's, which must be the next one.
func (r *reader) word() {
	keys := human.FindString(r.text)
	r.take(keys)
	r.draft = true
	word, left := r.begun+keys, r.words[r.next:]
	r.begun = ""
	switch at := slices.Index(left[:min(len(left), 1000)], word); {
	case at < 0 && !r.line && r.begins(aside) && len(left) > 0 && strings.HasPrefix(left[0], word):
		r.begun = word // whoever types waited so long that an urgent message came first
	case at == 0, r.cut() && len(left) > 0 && strings.HasPrefix(left[0], word):
		r.next++
	case r.lost:
	default:
		r.lost = true
		r.found("I9", "", "the human's word %s is none that was typed, or not the next one", clip(word))
		r.next += max(at, -1) + 1
	}
}

// messages reads messages up to what submits them.
func (r *reader) messages() (t typed) {
	if r.draft {
		r.found("I8", "", "a message follows the human's draft")
		r.draft = false
	}
	for more := true; more; {
		m, p := r.message()
		if m == nil {
			t.back = !r.line && r.begins(empties)
			break
		}
		if more = p.whole && r.another(); !more {
			t.entered, t.back = r.ending(m)
		}
		p.taken = p.whole && (r.line || r.turn) && (more || t.entered)
		t.all = append(t.all, taking{m, p})
	}
	for _, m := range t.all {
		m.back = t.back
		m.passages = append(m.passages, m.passage)
		if m.taken {
			r.a.taken = append(r.a.taken, m)
		}
	}
	return t
}

// message reads one message; nil when it is none that was sent, or too little of it.
func (r *reader) message() (*message, passage) {
	p := passage{life: r.life}
	h := header.FindStringSubmatch(r.text[:min(len(r.text), maxLead)])
	if h == nil {
		r.take(begun.FindString(r.text))
		r.broken("")
		return nil, p
	}
	m := r.c.ids[h[1]]
	if m == nil {
		r.found("I7", clip(h[1]), "nobody sent a message of this id")
		r.skip()
		return nil, p
	}
	if m.Agent != r.a.name {
		r.found("I2", m.ID, "it was sent to %s", m.Agent)
	}
	p.marked = h[3] != ""
	want := opening + m.ID + " from " + m.From + h[2] + "] " + content(m.Body) +
		"\n[end " + m.ID + " · reply: ->relay:" + m.From + " [re=" + m.ID + "] <<<…>>>]"
	if p.whole = r.take(want); !p.whole {
		r.take(want[:common(want, r.text)])
		r.broken(m.ID)
	}
	return m, p
}

// common is how far two texts are the same.
func common(a, b string) int {
	for n := range min(len(a), len(b)) {
		if a[n] != b[n] {
			return n
		}
	}
	return min(len(a), len(b))
}

// broken tells what ended a message before its end, and passes over what belongs to it.
func (r *reader) broken(id string) {
	switch {
	case r.cut() || !r.line && r.begins(empties):
		return
	case r.text == "":
		r.found("I10", id, "it was not typed to its end")
	case r.typing():
		r.found("I8", id, "the human's keys are inside it")
		r.word()
	case r.begins(other):
		r.found("I8", id, "an answer of the terminal is inside it")
	default:
		r.found("I7", id, "what was typed is not what was sent")
	}
	r.skip()
}

// skip passes over what cannot be read, to where something may begin.
func (r *reader) skip() {
	n := strings.Index(r.text, r.enter)
	if at := strings.Index(r.text[min(1, len(r.text)):], opening); at >= 0 && (n < 0 || at < n) {
		n = at + 1
	}
	if n < 0 {
		n = len(r.text)
	}
	r.text = r.text[n:]
}

// another reports whether another message of the same turn follows, and passes over what is
// between them.
func (r *reader) another() bool {
	if strings.HasPrefix(r.text, "\n\n"+opening) {
		return r.take("\n\n")
	}
	switch rest := strings.TrimLeft(r.text, "\n"); { // where nothing but what separates them was typed
	case r.line:
	case strings.HasPrefix(rest, empties):
		r.text = rest
	case r.killed && strings.HasPrefix(opening, rest):
		r.text = ""
	}
	return false
}

// ending reads what follows the last message of a turn, and reports whether it was submitted,
// or taken back.
func (r *reader) ending(m *message) (entered, back bool) {
	switch {
	case r.take(r.enter):
		return true, !r.line && r.begins(empties)
	case !r.line && r.begins(empties):
		return false, true
	case r.cut():
	case r.text == "":
		r.found("I10", m.ID, "it was typed and not submitted")
	case r.turn:
		r.found("I7", m.ID, "it was submitted with more behind it")
		r.text = ""
	case r.begins(" ") || r.typing():
		r.found("I8", m.ID, "the human's keys are between it and its Enter")
	case r.begins(other):
		r.found("I8", m.ID, "an answer of the terminal is between it and its Enter")
	default:
		r.found("I10", m.ID, "no Enter follows it")
		r.skip()
	}
	return false, false
}

// submitted holds what a composer took against what was typed.
func (r *reader) submitted(taken []string, turns []typed) {
	words := r.words // of the human's, behind the last that was taken
	for _, text := range taken {
		if !strings.HasPrefix(text, opening) {
			words = r.own(text, words)
			continue
		}
		turn := &reader{c: r.c, a: r.a, life: r.life, turn: true, enter: enter, text: text + enter, size: len(text) + 1}
		turns = r.match(turn.messages(), turns)
	}
	if r.killed && len(turns) > 0 {
		turns = turns[:len(turns)-1]
	}
	r.untaken(turns)
}

// own holds a turn of the human's against the words that were typed, and returns those that
// follow.
func (r *reader) own(text string, words []string) []string {
	if strings.Contains(text, opening) {
		r.found("I8", "", "the human's draft was sent with a message: %q", clip(text))
		return words
	}
	for word := range strings.FieldsSeq(text) {
		at := slices.Index(words, word)
		if at < 0 {
			r.found("I9", "", "the agent took %q, which the human did not type, or not then", clip(word))
			break
		}
		words = words[at+1:]
	}
	return words
}

// match takes a turn from those that were typed, which come in the same order.
func (r *reader) match(t typed, turns []typed) []typed {
	if len(t.all) == 0 {
		return turns
	}
	id := t.all[0].ID
	at := slices.IndexFunc(turns, func(o typed) bool { return o.entered && !o.back && o.same(t) })
	if at < 0 { // the keys that seem to take it back may be the human's
		at = slices.IndexFunc(turns, func(o typed) bool { return o.entered && o.same(t) })
	}
	if at < 0 {
		if at = slices.IndexFunc(turns, t.same); at >= 0 {
			r.found("I10", id, "the agent took it, and no Enter was typed")
		}
	}
	if at < 0 {
		r.found("I7", id, "the agent took a turn that was not typed")
		return turns
	}
	r.untaken(turns[:at])
	return turns[at+1:]
}

// same reports whether two turns are of the same messages, marked alike.
func (t typed) same(o typed) bool {
	return slices.EqualFunc(t.all, o.all, func(x, y taking) bool { return x.message == y.message && x.marked == y.marked })
}

func (r *reader) untaken(turns []typed) {
	for _, t := range turns {
		if len(t.all) > 0 && !t.back {
			r.found("I10", t.all[0].ID, "it was typed, and the agent took no such turn")
		}
	}
}

func clip(text string) string {
	if len(text) > 60 {
		return text[:60] + "…"
	}
	return text
}

var (
	forged  = regexp.MustCompile(`(?m)^ {0,3}\[(relay|end) `)
	dropped = func(r rune) rune {
		if r != '\n' && unicode.IsControl(r) {
			return -1
		}
		return r
	}
)

// content is a body as an agent must read it: no control characters but newlines, a tab
// as four blanks, and a line that looks like a header or a footer indented by four.
func content(body string) string {
	body = strings.Map(dropped, strings.ReplaceAll(body, "\t", "    "))
	if !strings.Contains(body, "[") {
		return body
	}
	return forged.ReplaceAllString(body, "    $0")
}
