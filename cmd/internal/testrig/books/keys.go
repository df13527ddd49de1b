package books

import (
	"regexp"
	"strings"
)

// What stands for keys in the text of a composer.
const (
	enter   = "\r"   // submits; some composers take Tab while they are busy
	empties = "\x15" // the composer
	aside   = "\x13" // puts the draft aside, or takes it back
	other   = "\x1b" // any other key, or an answer of the terminal
	open    = "["    // a paste begins
	closed  = "]"    // and ends
	cut     = "cut"  // by a kill
)

// keys are what composers read besides text: the first that fits counts, and so much of
// it as its group holds.
var keys = []struct {
	is    string
	bytes *regexp.Regexp
}{
	{cut, regexp.MustCompile(`^(\x1b(?:\[[0-9;?]*|\[r?|\[rel?|\[rela|\[relay ?|[\]P][^\a\x1b]*\x1b?)?)$`)},
	{other, regexp.MustCompile(`^(\x1b)(?:\x1b\[20[01]~|\[relay )`)}, // a key by itself, before what was typed
	{open, regexp.MustCompile(`^(\x1b\[200~)`)},
	{closed, regexp.MustCompile(`^(\x1b\[201~)`)},
	{empties, regexp.MustCompile(`^(\x1b\x1b|\x1b\[1;2H\x7f|[\x03\x15\x7f])`)},
	{enter, regexp.MustCompile(`^([\r\t])`)},
	{aside, regexp.MustCompile(`^(\x13)`)},
	{other, regexp.MustCompile(`^(\x1bO.|\x1b\[[ -?]*[@-~]|\x1b[\]P][^\a\x1b]*(?:\a|\x1b\\))`)},
	{other, regexp.MustCompile(`^([\x1b\x01\x05\x08\x0b])`)},
}

func control(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f }

// plain is what a composer read, with one byte for each key, and pastes as if they were typed.
func (r *reader) plain(read string) string {
	var text strings.Builder
	pasting := false
	for read != "" {
		n := strings.IndexFunc(read, control)
		if n < 0 {
			n = len(read)
		}
		text.WriteString(read[:n])
		if read = read[n:]; read == "" {
			break
		}
		is, size := r.key(read)
		if read = read[size:]; is != open && is != closed && is != cut {
			text.WriteString(is)
		}
		if (is == open || is == enter) && pasting || is == closed && !pasting {
			r.found("I10", "", "a paste begins in a paste, ends outside one, or is not closed before Enter")
		}
		pasting = is == open || pasting && is != closed && is != enter
	}
	return text.String()
}

// key is what read begins with, and its length.
func (r *reader) key(read string) (is string, size int) {
	read = read[:min(len(read), maxLead)]
	for _, k := range keys {
		if is = k.is; is == cut && !r.killed {
			continue
		}
		if found := k.bytes.FindStringSubmatch(read); found != nil {
			return is, len(found[1])
		}
	}
	return read[:1], 1 // nobody's
}
