package parser

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"relay-pty/protocol"
)

var (
	relayPrefix = []byte("->relay:")
	readyWord   = []byte("->pty:ready")
	// glyphs are what TUIs put before their agent's words: Claude Code ● (⏺ on
	// macOS), Codex •, Gemini CLI ✦. List bullets (- * +) are not among them:
	// those are the agent's own text.
	glyphs = [...]string{"●", "⏺", "•", "✦"}
)

// markerBytes: a line that holds none of them is no marker and opens no code fence.
const markerBytes = ">`~"

const (
	noMarker = iota
	relayMarker
	readyMarker
)

// marker returns b from its arrow on and which marker starts there.
func marker(b []byte) ([]byte, int) {
	i := leadIn(b)
	if i < 0 || i >= len(b) || b[i] != '-' {
		return nil, noMarker
	}
	m := b[i:]
	switch {
	case bytes.HasPrefix(m, relayPrefix):
		return m, relayMarker
	case bytes.HasPrefix(m, readyWord) && len(trimRight(m)) == len(readyWord):
		return m, readyMarker
	}
	return nil, noMarker
}

// leadIn is the length of what may stand before a marker, -1 when b starts with
// four blanks or more.
func leadIn(b []byte) int {
	i := blanks(b)
	if i > 3 {
		return -1
	}
	n := glyph(b[i:])
	if n == 0 {
		return i
	}
	i += n
	after := blanks(b[i:])
	if after == 0 || after > 3 {
		return -1
	}
	return i + after
}

func glyph(b []byte) int {
	if len(b) < 3 || b[0] != 0xE2 { // the first byte of all of them
		return 0
	}
	for _, g := range glyphs {
		if string(b[:3]) == g {
			return 3
		}
	}
	return 0
}

// blanks counts the leading blanks; a tab counts as four of them, so that it
// never stands before a marker.
func blanks(b []byte) int {
	for i, c := range b {
		switch c {
		case ' ':
		case '\t':
			return i + 4
		default:
			return i
		}
	}
	return len(b)
}

func trimLeft(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	return b
}

func trimRight(b []byte) []byte {
	for n := len(b); n > 0 && (b[n-1] == ' ' || b[n-1] == '\t' || b[n-1] == '\r'); n-- {
		b = b[:n-1]
	}
	return b
}

// parse reads a relay marker: a finished item, or a marker with an open fence.
func parse(m []byte) (Item, *fenced) {
	rest := m[len(relayPrefix):]
	end := bytes.IndexAny(rest, " \t")
	if end < 0 {
		end = len(trimRight(rest))
	}
	c := Command{To: string(rest[:end])}
	if protocol.ValidTarget(c.To) != nil {
		return invalid("bad target", m), nil
	}
	rest = trimLeft(rest[end:])
	if len(rest) > 0 && rest[0] == '[' {
		n, err := c.attributes(rest)
		if err != nil {
			return invalid(err.Error(), m), nil
		}
		rest = trimLeft(rest[n:])
	}
	if width := run(rest, '<'); width >= 3 {
		return openFence(c, m, len(m)-len(rest), width)
	}
	return finish(c, m, trimRight(rest), len(trimRight(m))), nil
}

// finish makes the item of a marker whose text is raw[:end].
func finish(c Command, raw, body []byte, end int) Item {
	switch {
	case len(bytes.TrimSpace(body)) == 0:
		return invalid("empty message", raw)
	case len(body) > protocol.MaxBody:
		return invalid("body over 65536 bytes", raw)
	case !utf8.Valid(body):
		return invalid("body is not UTF-8", raw)
	}
	c.Body, c.Raw = string(body), string(raw[:end])
	return c
}

// attributes reads the bracket at the start of b and returns its length.
func (c *Command) attributes(b []byte) (int, error) {
	end := bytes.IndexByte(b, ']')
	if end < 0 {
		return 0, fmt.Errorf("bracket is not closed")
	}
	for rest := trimLeft(b[1:end]); len(rest) > 0; {
		key, after, found := bytes.Cut(rest, []byte("="))
		if !found {
			return 0, fmt.Errorf("bracket holds %q, not key=value", clip(rest))
		}
		after = trimLeft(after)
		n := bytes.IndexAny(after, " \t")
		if n < 0 {
			n = len(after)
		}
		if err := c.set(string(trimRight(key)), string(after[:n])); err != nil {
			return 0, err
		}
		rest = trimLeft(after[n:])
	}
	return end + 1, nil
}

// set stores one key of the bracket; each may stand once.
func (c *Command) set(key, value string) error {
	var field *string
	valid := protocol.ValidID
	switch key {
	case "re":
		field = &c.ReplyTo
	case "thread":
		field = &c.Thread
	case "mode":
		field, valid = &c.Mode, protocol.ValidMode
	default:
		return fmt.Errorf("unknown key %q", clip([]byte(key)))
	}
	switch {
	case valid(value) != nil:
		return fmt.Errorf("bad value of %s: %q", key, clip([]byte(value)))
	case *field != "":
		return fmt.Errorf("%s stands twice", key)
	}
	*field = value
	return nil
}

// closing is where a run of exactly width '>' starts in b, or -1.
func closing(b []byte, width int) int {
	for i := 0; i < len(b); {
		n := bytes.IndexByte(b[i:], '>')
		if n < 0 {
			return -1
		}
		i += n
		n = run(b[i:], '>')
		if n == width {
			return i
		}
		i += n
	}
	return -1
}

// run counts the bytes c at the start of b.
func run(b []byte, c byte) int {
	n := 0
	for n < len(b) && b[n] == c {
		n++
	}
	return n
}

func invalid(reason string, raw []byte) Invalid {
	if i := bytes.IndexByte(raw, '\n'); i >= 0 {
		raw = raw[:i]
	}
	return Invalid{Reason: reason, Raw: clip(trimRight(raw))}
}

// clip is the start of b, valid UTF-8 of at most maxQuote bytes.
func clip(b []byte) string {
	if len(b) > maxQuote {
		b = b[:maxQuote]
		for len(b) > maxQuote-utf8.UTFMax && !utf8.RuneStart(b[len(b)-1]) {
			b = b[:len(b)-1]
		}
		if r, size := utf8.DecodeLastRune(b); r == utf8.RuneError && size == 1 {
			b = b[:len(b)-1]
		}
	}
	return string(bytes.ToValidUTF8(b, nil))
}
