package compose

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
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

// Editor holds the draft.
type Editor struct {
	Whole bool // long pastes show in full, not as chips

	text  []rune
	at    int // cursor, an index into text
	chips []string
	stash []rune // nil: none is held
}

// Empty reports whether nothing is typed.
func (e *Editor) Empty() bool { return len(e.text) == 0 }

// Stashed reports whether a draft is set aside.
func (e *Editor) Stashed() bool { return e.stash != nil }

// Text is the draft with chips expanded.
func (e *Editor) Text() string {
	return string(e.expand(e.text, func(i int) string { return e.chips[i] }))
}

// Shown is the draft as the box shows it, and the cursor as an index into it.
func (e *Editor) Shown() (text []rune, at int) {
	return e.expand(e.text, e.label), len(e.expand(e.text[:e.at], e.label))
}

// expand puts what a chip stands for in its place.
func (e *Editor) expand(text []rune, chip func(i int) string) (out []rune) {
	for _, r := range text {
		if i := int(r - firstChip); i >= 0 && i < len(e.chips) {
			out = append(out, []rune(chip(i))...)
		} else {
			out = append(out, r)
		}
	}
	return out
}

func (e *Editor) label(i int) string {
	more := ""
	if n := strings.Count(e.chips[i], "\n"); n > 0 {
		more = fmt.Sprintf(" +%d lines", n)
	}
	return fmt.Sprintf("[Pasted text #%d%s]", i+1, more)
}

// Insert types s at the cursor.
func (e *Editor) Insert(s string) {
	r := []rune(s)
	e.text = slices.Insert(e.text, e.at, r...)
	e.at += len(r)
}

// Paste inserts s, as a chip when it is long.
func (e *Editor) Paste(s string) {
	if e.Whole || len(s) <= chipBytes && strings.Count(s, "\n") <= chipNewlines {
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
	e.text, e.at, e.stash = e.stash, len(e.stash), nil
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
		e.cut(max(e.at-1, 0))
	case Left:
		e.at = max(e.at-1, 0)
	case Right:
		e.at = min(e.at+1, len(e.text))
	case Home:
		e.at = e.lineStart()
	case End:
		for e.at < len(e.text) && e.text[e.at] != '\n' {
			e.at++
		}
	case KillLine: // up to the start of the line, or the newline before it
		from := e.lineStart()
		if from == e.at && from > 0 {
			from--
		}
		e.cut(from)
	case Stash: // sets the draft aside, over one held before; an empty box gets it back
		if e.Empty() {
			e.text, e.at, e.stash = e.stash, len(e.stash), nil
		} else {
			e.stash = e.text
			e.Clear()
		}
	}
}

// cut removes what stands before the cursor, from there on.
func (e *Editor) cut(from int) {
	e.text = slices.Delete(e.text, from, e.at)
	e.at = from
}

func (e *Editor) lineStart() int { return e.back(func(r rune) bool { return r == '\n' }) }

// back is the place behind the last character before the cursor that ends what is sought.
func (e *Editor) back(ends func(rune) bool) int {
	i := e.at
	for i > 0 && !ends(e.text[i-1]) {
		i--
	}
	return i
}

// Offers are the entries that go on what is typed before the cursor: a first word with / or any
// word with @.
func (e *Editor) Offers(entries []string) (open []string) {
	from := e.back(unicode.IsSpace)
	word := string(e.text[from:e.at])
	if strings.HasPrefix(word, "@") || strings.HasPrefix(word, "/") && from == 0 {
		for _, entry := range entries {
			if strings.HasPrefix(entry, word) {
				open = append(open, entry)
			}
		}
	}
	return open
}

// Choose puts entry and a blank in the place of the word before the cursor.
func (e *Editor) Choose(entry string) {
	e.cut(e.back(unicode.IsSpace))
	e.Insert(entry + " ")
}
