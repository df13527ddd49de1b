package draft

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Agreement is what the shadow and the screen say together.
type Agreement int

const (
	// Uncertain: they disagree, or the shadow could not follow. Nobody knows what
	// stands there, so nothing may be typed beside it or set aside.
	Uncertain Agreement = iota
	// Empty: nothing is typed and nothing shows.
	Empty
	// Agreed: what shows is what was typed.
	Agreed
)

// Marks around a paste that may be shown as a chip. They are never typed: see insert.
const (
	openPaste  = '\U0010fff0'
	closePaste = '\U0010fff1'
)

// Chips are the signs that an agent's composer shows in the place of a long paste and of a
// picture's file, as [Pasted text #1 +36 lines] and [Image #1]. The zero Chips are none.
type Chips struct {
	Paste string // how that of a paste begins
	Image string // how that of a picture begins
	Bytes int    // a paste of so many, or with a newline, may be shown as one

	// ByColumn: the agent looks for a chip in the text at the column at which it shows, so what
	// stands before it must take one column a character, or the agent cuts the text elsewhere.
	ByColumn bool
}

// May reports whether a paste of the text may be shown as a chip.
func (c Chips) May(text string) bool {
	return c != (Chips{}) && (len(text) >= c.Bytes || strings.Contains(text, "\n"))
}

// Misplaces reports whether the agent would put a chip that is shown behind the text elsewhere.
func (c Chips) Misplaces(text string) bool {
	return c.ByColumn && strings.ContainsFunc(text, func(r rune) bool { return r >= firstCombining })
}

// firstCombining is the first character that may take another number of columns than one.
const firstCombining = 0x300

// maxChips bounds the pastes of one draft that may be chips.
const maxChips = 12

// Against compares the shadow with shown, the text of the composer on the
// screen without its prompt, a placeholder or ghost text. whole says that no row
// of it is out of view. White space is not compared: rows wrap, tabs become
// blanks. In the place of a paste there may stand one of the agent's [Chips]; the
// figures that it tells must be the paste's.
func (s State) Against(shown string, whole bool) Agreement {
	verdict, _ := s.compare(shown, whole)
	return verdict
}

// Blank reports whether the draft is, or may be, of blanks and newlines alone, which
// no screen shows.
func (s State) Blank() bool {
	if !s.Known {
		return s.loose
	}
	return s.Text != "" && squeeze(s.Text) == ""
}

// MayHold reports whether there may be a draft: something was typed, or keys came that could not
// be followed, and nothing is known to have emptied the composer since.
func (s State) MayHold() bool { return !s.Known || s.Text != "" }

// compare also tells, when the whole text agrees, which pastes show as chips.
func (s State) compare(shown string, whole bool) (Agreement, []bool) {
	seen := squeeze(shown)
	switch {
	case !s.Known:
		return Uncertain, nil
	case s.Text == "" && seen == "" && whole:
		return Empty, nil
	case s.Text == "" || seen == "":
		return Uncertain, nil
	}
	m := split(s.marked)
	if len(m.pastes) > maxChips {
		return Uncertain, nil
	}
	m.shown, m.signs = seen, s.signs
	if whole {
		if m.from(0, 0) {
			return Agreed, m.chips
		}
	} else if m.window() {
		return Agreed, nil
	}
	return Uncertain, nil
}

// match holds the typed text, squeezed, cut at the pastes that may be chips.
type match struct {
	texts  []string // one more than pastes
	pastes []paste
	chips  []bool // how the pastes of a whole match show
	signs  Chips
	shown  string
	part   bool // shown may end anywhere
}

type paste struct {
	text         string // squeezed
	lines, chars int
}

func split(marked string) *match {
	m := &match{}
	for {
		before, rest, found := strings.Cut(marked, string(openPaste))
		m.texts = append(m.texts, squeeze(before))
		if !found {
			m.chips = make([]bool, len(m.pastes))
			return m
		}
		var p string
		p, marked, _ = strings.Cut(rest, string(closePaste))
		m.pastes = append(m.pastes, paste{squeeze(p), strings.Count(p, "\n"), utf8.RuneCountInString(p)})
	}
}

// from reports whether shown from pos is texts[i] and what follows it.
func (m *match) from(pos, i int) bool {
	pos, over, ok := m.eat(pos, m.texts[i])
	if !ok || over {
		return ok
	}
	if i == len(m.pastes) {
		return pos == len(m.shown)
	}
	if n := m.pastes[i].chip(m.shown[pos:], m.signs); n > 0 {
		m.chips[i] = true
		if m.from(pos+n, i+1) {
			return true
		}
	}
	m.chips[i] = false
	pos, over, ok = m.eat(pos, m.pastes[i].text)
	return ok && (over || m.from(pos, i+1))
}

// eat takes want from shown; over says that a shown part ended within it.
func (m *match) eat(pos int, want string) (next int, over, ok bool) {
	rest := m.shown[pos:]
	if m.part && len(rest) <= len(want) {
		return len(m.shown), true, strings.HasPrefix(want, rest)
	}
	return pos + len(want), false, strings.HasPrefix(rest, want)
}

// window reports whether shown is a part of the text, long enough to be told from
// another part.
func (m *match) window() bool {
	if utf8.RuneCountInString(m.shown) < trace {
		return false
	}
	m.part = true
	before := "" // all in full, up to the paste that may be the first chip
	for i, p := range m.pastes {
		before += m.texts[i]
		if at := strings.Index(m.shown, m.signs.Paste); at >= 0 && m.signs.Paste != "" {
			if n := p.chip(m.shown[at:], m.signs); n > 0 && strings.HasSuffix(before, m.shown[:at]) && m.from(at+n, i+1) {
				return true
			}
		}
		before += p.text
	}
	return strings.Contains(before+m.texts[len(m.pastes)], m.shown)
}

// maxChip is the length of the longest chip in bytes, squeezed.
const maxChip = 64

// chip is the length of the chip at the start of s that may stand for the
// paste; 0 is none.
func (p paste) chip(s string, signs Chips) int {
	if signs == (Chips{}) {
		return 0
	}
	end := strings.IndexByte(s[:min(len(s), maxChip)], ']')
	if end < 0 {
		return 0
	}
	s = s[:end]
	switch {
	case strings.HasPrefix(s, signs.Image), imageFile(s[1:]):
		if !imageFile(p.text) {
			return 0
		}
	case !strings.HasPrefix(s, signs.Paste):
		return 0
	}
	if n, ok := figure(s, "line"); ok && n != p.lines && n != p.lines+1 { // newlines, or lines
		return 0
	}
	if n, ok := figure(s, "char"); ok && n != p.chars {
		return 0
	}
	return end + 1
}

// figure is the number before the word.
func figure(s, word string) (n int, ok bool) {
	s, _, ok = strings.Cut(s, word)
	if !ok {
		return 0, false
	}
	digits := len(s)
	for digits > 0 && s[digits-1] >= '0' && s[digits-1] <= '9' {
		digits--
	}
	n, err := strconv.Atoi(s[digits:])
	return n, err == nil
}

// imageFile reports whether a text is the name of a picture, which agents attach.
func imageFile(s string) bool {
	s = strings.ToLower(strings.Trim(strings.TrimSpace(s), `'"`))
	for _, ext := range []string{".png", ".jpg", ".jpeg", ".gif", ".webp"} {
		if strings.HasSuffix(s, ext) {
			return true
		}
	}
	return false
}
