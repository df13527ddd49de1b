package inject

import (
	"strings"
	"unicode/utf8"
)

// atPrompt says whether a row that matches the prompt pattern is a prompt: not
// one for the rest of something begun, and in the profiles which know of those,
// one that ends as the first prompt of all did, before which nothing was begun.
// What stands there before any key is kept: it tells a draft from a prompt.
func (in *Injector) atPrompt(l Look) bool {
	if c := in.Profile.Continued; c != nil {
		if c.Match(l.Line) {
			return false
		}
		if in.sigil == "" && l.Draft.LastKey.IsZero() {
			in.sigil = ending(l.Line)
		}
		if in.sigil != "" && ending(l.Line) != in.sigil {
			return false
		}
	}
	if !in.typedSince(l) && l.Unread <= 0 {
		in.fresh = l.Line
	}
	return true
}

// typesAtPrompt says whether the human's own line stands at the cursor, at what
// was a prompt before the first of its keys.
func (in *Injector) typesAtPrompt(l Look) bool {
	if in.Profile.Composer != nil || in.fresh == "" || !in.typedSince(l) {
		return false
	}
	return strings.HasPrefix(l.Line, in.fresh) && l.Line != in.fresh || l.Draft.Shown(l.Before)
}

// typedSince says whether the human has typed since the last Enter, or ours.
func (in *Injector) typedSince(l Look) bool {
	return l.Draft.Begun && l.Draft.LastKey.After(in.lastInput)
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
