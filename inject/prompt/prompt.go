// Package prompt tells what stands at a line program's prompt: nothing yet, the
// human's own line, or the rest of something begun. It is pure but for what it
// remembers of earlier prompts.
package prompt

import (
	"strings"
	"unicode/utf8"
)

// Row is the row in which the cursor stands.
type Row struct {
	Line      string // it up to the cursor
	After     string // what stands right at the cursor
	Typed     bool   // keys of any kind came since the last Enter
	Ever      bool   // any key ever came
	Read      bool   // the program has read all that was typed
	Edits     bool   // the program edits lines by itself: its terminal is not in canonical mode
	ReadPlace string // where the program waits in a read of the terminal; "": in none, or nothing tells
}

// Watch remembers a program's prompts. The zero value has seen none.
type Watch struct {
	fresh     string // the row at the newest prompt, before any key
	sigil     string // how the rows of prompts end, by the first one
	edits     bool   // at that one the program edited its line by itself
	readPlace string // or it waited for a line here
}

// Pattern is a regular expression.
type Pattern interface{ Match(row string) bool }

// At reports whether a row that matches the prompt pattern is a prompt: not one for
// the rest of something begun, which continued matches, and, where there are
// such, one like the first prompt of all, before which nothing was begun: it ends
// alike, and a shell that edits its line by itself does so. A builtin of the shell
// that asks, as bash's read, may show the same text, but leaves the line to the
// terminal; where the shell does, too, the builtin waits for it by another call.
// What stands there before any key is kept: it tells a draft from a prompt. A nil
// continued means that there are none.
func (w *Watch) At(r Row, continued Pattern) bool {
	if continued != nil {
		if continued.Match(r.Line) {
			return false
		}
		if w.sigil == "" && !r.Ever {
			w.sigil, w.edits = ending(r.Line), r.Edits
		}
		if w.sigil != "" && ending(r.Line) != w.sigil || w.foreign(r) {
			return false
		}
		if w.sigil != "" && !r.Ever && w.readPlace == "" { // it may have begun to wait after the first look
			w.readPlace = r.ReadPlace
		}
	}
	if !r.Typed && r.Read {
		w.fresh = r.Line
	}
	return true
}

// foreign reports whether the line is read by something else than the shell that the first prompt
// was of, or may be: what is on its way to a read may be anything.
func (w *Watch) foreign(r Row) bool {
	unknown := r.ReadPlace == "" && (r.Edits || !r.Read) // where lines are edited, or wait to be read, nothing tells
	return w.edits && !r.Edits || w.readPlace != "" && r.ReadPlace != w.readPlace && !unknown
}

// Continues reports whether the human's own line stands at the cursor, at what was
// a prompt before the first of its keys. shown says that the keys left a trace
// before the cursor.
func (w *Watch) Continues(r Row, shown bool) bool {
	if w.fresh == "" || !r.Typed || w.foreign(r) {
		return false
	}
	return strings.HasPrefix(r.Line, w.fresh) && r.Line != w.fresh || shown
}

// Changed reports whether the row is another than before the human's first key:
// also by what came without being typed, as history, completion or a paste.
func (w *Watch) Changed(r Row) bool {
	return r.Typed && (r.Line != w.fresh || r.After != "")
}

// Text is what stands behind the prompt; "" where no prompt was seen.
func (w *Watch) Text(r Row) string {
	if w.fresh == "" {
		return ""
	}
	return strings.TrimPrefix(r.Line, w.fresh) + r.After
}

// ending is the last two characters of a row.
func ending(row string) string {
	end := len(row)
	for range 2 {
		_, n := utf8.DecodeLastRuneInString(row[:end])
		end -= n
	}
	return row[end:]
}
