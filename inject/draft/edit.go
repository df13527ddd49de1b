package draft

import (
	"slices"
	"strings"
	"time"

	"relay-pty/inject/draft/keystroke"
)

const (
	// maxText is how many characters of a draft, its pastes included, are followed.
	maxText = 1 << 16
	// escTwice is how long after an Escape a second one clears the composer.
	escTwice = 800 * time.Millisecond
	// defaultCols are the columns of a terminal that nobody told, and margin those
	// that a composer does not use.
	defaultCols, margin = 40, 8
)

// firstChip begins a private-use plane: one rune of it stands for one paste that
// may be a chip.
const firstChip = rune(0xF0000)

// editor does to a text what the keys do in the editors that agents and shells
// have, as far as those do the same. Where they differ, or where what a key does
// depends on what is not known here, the text is lost or the cursor astray. A
// text that was followed wrongly differs from the one on the screen.
type editor struct {
	buf    []rune
	at     int  // cursor, an index into buf
	lost   bool // buf may not be the text
	astray bool // at may not be the cursor
	cols   int
	signs  Chips
	loose  int // at most so many blanks end the text, or its lines, and cannot be seen on a screen
	lines  int // newlines typed and pasted

	pastes  []string // what the chips in buf, stash and late stand for
	sure    []bool   // which of them are seen to be chips
	size    int      // characters of all pastes
	pasting []rune   // of the paste that is open
	stash   []rune
	held    bool   // a draft is in stash
	late    []rune // what was typed and an empty composer did not show; nil: nothing

	esc  time.Time // of the last key, when it was an Escape
	text string    // the text and the marked text, while they are valid
	mark string
	same bool
}

// apply does what a key does; true: an Enter did not submit.
func (e *editor) apply(k keystroke.Key, lines bool, now time.Time) (goesOn bool) {
	if k.Kind == keystroke.Pasted {
		if len(e.pasting) <= maxText {
			e.pasting = append(e.pasting, k.Rune)
		}
		return false
	}
	e.same = false
	blank := e.blank()
	e.count(k)
	twice := e.escapes(now)
	e.esc = time.Time{}
	switch k.Kind {
	case keystroke.Text:
		e.insert(k.Rune)
	case keystroke.PasteEnd:
		e.paste()
	case keystroke.Newline:
		e.insert('\n')
	case keystroke.Enter:
		return e.enter(lines)
	case keystroke.Interrupt:
		e.clear()
	case keystroke.Escape:
		e.escape(lines, twice, now)
	case keystroke.Stash:
		e.toggleStash(lines)
	case keystroke.Unfollowed:
		e.lose()
	case keystroke.KillStart, keystroke.KillEnd, keystroke.KillWord, keystroke.KillBack, keystroke.KillAhead:
		e.killKey(k.Kind, lines)
	default:
		e.move(k.Kind, lines)
	}
	if blank && len(e.buf) == 0 && !lines && !everybodys(k.Kind) {
		e.lose()
	}
	e.normalise()
	return false
}

// count keeps the blanks that would be left of a text that is not known. What
// kills a line may leave empty ones before it.
func (e *editor) count(k keystroke.Key) {
	switch k.Kind {
	case keystroke.Newline:
		e.loose, e.lines = e.loose+1, e.lines+1
	case keystroke.Erase:
		e.loose = max(e.loose-1, 0)
	case keystroke.Text:
		if e.loose++; k.Rune != ' ' {
			e.loose = 0
		}
	case keystroke.PasteEnd:
		e.loose, e.lines = 0, e.lines+strings.Count(string(normal(e.pasting)), "\n")
	case keystroke.KillStart, keystroke.KillWord, keystroke.KillBack:
		e.loose = e.lines
	case keystroke.KillEnd, keystroke.KillAhead:
		e.loose = max(e.loose, e.lines)
	}
}

// blank reports whether there are blanks and nothing else: text that no screen shows.
func (e *editor) blank() bool {
	return len(e.buf) > 0 && !slices.ContainsFunc(e.buf, func(r rune) bool { return r != ' ' && r != '\n' })
}

// everybodys reports whether a key that takes text away does so in all editors. Only
// then is a text of blanks known to be gone.
func everybodys(k keystroke.Kind) bool {
	return k == keystroke.Erase || k == keystroke.KillStart || k == keystroke.Interrupt
}

// escapes reports whether an Escape at now is the second of two.
func (e *editor) escapes(now time.Time) bool { return !e.esc.IsZero() && now.Sub(e.esc) <= escTwice }

// normalise: in an empty text there is but one place for the cursor.
func (e *editor) normalise() {
	if len(e.buf) == 0 && !e.lost {
		e.at, e.astray = 0, false
	}
}

// lose gives up following the text, up to the next Enter.
func (e *editor) lose() { e.lost = true }

func (e *editor) clear() {
	e.buf, e.at, e.lost, e.astray, e.same, e.loose, e.lines = e.buf[:0], 0, false, false, false, 0, 0
	e.late = nil
	if cap(e.buf) > 4096 {
		e.buf = nil
	}
	if !e.held {
		e.pastes, e.sure, e.size = nil, nil, 0
	}
}

// hide takes the composer for empty. The text may still show, if it is known.
func (e *editor) hide() {
	was := *e
	was.buf = append(slices.Clone(e.late), e.buf...)
	e.clear()
	if !was.lost {
		e.late, e.pastes, e.sure, e.size = was.buf, was.pastes, was.sure, was.size
	}
}

// show makes the text that did not show in time the draft again, before what was typed since.
func (e *editor) show() {
	e.buf = append(slices.Clone(e.late), e.buf...)
	e.at += len(e.late)
	e.late, e.same = nil, false
	if len(e.buf)+e.size > maxText {
		e.lose()
	}
}

