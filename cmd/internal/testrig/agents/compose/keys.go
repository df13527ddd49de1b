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

// escape is a whole sequence, or Alt and a key.
var escape = regexp.MustCompile("^\x1b(?:[[O][^@-~]*[@-~]|[^[O\x1b])")

// Decoder turns reads into events. Where one read ends matters: an Enter that
// comes in the same read as the end of a paste joins the paste, as in Claude.
type Decoder struct {
	rest    []byte // an unfinished sequence or character
	pasting bool
	paste   []byte
}

// Pending reports whether the last read ended inside a sequence; after a short
// silence call Flush.
func (d *Decoder) Pending() bool { return len(d.rest) > 0 && !d.pasting }

// Flush gives up waiting: a lone ESC is the key, anything else is dropped.
func (d *Decoder) Flush() []Event {
	lone := string(d.rest) == "\x1b"
	d.rest = nil
	if lone {
		return []Event{{Key: Esc}}
	}
	return nil
}

// Feed decodes one read.
func (d *Decoder) Feed(read []byte) []Event {
	p := append(d.rest, read...)
	d.rest = nil
	var out []Event
	for len(p) > 0 {
		if d.pasting {
			p = d.feedPaste(p, &out)
			continue
		}
		ev, n := decode(p)
		if n == 0 {
			d.rest = bytes.Clone(p)
			break
		}
		if string(p[:n]) == pasteBegin {
			d.pasting = true
		} else if ev != (Event{}) {
			out = append(out, ev)
		}
		p = p[n:]
	}
	return out
}

// feedPaste takes p up to the end of the paste and returns what follows.
func (d *Decoder) feedPaste(p []byte, out *[]Event) []byte {
	d.paste = append(d.paste, p...)
	body, after, ok := bytes.Cut(d.paste, []byte(pasteEnd))
	if !ok {
		return nil
	}
	text := string(body)
	after = bytes.Clone(after)
	d.pasting, d.paste = false, nil
	if len(after) > 0 && after[0] == '\r' {
		text += "\n"
		after = after[1:]
	}
	*out = append(*out, Event{Text: cleanPaste(text), Paste: true})
	return after
}

// decode reads one event; n is 0 when p holds only its beginning.
func decode(p []byte) (ev Event, n int) {
	if bytes.HasPrefix(p, []byte("\x1b\x1b")) {
		return Event{Key: Esc}, 1
	}
	if p[0] == 0x1b {
		seq := escape.Find(p)
		return Event{Key: sequences[string(seq)]}, len(seq)
	}
	if run := textRun(p); run >= burstBytes {
		return Event{Text: cleanPaste(string(p[:run])), Paste: true}, run
	}
	if isControl(rune(p[0])) {
		return Event{Key: control[p[0]]}, 1
	}
	end := bytes.IndexFunc(p, isControl)
	if end < 0 {
		end = len(p) - len(unfinished(p))
	}
	return Event{Text: strings.ToValidUTF8(string(p[:end]), "\ufffd")}, end
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// unfinished is the beginning of a character with which p ends.
func unfinished(p []byte) []byte {
	for i := len(p) - 1; i >= max(0, len(p)-utf8.UTFMax); i-- {
		if utf8.RuneStart(p[i]) {
			if utf8.FullRune(p[i:]) {
				return nil
			}
			return p[i:]
		}
	}
	return nil
}

// textRun is the length of the text and line ends that p starts with.
func textRun(p []byte) int {
	for i, c := range p {
		if isControl(rune(c)) && c != '\r' && c != '\n' {
			return i
		}
	}
	return len(p)
}

var csi = regexp.MustCompile("\x1b\\[[0-?]*[ -/]*[@-~]")

// cleanPaste does to a paste what Claude does: line ends become newlines, a
// tab four blanks, escape sequences go.
func cleanPaste(s string) string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
	s = csi.ReplaceAllString(s, "")
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\t", "    "), "\ufffd")
}
