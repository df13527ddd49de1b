package profile

import "strings"

// Quote is how a message is made inert in the language of a program that runs
// what it reads: each line by itself, so that nothing is ever left open.
type Quote struct {
	Posix   bool   // each line becomes : 'line'
	Comment string // each line becomes a comment: this prefix, then the line …
	End     string // … then this
}

// Inert reports whether the quote does anything.
func (q Quote) Inert() bool { return q.Posix || q.Comment != "" }

// Line makes one line inert. The line has no control characters.
func (q Quote) Line(line string) string {
	switch {
	case q.Posix:
		// The blank in front keeps it out of the history of shells that are told to. A quote inside
		// stands in double quotes of its own: also the history expansion of shells, which looks at
		// the line before their grammar does, then sees no character of the message outside of
		// quotes.
		return " : '" + strings.ReplaceAll(line, "'", `'"'"'`) + "'"
	case q.Comment != "":
		return q.Comment + line + q.End
	}
	return line
}

// lineEnds are what some languages take for the end of a line, and so of a
// comment, besides a newline.
var lineEnds = strings.NewReplacer("\u2028", "\n", "\u2029", "\n")

// Text makes every line of text inert.
func (q Quote) Text(text string) string {
	if !q.Inert() {
		return text
	}
	lines := strings.Split(lineEnds.Replace(text), "\n")
	for i, line := range lines {
		lines[i] = q.Line(line)
	}
	return strings.Join(lines, "\n")
}
