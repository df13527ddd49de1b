package compose

import (
	"fmt"
	"slices"
	"strings"
)

// A paste of more than chipBytes bytes or chipNewlines newlines is shown as a
// chip, as in Claude Code 2.1.329.
const (
	chipBytes    = 800
	chipNewlines = 2
)

// firstChip begins a private-use plane: one rune stands for one chip, so the
// cursor steps over it and Backspace removes it whole.
const firstChip = rune(0xF0000)

// What becomes of a long paste.
const (
	ChipsShown  = ""       // a chip stands for it
	ChipsNever  = "never"  // its text is shown
	ChipsHidden = "hidden" // nothing is shown for it, but it is there
)

// Editor holds the draft.
type Editor struct {
	Chips string // ChipsShown, ChipsNever or ChipsHidden

	text  []rune
	at    int // cursor, an index into text
	chips []string
	stash []rune
	held  bool // a draft is stashed
}

// Empty says whether nothing is typed.
func (e *Editor) Empty() bool { return len(e.text) == 0 }

// Stashed says whether a draft is set aside.
func (e *Editor) Stashed() bool { return e.held }

// Stash is the draft that is set aside, chips expanded.
func (e *Editor) Stash() string { return e.expand(e.stash) }

// Text is the draft with chips expanded.
func (e *Editor) Text() string { return e.expand(e.text) }

func (e *Editor) expand(text []rune) string {
	var b strings.Builder
	for _, r := range text {
		if i, ok := e.chip(r); ok {
			b.WriteString(e.chips[i])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func (e *Editor) chip(r rune) (index int, ok bool) {
	i := int(r - firstChip)
	return i, i >= 0 && i < len(e.chips)
}

// Shown is the draft as the box shows it, and the cursor as an index into it.
func (e *Editor) Shown() (text []rune, at int) {
	for i, r := range e.text {
		if i == e.at {
			at = len(text)
		}
		if n, ok := e.chip(r); ok {
			text = append(text, []rune(e.label(n))...)
		} else {
			text = append(text, r)
		}
	}
	if e.at == len(e.text) {
		at = len(text)
	}
	return text, at
}

func (e *Editor) label(i int) string {
	if e.Chips == ChipsHidden {
		return ""
	}
	n := strings.Count(e.chips[i], "\n")
	if n == 0 {
		return fmt.Sprintf("[Pasted text #%d]", i+1)
	}
	return fmt.Sprintf("[Pasted text #%d +%d lines]", i+1, n)
}

// Insert types s at the cursor.
func (e *Editor) Insert(s string) {
	r := []rune(s)
	e.text = slices.Insert(e.text, e.at, r...)
	e.at += len(r)
}

// Paste inserts s, as a chip when it is long. The same paste again, while its
// chip is just before the cursor, expands the chip instead.
func (e *Editor) Paste(s string) {
	if e.at > 0 {
		if i, ok := e.chip(e.text[e.at-1]); ok && e.chips[i] == s {
			e.at--
			e.text = slices.Delete(e.text, e.at, e.at+1)
			e.Insert(s)
			return
		}
	}
	if e.Chips == ChipsNever || len(s) <= chipBytes && strings.Count(s, "\n") <= chipNewlines {
		e.Insert(s)
		return
	}
	e.chips = append(e.chips, s)
	e.Insert(string(firstChip + rune(len(e.chips)-1)))
}

// Clear empties the box.
func (e *Editor) Clear() { e.text, e.at = nil, 0 }

// Take empties the box and returns what was in it, blanks at the ends trimmed.
// A stashed draft comes back.
func (e *Editor) Take() string {
	s := strings.TrimSpace(e.Text())
	e.Clear()
	if e.held {
		e.unstash()
	}
	return s
}

// Put makes s the draft.
func (e *Editor) Put(s string) {
	e.Clear()
	e.Insert(s)
}

// Press does what an editing key does; other keys do nothing.
func (e *Editor) Press(k Key) {
	switch k {
	case Newline:
		e.Insert("\n")
	case Backspace:
		if e.at > 0 {
			e.at--
			e.text = slices.Delete(e.text, e.at, e.at+1)
		}
	case Left:
		e.at = max(e.at-1, 0)
	case Right:
		e.at = min(e.at+1, len(e.text))
	case Up, Down:
		e.vertical(k)
	case Home:
		e.at = e.lineStart()
	case End:
		e.at = e.lineEnd()
	case KillLine:
		e.kill()
	case Stash:
		e.toggleStash()
	}
}

func (e *Editor) lineStart() int {
	i := e.at
	for i > 0 && e.text[i-1] != '\n' {
		i--
	}
	return i
}

func (e *Editor) lineEnd() int {
	i := e.at
	for i < len(e.text) && e.text[i] != '\n' {
		i++
	}
	return i
}

// kill removes up to the start of the line, or the newline before it.
func (e *Editor) kill() {
	from := e.lineStart()
	if from == e.at && from > 0 {
		from--
	}
	e.text = slices.Delete(e.text, from, e.at)
	e.at = from
}

func (e *Editor) vertical(k Key) {
	col := e.at - e.lineStart()
	if k == Up {
		if e.lineStart() == 0 {
			e.at = 0
			return
		}
		e.at = e.lineStart() - 1
		e.at = e.lineStart()
	} else {
		if e.lineEnd() == len(e.text) {
			e.at = len(e.text)
			return
		}
		e.at = e.lineEnd() + 1
	}
	e.at = min(e.at+col, e.lineEnd())
}

// toggleStash sets the draft aside, overwriting one held before, or brings the
// held one back into an empty box.
func (e *Editor) toggleStash() {
	switch {
	case !e.Empty():
		e.stash, e.held = e.text, true
		e.text, e.at = nil, 0
	case e.held:
		e.unstash()
	}
}

func (e *Editor) unstash() {
	e.text, e.at = e.stash, len(e.stash)
	e.stash, e.held = nil, false
}