// insert types text at the cursor.
func (e *editor) insert(rs ...rune) {
	for i, r := range rs {
		if r >= firstChip { // would be taken for a mark of ours
			rs[i] = '\ufffd'
			e.lose()
		}
	}
	e.put(rs...)
}

// put inserts text and chips, as far as there is room.
func (e *editor) put(rs ...rune) {
	if e.astray {
		e.lose()
	}
	if len(e.buf)+e.size+len(rs) > maxText {
		e.lose()
		return
	}
	e.buf = slices.Insert(e.buf, e.at, rs...)
	e.at += len(rs)
}

// paste inserts what was pasted: as text, or as one character that stands for it
// where an agent may show a chip.
func (e *editor) paste() {
	p := normal(e.pasting)
	over := len(e.pasting) > maxText || len(e.buf)+e.size+len(p) >= maxText
	e.pasting = nil
	s := string(p)
	marks := strings.ContainsFunc(s, func(r rune) bool { return r >= firstChip })
	switch {
	case over || marks || e.repeats(s):
		e.lose()
	case !e.signs.May(s) && !(e.signs.Image != "" && imageFile(s)):
		e.put(p...)
	case len(e.pastes) >= maxChips:
		e.lose()
	default:
		e.pastes, e.sure = append(e.pastes, s), append(e.sure, false)
		e.size += len(p)
		e.put(firstChip + rune(len(e.pastes)-1))
	}
}

// repeats reports whether the same paste stands right before the cursor: there an
// editor may show its chip in full instead of pasting again.
func (e *editor) repeats(s string) bool {
	if e.at == 0 {
		return false
	}
	i := e.chip(e.buf[e.at-1])
	return i >= 0 && e.pastes[i] == s
}

// normal is a paste as agents take it: line ends are newlines, other controls go.
func normal(p []rune) []rune {
	var out []rune
	var before rune
	for _, r := range p {
		switch {
		case r == '\n' && before == '\r': // of a CRLF
		case r == '\r':
			out = append(out, '\n')
		case r >= ' ' && r != 0x7f || r == '\n' || r == '\t':
			out = append(out, r)
		}
		before = r
	}
	return out
}

// chip is the number of the paste that a rune of buf stands for, or -1.
func (e *editor) chip(r rune) int {
	if i := int(r - firstChip); i >= 0 && i < len(e.pastes) {
		return i
	}
	return -1
}

// enter submits, or begins a new line behind a backslash.
func (e *editor) enter(lines bool) (goesOn bool) {
	if n := len(e.buf); !lines && n > 0 && e.buf[n-1] == '\\' {
		if e.astray || e.at != n {
			e.lose()
		}
		e.buf, e.at = e.buf[:n-1], n-1
		e.insert('\n')
		e.loose, e.lines = e.loose+1, e.lines+1
		return true
	}
	sent := len(e.buf) > 0 || e.lost
	e.clear()
	if sent && !lines {
		e.unstash()
	}
	return false
}

// escape: two of them clear a composer. To a line editor it begins a key.
func (e *editor) escape(lines, twice bool, now time.Time) {
	switch {
	case lines:
		e.lose()
	case twice:
		e.clear()
	default:
		e.esc = now
	}
}

// toggleStash sets the draft aside, or brings back the one that is.
func (e *editor) toggleStash(lines bool) {
	switch {
	case lines, e.lost:
		e.lose()
		e.stash, e.held = nil, false
	case len(e.buf) > 0:
		e.stash, e.held = slices.Clone(e.buf), true
		e.clear()
	default:
		e.unstash()
	}
}

// unstash brings the draft that is set aside back into an empty text.
func (e *editor) unstash() {
	if !e.held || len(e.buf) > 0 || e.lost {
		return
	}
	e.buf, e.at, e.astray, e.same = e.stash, len(e.stash), false, false
	e.stash, e.held = nil, false
}

func (e *editor) toEnd() { e.at, e.astray = len(e.buf), false }

// texts are the text, and the text with marks around the pastes.
func (e *editor) texts() (plain, marked string) {
	if e.same {
		return e.text, e.mark
	}
	var b, m strings.Builder
	for _, r := range e.buf {
		if i := e.chip(r); i >= 0 {
			b.WriteString(e.pastes[i])
			m.WriteRune(openPaste)
			m.WriteString(e.pastes[i])
			m.WriteRune(closePaste)
			continue
		}
		b.WriteRune(r)
		m.WriteRune(r)
	}
	e.text, e.same = b.String(), true
	if e.mark = e.text; m.Len() != b.Len() {
		e.mark = m.String()
	}
	return e.text, e.mark
}

// resolve takes over which of the pastes in the text are seen to be chips: those
// are one character from now on, the others text like any other.
func (e *editor) resolve(chips []bool) {
	news := false
	for _, r := range e.buf {
		n := e.chip(r)
		news = news || n >= 0 && !e.sure[n]
	}
	if !news && !slices.Contains(chips, false) {
		return
	}
	var out []rune
	at := 0
	for i, r := range e.buf {
		if i == e.at {
			at = len(out)
		}
		n := e.chip(r)
		if n < 0 {
			out = append(out, r)
			continue
		}
		if e.sure[n] = chips[0]; chips[0] {
			out = append(out, r)
		} else {
			out = append(out, []rune(e.pastes[n])...)
			e.size -= len([]rune(e.pastes[n]))
			e.pastes[n] = ""
		}
		chips = chips[1:]
	}
	if e.at >= len(e.buf) {
		at = len(out)
	}
	e.buf, e.at, e.same = out, at, false
}
