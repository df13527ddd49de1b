// Package compose is the fake composer without a terminal: a decoder of what was read, a line
// editor, and the rows it shows. It behaves as Claude Code 2.1.329's composer was measured to,
// where an injector cares. It shares no code and no data with the product, which is tried on it: a
// prompt that the profile has wrong must not be found here.
package compose

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Key is a key without text.
type Key int

// The keys the composer knows; all others are NoKey.
const (
	NoKey Key = iota
	Enter
	Newline // C-j
	Backspace
	Left
	Right
	Home
	End
	KillLine   // C-u
	Interrupt  // C-c
	EndOfInput // C-d
	Stash      // C-s
	Tab
	Esc
)

// Event is a key, typed text, or a paste.
type Event struct {
	Key   Key
	Text  string
	Paste bool // Text was pasted
}

// burstBytes is the length from which plain text that arrives in one read
// counts as a paste, Enter included.
const burstBytes = 64

const (
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

var control = map[byte]Key{
	'\r': Enter, '\n': Newline, 0x7f: Backspace, 0x08: Backspace, 0x01: Home, 0x05: End,
	0x15: KillLine, 0x03: Interrupt, 0x04: EndOfInput, 0x13: Stash, '\t': Tab,
}

var sequences = map[string]Key{
	"\x1b[C": Right, "\x1b[D": Left, "\x1b[H": Home, "\x1b[F": End,
}

var (
	// escape is a whole sequence, or Alt and a key.
	escape = regexp.MustCompile("^\x1b(?:[[O][^@-~]*[@-~]|[^[O\x1b])")
	csi    = regexp.MustCompile("\x1b\\[[0-?]*[ -/]*[@-~]")
)

// Decoder turns reads into events. Where one read ends matters: an Enter that
// comes in the same read as the end of a paste joins the paste, as in Claude.
type Decoder struct {
	rest []byte // an unfinished sequence, paste or character
}

// Pending reports whether the last read ended inside a sequence; after a short
// silence call Flush.
func (d *Decoder) Pending() bool {
	return len(d.rest) > 0 && !bytes.HasPrefix(d.rest, []byte(pasteBegin))
}

// Flush gives up waiting: a lone ESC is the key, anything else is dropped.
func (d *Decoder) Flush() (events []Event) {
	if string(d.rest) == "\x1b" {
		events = []Event{{Key: Esc}}
	}
	d.rest = nil
	return events
}

// Feed decodes one read.
func (d *Decoder) Feed(read []byte) (events []Event) {
	d.rest = append(d.rest, read...)
	for len(d.rest) > 0 {
		ev, n := decode(d.rest)
		if n == 0 {
			break
		}
		if ev != (Event{}) {
			events = append(events, ev)
		}
		d.rest = d.rest[n:]
	}
	return events
}

// decode reads one event; n is 0 when p holds only its beginning.
func decode(p []byte) (ev Event, n int) {
	switch body, paste := bytes.CutPrefix(p, []byte(pasteBegin)); {
	case paste:
		text, after, whole := bytes.Cut(body, []byte(pasteEnd))
		if !whole {
			return Event{}, 0
		}
		if bytes.HasPrefix(after, []byte("\r")) {
			return pasted(string(text) + "\n"), len(p) - len(after) + 1
		}
		return pasted(string(text)), len(p) - len(after)
	case bytes.HasPrefix(p, []byte("\x1b\x1b")):
		return Event{Key: Esc}, 1
	case p[0] == 0x1b:
		seq := escape.Find(p)
		return Event{Key: sequences[string(seq)]}, len(seq)
	}
	run := length(p, func(r rune) bool { return isControl(r) && r != '\r' && r != '\n' })
	if run >= burstBytes {
		return pasted(string(p[:run])), run
	}
	if isControl(rune(p[0])) {
		return Event{Key: control[p[0]]}, 1
	}
	end := length(p, isControl)
	if end == len(p) { // it may end within a character
		for i := end - 1; i >= max(0, end-utf8.UTFMax); i-- {
			if utf8.RuneStart(p[i]) && !utf8.FullRune(p[i:]) {
				end = i
			}
		}
	}
	return Event{Text: strings.ToValidUTF8(string(p[:end]), "\ufffd")}, end
}

// length is that of what stands in p before a character that ends it.
func length(p []byte, ends func(rune) bool) int {
	if at := bytes.IndexFunc(p, ends); at >= 0 {
		return at
	}
	return len(p)
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// pasted does to a paste what Claude does: line ends become newlines, a
// tab four blanks, escape sequences go.
func pasted(s string) Event {
	s = csi.ReplaceAllString(strings.NewReplacer("\r\n", "\n", "\r", "\n", "\t", "    ").Replace(s), "")
	return Event{Text: strings.ToValidUTF8(s, "\ufffd"), Paste: true}
}
