package parser

import (
	"bytes"

	"relay-pty/protocol"
)

// fenced is a relay marker whose body is not yet closed.
type fenced struct {
	command Command
	width   int    // of its fence
	raw     []byte // from the arrow on
	from    int    // where the body starts in raw
}

// openFence reads the marker m with a fence of width at m[at:].
func openFence(c Command, m []byte, at, width int) (Item, *fenced) {
	f := &fenced{command: c, width: width, from: at + width}
	if i := closing(m[f.from:], width); i >= 0 {
		f.raw = m
		return f.close(f.from + i), nil
	}
	f.raw = append(f.raw, m...)
	return nil, f
}

// add takes one line; done says that item ends the marker.
func (f *fenced) add(line []byte) (item Item, done bool) {
	i := closing(line, f.width)
	start := len(f.raw) + 1
	if i >= 0 {
		line = line[:i+f.width]
	}
	// One line may be long; what is refused anyway need not be copied.
	if len(f.raw)-f.from+len(line) <= protocol.MaxBody+f.width+4 {
		f.raw = append(append(f.raw, '\n'), line...)
		if i >= 0 {
			return f.close(start + i), true
		}
		// The last carriage return may be half of the newline that is trimmed.
		if len(bytes.TrimSuffix(trimNewlines(f.raw[f.from:]), []byte("\r"))) <= protocol.MaxBody {
			return nil, false
		}
	}
	return invalid("body over 65536 bytes", f.raw), true
}

// close makes the item of a marker whose closing fence starts at raw[at:].
func (f *fenced) close(at int) Item {
	return finish(f.command, f.raw, trimNewlines(f.raw[f.from:at]), at+f.width)
}

// trimNewlines drops one newline, LF or CRLF, from each end of b.
func trimNewlines(b []byte) []byte {
	if c, ok := bytes.CutPrefix(b, []byte("\r\n")); ok {
		b = c
	} else {
		b = bytes.TrimPrefix(b, []byte("\n"))
	}
	if c, ok := bytes.CutSuffix(b, []byte("\n")); ok {
		b = bytes.TrimSuffix(c, []byte("\r"))
	}
	return b
}

// codeFence is an open Markdown code fence (CommonMark 0.31, 4.5). Its zero
// value is none.
type codeFence struct {
	char   byte // '`' or '~'
	length int
	column int // where the content of the list item around it starts, 0 outside of lists
}

func (f codeFence) open() bool { return f.length > 0 }

// opensCode reports whether b opens a code fence.
func opensCode(b []byte) (codeFence, bool) {
	i := leadIn(b)
	if i < 0 {
		return codeFence{}, false
	}
	column := 0
	for n := listMarker(b[i:]); n > 0; n = listMarker(b[i:]) {
		i += n
		column = i
	}
	if i >= len(b) || b[i] != '`' && b[i] != '~' {
		return codeFence{}, false
	}
	f := codeFence{char: b[i], length: run(b[i:], b[i]), column: column}
	info := b[i+f.length:]
	if f.length < 3 || f.char == '`' && bytes.IndexByte(info, '`') >= 0 {
		return codeFence{}, false
	}
	return f, true
}

// holds reports whether b is inside the fence, or closes it. A line that is
// neither stands outside: the list item that held the fence has ended.
func (f codeFence) holds(b []byte) (in, closed bool) {
	indent := blanks(b)
	text := trimRight(trimLeft(b))
	if len(text) > 0 && indent < f.column {
		return false, false
	}
	if indent > f.column+3 {
		return true, false
	}
	n := run(text, f.char)
	if n >= f.length && n == len(text) {
		return false, true
	}
	return true, false
}

// listMarker is the length of a list's bullet or number with the blanks after
// it, 0 when b starts with none.
func listMarker(b []byte) int {
	n := 0
	for n < len(b) && n < 9 && b[n] >= '0' && b[n] <= '9' {
		n++
	}
	switch {
	case n >= len(b):
		return 0
	case n == 0 && b[0] != '-' && b[0] != '+' && b[0] != '*':
		return 0
	case n > 0 && b[n] != '.' && b[n] != ')':
		return 0
	}
	n++
	after := blanks(b[n:])
	if after == 0 || after > 4 || n+after >= len(b) || b[n] == '\t' {
		return 0
	}
	return n + after
}
