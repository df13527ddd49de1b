package draft

import (
	"slices"
	"unicode"

	"relay-pty/inject/draft/keystroke"
)

// move does what the keys do that move the cursor or take one character.
func (e *editor) move(k keystroke.Kind, lines bool) {
	switch k {
	case keystroke.Left:
		e.step(e.at - 1)
	case keystroke.Right:
		e.step(e.at + 1)
	case keystroke.Erase:
		e.take(e.at-1, e.at)
	case keystroke.Remove, keystroke.EOF:
		e.take(e.at, e.at+1)
	case keystroke.Home:
		e.lineEdge(e.lineStart(), lines)
	case keystroke.End:
		e.lineEdge(e.lineEnd(), lines)
	case keystroke.WordLeft:
		e.jump(e.wordStart(lines))
	case keystroke.WordRight:
		e.jump(e.wordEnd(lines))
	case keystroke.Wandering:
		e.astray = true
	case keystroke.Vertical:
		if lines || len(e.buf) == 0 {
			e.lose() // the history
		}
		e.astray = true // a row up or down; should it be the history, the text on the screen is another one
	}
}

// step moves over one character.
func (e *editor) step(to int) {
	if to < 0 || to > len(e.buf) {
		return
	}
	if !e.single(min(e.at, to)) {
		e.astray = true
	}
	e.at = to
}

// take removes one character.
func (e *editor) take(from, to int) {
	switch {
	case e.astray:
		if len(e.buf) > 0 {
			e.lose()
		}
	case from < 0 || to > len(e.buf):
	default:
		if !e.single(from) {
			e.lose()
		}
		e.cut(from, to)
	}
}

// cut removes without asking.
func (e *editor) cut(from, to int) {
	e.buf = slices.Delete(e.buf, from, to)
	e.at = from
}

// single reports whether the rune at i is surely one character to every editor: not
// a part of a larger one, and no paste of which it is unknown how it shows.
func (e *editor) single(i int) bool {
	if n := e.chip(e.buf[i]); n >= 0 {
		return e.sure[n]
	}
	return !joins(e.buf[i]) && (i+1 >= len(e.buf) || !joins(e.buf[i+1])) && (i == 0 || e.buf[i-1] != zeroJoiner)
}

const zeroJoiner = '\u200d'

// joins reports whether a character may be drawn into one with its neighbours:
// combining marks, joiners, variants, flags, and the scripts that have such.
// Unicode's own tables of this would be most of the program.
func joins(r rune) bool {
	for _, in := range [...][2]rune{
		{0x300, 0x36f}, {0x483, 0x489}, {0x590, 0x11ff}, {0x1700, 0x1cff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f}, {0x20d0, 0x20ff},
		{0x3099, 0x309a}, {0xa800, 0xabff}, {0xd7b0, 0xd7ff}, {0xfe00, 0xfe2f}, {0x1f1e6, 0x1f1ff}, {0x1f3fb, 0x1f3ff}, {0xe0000, firstChip - 1},
	} {
		if r >= in[0] && r <= in[1] {
			return true
		}
	}
	return false
}

func (e *editor) lineStart() int {
	i := min(e.at, len(e.buf))
	for i > 0 && e.buf[i-1] != '\n' {
		i--
	}
	return i
}

func (e *editor) lineEnd() int {
	i := min(e.at, len(e.buf))
	for i < len(e.buf) && e.buf[i] != '\n' {
		i++
	}
	return i
}

// oneRow reports whether the line with the cursor surely takes one row.
func (e *editor) oneRow(lines bool) bool {
	cols, width := e.cols, 0
	if cols == 0 {
		cols = defaultCols
	}
	for _, r := range e.buf[e.lineStart():e.lineEnd()] {
		if n := e.chip(r); n >= 0 {
			return lines && e.sure[n]
		}
		width++
		if r >= 0x1100 {
			width++
		}
	}
	return lines || width <= cols-margin
}

// onlyLine reports whether there is no other line, nor a paste that may hold some.
func (e *editor) onlyLine() bool {
	return !slices.Contains(e.buf, '\n') && !slices.ContainsFunc(e.buf, func(r rune) bool { n := e.chip(r); return n >= 0 && !e.sure[n] })
}

// lineEdge goes to an end of the line. From there, some go on to the next line.
func (e *editor) lineEdge(to int, lines bool) {
	switch {
	case !e.oneRow(lines), e.astray && !e.onlyLine(), e.at == to && to > 0 && to < len(e.buf):
		e.astray = true
	default:
		e.at, e.astray = to, false
	}
}

// jump goes to where all editors go; -1: they differ.
func (e *editor) jump(to int) {
	if to < 0 || e.astray {
		e.astray = true
		return
	}
	e.at = to
}

// wordStart is where the word before the cursor begins, -1 when editors differ
// in what a word is: line editors take letters and digits.
func (e *editor) wordStart(lines bool) int {
	i := e.at
	for i > 0 && (e.buf[i-1] == ' ' || lines && !letter(e.buf[i-1])) {
		i--
	}
	for i > 0 && e.buf[i-1] != ' ' && (!lines || letter(e.buf[i-1])) {
		if !lines && !plain(e.buf[i-1]) {
			return -1
		}
		i--
	}
	return i
}

// blankStart is where the word before the cursor begins when only blanks part
// words, as for Ctrl-W in line editors.
func (e *editor) blankStart() int {
	i := e.at
	for i > 0 && (e.buf[i-1] == ' ' || e.buf[i-1] == '\t') {
		i--
	}
	for i > 0 && e.buf[i-1] != ' ' && e.buf[i-1] != '\t' {
		i--
	}
	return i
}

// wordEnd is the end of the word at the cursor or after it. In composers that is
// certain of the last word only: before it, some go to the start of the next one.
func (e *editor) wordEnd(lines bool) int {
	i := e.at
	for i < len(e.buf) && (e.buf[i] == ' ' || lines && !letter(e.buf[i])) {
		i++
	}
	for ; i < len(e.buf) && (!lines || letter(e.buf[i])); i++ {
		if !lines && !plain(e.buf[i]) {
			return -1
		}
	}
	return i
}

// letter reports whether a character belongs to a word in a line editor.
func letter(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// plain reports whether a character is part of a word to everybody.
func plain(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// killKey removes a stretch.
func (e *editor) killKey(k keystroke.Kind, lines bool) {
	from, to := e.at, e.at
	switch k {
	case keystroke.KillStart:
		if from = e.lineStart(); from == to && from > 0 {
			from-- // the newline
		}
	case keystroke.KillEnd:
		if to = e.lineEnd(); to == from && to < len(e.buf) {
			to++
		}
	case keystroke.KillWord, keystroke.KillBack:
		if from = e.wordStart(lines); lines && k == keystroke.KillWord {
			from = e.blankStart()
		}
	case keystroke.KillAhead:
		to = e.wordEnd(lines)
	}
	byRow := (k == keystroke.KillStart || k == keystroke.KillEnd) && !e.oneRow(lines)
	if e.astray || from < 0 || to < 0 || byRow {
		if len(e.buf) > 0 || e.lost {
			e.lose()
		}
		return
	}
	if slices.ContainsFunc(e.buf[from:to], func(r rune) bool { n := e.chip(r); return n >= 0 && !e.sure[n] }) {
		e.lose()
	}
	e.cut(from, to)
}
