package fakemodel

import (
	"regexp"
	"strings"
)

// Received is the user text of t as the user meant it: Claude Code's mark of
// pasted text removed and what was pasted left in its place. Compare it with
// the text that was sent; Turn.Text keeps the raw form.
//
// Claude Code 2.1.329 replaces a long paste, in place, by
//
//	"\n\n<pasted_content id=\"7b23\">\n" PASTE "\n</pasted_content id=\"7b23\">\n"
//
// where the id is one for the session (seen on the wire). Other builds leave
// the composer's placeholder before it, which goes too.
func Received(t Turn) string { return Unwrap(t.UserText()) }

const (
	pasteOpen  = "\n\n<pasted_content id=\""
	pasteClose = "\n</pasted_content id=\""
)

var placeholder = regexp.MustCompile(`\[Pasted text #\d+(?: \+\d+ lines)?\]$`)

// Unwrap is what Received does to the text. A mark that is not closed stays.
func Unwrap(text string) string {
	var out strings.Builder
	for {
		before, rest, ok := strings.Cut(text, pasteOpen)
		if !ok {
			break
		}
		id, rest, ok := strings.Cut(rest, "\">\n")
		if !ok {
			break
		}
		body, after, ok := strings.Cut(rest, pasteClose+id+"\">\n")
		if !ok {
			break
		}
		out.WriteString(placeholder.ReplaceAllString(before, ""))
		out.WriteString(body)
		text = after
	}
	out.WriteString(text)
	return out.String()
}
