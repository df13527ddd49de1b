package draft

import (
	"strings"
	"sync"
	"time"
	"unicode"

	"relay-pty/inject/draft/keystroke"
)

const (
	// escapeRest is how long after a lone ESC what follows is a key of its own. A
	// terminal sends a sequence at once, even over a slow line.
	escapeRest = 200 * time.Millisecond
	// brokenRest is how long an unfinished sequence may rest. One that rests longer
	// was Alt and a key, as Alt-[, or its rest was lost.
	brokenRest = 2 * time.Second
	// screenRest is how long after the last key, and after it last showed text, a composer
	// that shows nothing of what was typed is believed: those keys went elsewhere, to a
	// dialog, say, or the agent paints later than that.
	screenRest = 3 * time.Second
	// tornFrame is how long a composer may be out of sight between two parts of what
	// the agent paints. One that stays away longer is behind something else.
	tornFrame = 200 * time.Millisecond
)

// Shadow follows one human at one terminal. It is safe for concurrent use: keys
// come from the terminal's reader, questions from the injector. The zero value
// follows a composer of many lines.
type Shadow struct {
	// Lines: the program reads single lines, as a shell does. Then Ctrl-J is
	// Enter, and a backslash before Enter is text.
	Lines bool
	// Chips are those of the agent's composer.
	Chips Chips
	// Begun reports whether lines that were sent wait for the rest of something; nil: none do.
	Begun func(text string) bool

	mu      sync.Mutex
	in      keystroke.Reader
	ed      editor
	begun   bool      // keys came since the last Enter
	unseen  time.Time // since when the composer is out of sight, see Away; zero: it is not
	shows   bool      // the composer shows text
	emptied time.Time // when it was first seen to show none any more
	typed   time.Time
	other   time.Time // the last key but Escape
	submit  time.Time
	sent    time.Time // the last Enter that sent text, as far as is known
	sleep   time.Time
	asleep  bool      // that Ctrl-Z is the last key
	last    time.Time // the last bytes of any kind
	lines   string    // sent, and the beginning of something; "": nothing is begun
	blind   bool      // a line could not be followed since
	front   bool      // what is typed goes to another program than the one that is followed
}

// State is the shadow at one moment.
type State struct {
	Text     string    // typed since the last Enter, as far as it can be followed; line ends are newlines
	Known    bool      // every key could be followed, so Text should be all of it
	AtEnd    bool      // the cursor is known to stand at its end
	Begun    bool      // keys of any kind came since the last Enter
	Boundary bool      // no key, character or paste is unfinished
	LastKey  time.Time // last typing, Enter included; zero: never
	Other    time.Time // last typing of anything but Escape; zero: never
	Enter    time.Time // last Enter; zero: never
	Sent     time.Time // last Enter that sent text, or may have; zero: never
	Suspend  time.Time // last Ctrl-Z; zero: never
	Middle   bool      // what was sent waits for its rest, which Text begins

	marked string // Text with marks around pastes that an agent may show as a chip
	loose  bool   // the last characters were blanks
	signs  Chips
}

// Input is what bytes of the human's terminal are.
type Input int

const (
	Typing  Input = iota // keys are among it, or a part of one
	Reports              // only what the terminal reports by itself: mouse, focus
	Answers              // only answers of the terminal to queries of the program's
)

// Becomes makes it follow another kind of program from now on.
func (s *Shadow) Becomes(lines bool, chips Chips, begun func(string) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Lines, s.Chips, s.Begun, s.lines = lines, chips, begun, ""
}

// Front takes note of whether another program has the terminal now: what is typed goes to that one.
func (s *Shadow) Front(another bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.front = another
}

// Ended says that nothing which was sent waits for its rest.
func (s *Shadow) Ended() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = ""
}

// maxBegun is how much of what is begun is followed.
const maxBegun = 1 << 16

