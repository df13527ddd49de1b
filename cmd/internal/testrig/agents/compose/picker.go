package compose

import (
	"slices"
	"strings"
	"unicode"
)

// Picker is the list that opens under a first word with / and under a word
// with @: Enter then chooses its first entry, and does not submit.
type Picker struct {
	Slash, At []string // the entries, with their / and @

	closed string // the draft for which Esc closed the list
}

// Open returns the entries that go on what is typed before the cursor; none:
// there is no list.
func (p *Picker) Open(e *Editor) []string {
	if p.closed != "" && p.closed == e.Text() {
		return nil
	}
	word := string(e.text[e.wordStart():e.at])
	entries := p.At
	if strings.HasPrefix(word, "/") && e.wordStart() == 0 {
		entries = p.Slash
	} else if !strings.HasPrefix(word, "@") {
		return nil
	}
	var out []string
	for _, entry := range entries {
		if strings.HasPrefix(entry, word) {
			out = append(out, entry)
		}
	}
	return out
}

// Choose puts entry and a blank in the place of the word before the cursor.
func (p *Picker) Choose(e *Editor, entry string) {
	from := e.wordStart()
	e.text = slices.Delete(e.text, from, e.at)
	e.at = from
	e.Insert(entry + " ")
}

// Close shuts the list until the draft changes.
func (p *Picker) Close(e *Editor) { p.closed = e.Text() }

// wordStart is where the word before the cursor begins.
func (e *Editor) wordStart() int {
	i := e.at
	for i > 0 && !unicode.IsSpace(e.text[i-1]) {
		i--
	}
	return i
}
