package screen

import (
	"bytes"
	"strings"
)

// maxTitle is how many bytes of a title are kept.
const maxTitle = 2048

// MaxNote is how long a noted string may be, in bytes. Longer ones are dropped.
const MaxNote = 4096

// noted are the codes whose strings are kept: a program's word about its state
// (7501, as Codex says it), about its prompt and commands (133), its directory (7)
// and what it notifies of (9).
var noted = [...]string{"7", "9", "133", "7501"}

// notes are the newest strings of the noted codes.
type notes struct {
	count uint64
	byOne [len(noted)]note
}

type note struct {
	text   []byte
	serial uint64
}

// OSC takes titles (0 and 2) and keeps notes. All others, such as hyperlinks (8)
// and the clipboard (52), are the real terminal's business and show nothing.
func (t *terminal) OSC(data []byte) {
	t.last = 0
	code, text, ok := bytes.Cut(data, []byte{';'})
	if !ok {
		return
	}
	switch string(code) {
	case "0", "2":
		t.setTitle(text)
	default:
		t.notes.take(code, text)
	}
}

func (t *terminal) setTitle(text []byte) {
	t.titled++
	t.own = true
	if len(text) > maxTitle {
		text = text[:maxTitle-2] // room for the mark of a character cut in two
	}
	if string(text) != t.title {
		t.title = strings.ToValidUTF8(string(text), "\ufffd")
	}
}

func (n *notes) take(code, text []byte) {
	if len(text) > MaxNote {
		return
	}
	for i := range noted {
		if noted[i] == string(code) {
			n.count++
			n.byOne[i] = note{append(n.byOne[i].text[:0], text...), n.count}
		}
	}
}

// titleStack is XTWINOPS 22 (push) and 23 (pop); deeper ones are forgotten. what
// is 0 for title and icon name, 1 for the icon name alone, 2 for the title alone.
func (t *terminal) titleStack(op, what int) {
	n := len(t.headings)
	switch {
	case what == 1:
	case op == 22 && n < maxTitles:
		t.headings = append(t.headings, t.heading)
	case op == 22:
		copy(t.headings, t.headings[1:])
		t.headings[n-1] = t.heading
	case op == 23 && n > 0:
		t.titled++
		t.heading = t.headings[n-1]
		t.headings = t.headings[:n-1]
	}
}