// sends follows whether what is sent is the beginning of something. A line that could not be
// followed, as one out of a history, is taken for a whole one.
func (s *Shadow) sends(k keystroke.Key) {
	switch {
	case s.Begun == nil || !s.Lines || s.front:
	case k.Kind == keystroke.Interrupt, k.Kind == keystroke.EOF && len(s.ed.buf) == 0 && !s.ed.lost:
		s.lines = "" // Ctrl-D is the end of a here-document, and an error in a quote
	case k.Kind != keystroke.Enter || s.ed.lost && s.lines == "":
	case s.ed.lost:
		s.blind = true
	default:
		text, _ := s.ed.texts()
		s.blind = s.blind && s.lines != ""
		s.lines += text + "\n"
		if len(s.lines) > maxBegun || !s.Begun(s.lines) {
			s.lines = ""
		}
	}
}

// Keys takes bytes of the human's input, in any cutting, as they arrived at now, and says what
// they are.
func (s *Shadow) Keys(p []byte, now time.Time) Input {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endSequence(now)
	s.last = now
	is, clear := Answers, s.in.Clear()
	s.in.Feed(p, func(k keystroke.Key) {
		switch k.Kind {
		case keystroke.Answer:
		case keystroke.Report:
			is = min(is, Reports)
		default:
			is = Typing
		}
		s.take(k, now)
	})
	if s.in.Paste {
		s.typed, s.other, s.begun = now, now, true
	}
	if !clear || !s.in.Clear() {
		return Typing
	}
	return is
}

// endSequence decides what an unfinished sequence was, when nothing followed it.
func (s *Shadow) endSequence(now time.Time) {
	rest := brokenRest
	if s.in.Pending() {
		rest = escapeRest
	}
	if now.Sub(s.last) > rest {
		s.in.Rest(func(k keystroke.Key) { s.take(k, s.last) })
	}
}

func (s *Shadow) take(k keystroke.Key, now time.Time) {
	if k.Kind == keystroke.Report || k.Kind == keystroke.Answer {
		return
	}
	if s.Lines && k.Kind == keystroke.Newline {
		k.Kind = keystroke.Enter
	}
	s.typed, s.begun, s.ed.signs = now, true, s.Chips
	s.asleep = k.Kind == keystroke.Suspend
	if k.Kind != keystroke.Escape {
		s.other = now
	}
	switch k.Kind {
	case keystroke.Enter:
		s.submit, s.begun = now, false
	case keystroke.Suspend:
		s.sleep = now
	}
	if s.elsewhere(now) {
		return
	}
	s.sends(k)
	held := s.ed.lost || len(s.ed.buf) > 0
	switch goesOn := s.ed.apply(k, s.Lines, now); {
	case goesOn:
		s.begun = true // it was a new line, not the end
	case held && k.Kind == keystroke.Enter:
		s.sent = now
	}
}

// State is the shadow now. A sequence that is unfinished stays so.
func (s *Shadow) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state()
}

// At is State once what was unfinished at now has been decided: a key as Alt-[
// does not hold for ever.
func (s *Shadow) At(now time.Time) State {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endSequence(now)
	return s.state()
}

func (s *Shadow) state() State {
	st := State{
		Known: !s.ed.lost && !s.in.Paste, AtEnd: !s.ed.astray && s.ed.at == len(s.ed.buf),
		Begun: s.begun, Boundary: s.in.Boundary(),
		Middle: s.lines != "", LastKey: s.typed, Other: s.other, Enter: s.submit, Sent: s.sent, Suspend: s.sleep, loose: s.ed.loose > 0, signs: s.Chips,
	}
	st.Text, st.marked = s.ed.texts()
	if s.in.Pending() { // it counts as the Escape key already
		st.LastKey, st.Begun = s.last, true
		switch {
		case s.elsewhere(s.last):
		case s.Lines:
			st.Known = false
		case s.ed.escapes(s.last):
			st.Text, st.marked, st.Known, st.AtEnd = "", "", true, true
		}
	}
	return st
}

// Away reports whether the composer is out of sight at now. Keys that are typed when it
// has been away for longer than a torn frame go to something else, as a dialog, and
// do not reach the draft. Until then they are the draft's; what stands in the composer
// when it is back decides.
func (s *Shadow) Away(away bool, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !away:
		s.unseen = time.Time{}
	case s.unseen.IsZero():
		s.unseen = now
	}
}

