// Package draft keeps the shadow of what the human has typed and not sent. It
// reads the human's own keystrokes; the screen confirms or refutes it. Mouse,
// focus, the terminal's answers to queries and key releases are not typing.
package draft

import (
	"strings"
	"sync"
	"time"
	"unicode"
)

// maxText is how many characters of a draft the shadow remembers.
const maxText = 4096

// escapeRest is how long after a lone ESC what follows is a key of its own. A
// terminal sends a sequence at once, even over a slow line.
const escapeRest = 200 * time.Millisecond

// Shadow follows one human at one terminal. It is safe for concurrent use: keys
// come from the terminal's reader, questions from the injector.
type Shadow struct {
	mu     sync.Mutex
	in     reader
	text   []rune
	begun  bool // keys came since the last Enter
	typed  time.Time
	submit time.Time
	sleep  time.Time
	last   time.Time // the last bytes of any kind
}

// State is the shadow at one moment.
type State struct {
	Text     string    // typed since the last Enter, as far as it can be followed
	Begun    bool      // keys of any kind came since the last Enter
	Boundary bool      // no key, character or paste is unfinished
	LastKey  time.Time // last typing, Enter included; zero: never
	Enter    time.Time // last Enter; zero: never
	Suspend  time.Time // last Ctrl-Z; zero: never
}

// Keys takes bytes of the human's input, in any cutting, as they arrived at now.
func (s *Shadow) Keys(p []byte, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	take := func(k key) {
		if k.kind == report {
			return
		}
		s.typed, s.begun = now, k.kind != enter
		s.apply(k, now)
	}
	if now.Sub(s.last) > escapeRest {
		s.in.rest(take)
	}
	s.last = now
	s.in.feed(p, take)
	if !s.in.boundary() && s.in.paste {
		s.typed, s.begun = now, true
	}
}

func (s *Shadow) apply(k key, now time.Time) {
	switch k.kind {
	case text, pasted:
		if len(s.text) < maxText {
			s.text = append(s.text, k.r)
		}
	case enter:
		s.text, s.submit = s.text[:0], now
	case discard:
		s.text = s.text[:0]
	case erase:
		if len(s.text) > 0 {
			s.text = s.text[:len(s.text)-1]
		}
	case eraseWord:
		s.text = []rune(strings.TrimRightFunc(cutWord(string(s.text)), unicode.IsControl))
	case suspend:
		s.sleep = now
	}
}

// cutWord drops the last word and the blanks after it.
func cutWord(t string) string {
	t = strings.TrimRightFunc(t, unicode.IsSpace)
	if i := strings.LastIndexFunc(t, unicode.IsSpace); i >= 0 {
		return t[:i+1]
	}
	return ""
}

// State is the shadow now.
func (s *Shadow) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return State{
		Text: string(s.text), Begun: s.begun, Boundary: s.in.boundary(),
		LastKey: s.typed, Enter: s.submit, Suspend: s.sleep,
	}
}

// trace is how many characters of the shadow must stand before the cursor.
const trace = 12

// Shown says whether the end of the shadow's text stands at the end of before,
// the screen's text up to the cursor. Blanks are not compared: wrapping and
// prompts' padding change them.
func (st State) Shown(before string) bool {
	want := squeeze(st.Text)
	if want == "" {
		return false
	}
	if r := []rune(want); len(r) > trace {
		want = string(r[len(r)-trace:])
	}
	return strings.HasSuffix(squeeze(before), want)
}

// squeeze drops all white space and control characters.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
}
