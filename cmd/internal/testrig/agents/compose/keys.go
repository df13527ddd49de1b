// Package compose is the heart of the fake composer agent, without a terminal:
// a decoder of what was read, a line editor, and the rows it shows. It behaves
// as Claude Code 2.1.329's composer was measured to, where an injector cares.
// It starts no goroutines and keeps no time.
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
	Up
	Down
	Home
	End
	KillLine   // C-u
	Interrupt  // C-c
	EndOfInput // C-d
	Stash      // C-s
	EditDraft  // C-g
	Tab
	Esc
	FocusIn
	FocusOut
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
	0x15: KillLine, 0x03: Interrupt, 0x04: EndOfInput, 0x13: Stash, 0x07: EditDraft, '\t': Tab,
}

var sequences = map[string]Key{
	"\x1b[A": Up, "\x1b[B": Down, "\x1b[C": Right, "\x1b[D": Left, "\x1b[H": Home, "\x1b[F": End,
	"\x1bOA": Up, "\x1bOB": Down, "\x1bOC": Right, "\x1bOD": Left, "\x1bOH": Home, "\x1bOF": End,
	"\x1b[1~": Home, "\x1b[4~": End, "\x1b[I": FocusIn, "\x1b[O": FocusOut,
}

// Decoder turns reads into events. Where one read ends matters: an Enter that
// comes in the same read as the end of a paste joins the paste, as in Claude.
type Decoder struct {
	// Extended: the terminal was asked to report keys in the forms of the kitty
	// keyboard protocol or of modifyOtherKeys; else these mean nothing.
	Extended bool

	rest    []byte // an unfinished sequence or character
	pasting bool
	paste   []byte
}

// Pending says that the last read ended inside a sequence; after a short
// silence call Flush.
func (d *Decoder) Pending() bool { return len(d.rest) > 0 && !d.pasting }

// Flush gives up waiting: a lone ESC is the key, anything else is dropped.
func (d *Decoder) Flush() []Event {
	lone := len(d.rest) == 1 && d.rest[0] == 0x1b
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
		ev, n := d.decode(p)
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
func (d *Decoder) decode(p []byte) (ev Event, n int) {
	if p[0] == 0x1b {
		return d.decodeEscape(p)
	}
	run := textRun(p)
	if run >= burstBytes {
		return Event{Text: cleanPaste(string(p[:run])), Paste: true}, run
	}
	if k, ok := control[p[0]]; ok {
		return Event{Key: k}, 1
	}
	if p[0] < ' ' {
		return Event{}, 1
	}
	end := bytes.IndexFunc(p, func(r rune) bool { return r < ' ' || r == 0x7f })
	if end < 0 {
		end = len(p)
	}
	for cut := end; cut > 0 && cut > end-utf8.UTFMax; cut-- {
		if utf8.Valid(p[:cut]) {
			return Event{Text: string(p[:cut])}, cut
		}
	}
	if end == len(p) && end < utf8.UTFMax && !utf8.FullRune(p) {
		return Event{}, 0
	}
	return Event{Text: strings.ToValidUTF8(string(p[:end]), "\ufffd")}, end
}

// textRun is the length of the text and line ends that p starts with.
func textRun(p []byte) int {
	for i, c := range p {
		if c < ' ' && c != '\r' && c != '\n' || c == 0x7f {
			return i
		}
	}
	return len(p)
}

func (d *Decoder) decodeEscape(p []byte) (Event, int) {
	if len(p) == 1 {
		return Event{}, 0
	}
	switch p[1] {
	case '[', 'O':
		for i := 2; i < len(p); i++ {
			if p[i] >= 0x40 && p[i] <= 0x7e {
				seq := string(p[:i+1])
				if d.Extended && (p[i] == 'u' || strings.HasPrefix(seq, "\x1b[27;")) {
					return extended(seq), i + 1
				}
				return Event{Key: sequences[seq]}, i + 1
			}
		}
		return Event{}, 0
	case 0x1b:
		return Event{Key: Esc}, 1
	}
	return Event{}, 2 // Alt and a key
}

var csi = regexp.MustCompile("\x1b\\[[0-?]*[ -/]*[@-~]")

// cleanPaste does to a paste what Claude does: line ends become newlines, a
// tab four blanks, escape sequences go.
func cleanPaste(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	s = strings.ReplaceAll(s, "\r", "\n")
	s = csi.ReplaceAllString(s, "")
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\t", "    "), "\ufffd")
}