// elsewhere reports whether keys of now go to something else than the composer.
func (s *Shadow) elsewhere(now time.Time) bool {
	return !s.unseen.IsZero() && now.Sub(s.unseen) >= tornFrame
}

// SetAside says that the draft was set aside and will come back with the cursor
// at its end, before any key from now on reaches it.
func (s *Shadow) SetAside() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ed.toEnd()
}

// Flushed says that the terminal threw away at now what it had of a line: all that was typed, if
// the last key is the Ctrl-Z for which it did. Of what was typed behind that key nobody knows how
// much was thrown away, so it stays, and so does what was before it.
func (s *Shadow) Flushed(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asleep && now.After(s.sleep) {
		s.ed.clear()
		s.asleep = false
	}
}

// Submitted says that a message which is not the human's was submitted, upon
// which a draft that the human had set aside comes back.
func (s *Shadow) Submitted() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ed.unstash()
}

// Width tells how many columns the terminal has. Keys that go to the start or
// the end of a line mean a row's in some editors: they are followed only in a
// line that fits. Without it 40 columns are assumed.
func (s *Shadow) Width(cols int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ed.cols = cols
}

// Seen says what the composer shows at now, all keys read and no dialog open:
// shown and whole as in State.Against. A composer that has shown nothing for
// seconds after the last key is empty, whatever the shadow says, unless only
// blanks were typed, which nobody sees. What it did not show is remembered, and is
// the draft again when it shows after all. Seen returns after how long to say so
// again, zero when that would change nothing.
func (s *Shadow) Seen(shown string, whole bool, now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	empty := squeeze(shown) == ""
	if s.shows && empty {
		s.emptied = now
	}
	s.shows = !empty
	if !s.in.Boundary() {
		return 0
	}
	st := s.state()
	verdict, chips := st.compare(shown, whole)
	if verdict == Uncertain && !empty && s.ed.late != nil {
		verdict, chips = s.comesLate(shown, whole)
	}
	switch {
	case verdict == Agreed && whole:
		s.ed.resolve(chips)
		return 0
	case verdict != Uncertain, !whole, !empty, st.Blank():
		return 0
	}
	last := st.LastKey
	if s.emptied.After(last) {
		last = s.emptied
	}
	if left := screenRest - now.Sub(last); left > 0 {
		return left
	}
	s.ed.hide()
	return 0
}

// comesLate tries whether the composer shows what it did not show in time, and what
// was typed since; if so, that is the draft.
func (s *Shadow) comesLate(shown string, whole bool) (Agreement, []bool) {
	was := s.ed
	s.ed.show()
	verdict, chips := s.state().compare(shown, whole)
	if verdict != Agreed {
		s.ed = was
	}
	return verdict, chips
}

// trace is how many characters of the shadow must stand before the cursor.
const trace = 12

// Shown reports whether the end of the shadow's text stands at the end of before,
// the screen's text up to the cursor. Blanks are not compared: wrapping and
// prompts' padding change them.
func (s State) Shown(before string) bool {
	tail := s.Text
	if n := len(tail) - 64*trace; n > 0 {
		tail = tail[n:]
	}
	want := squeeze(tail)
	if want == "" {
		return false
	}
	if r := []rune(want); len(r) > trace {
		want = string(r[len(r)-trace:])
	}
	return strings.HasSuffix(squeeze(before), want)
}

// Stands reports whether the end of the line that was sent last, and begins something, may stand at
// the end of above, what is right above the cursor: so it does where only a prompt came behind it.
func (s *Shadow) Stands(above string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := strings.TrimSuffix(s.lines, "\n")
	last := lines[strings.LastIndexByte(lines, '\n')+1:]
	return s.blind || squeeze(last) == "" || State{Text: last}.Shown(above)
}

// squeeze drops all that does not show by itself: white space, controls, and the
// characters that only join or choose the looks of others.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsControl(r) || r >= 0x200b && r <= 0x200f || r >= 0xfe00 && r <= 0xfe0f {
			return -1
		}
		return r
	}, s)
}
