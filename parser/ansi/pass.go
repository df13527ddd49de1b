package ansi

import "bytes"

// pass passes over what p starts with of lines that are not wanted. Where there is no such line,
// or nothing is gained, it takes nothing.
func (r *Reader) pass(p []byte) int {
	switch {
	case !r.escape.ground():
		return 0
	case r.skips():
		return r.passPainted(p)
	case r.Among != "" && r.line.empty() && !r.place.special():
		return passDull(p, r.Among)
	}
	return 0
}

// skips says that the line in progress is not wanted whatever comes: it is painted, and stays so
// unless it is cleared. One that only stands on an unknown row is not, for Resync makes it a new
// line of output.
func (r *Reader) skips() bool { return r.SkipPainted && (r.place.tainted || r.place.alt) }

// passPainted passes over painted lines, of which only sequences count. It stops behind the last
// such line, or before what is to be read byte by byte.
func (r *Reader) passPainted(p []byte) int {
	for n := 0; n < len(p); {
		// Where the row is lost already, and the screen not about to be cleared, moves change
		// nothing.
		moves := r.place.lost && !r.place.home && !r.place.erased
		run := harmless(p[n:], false, moves)
		if run == 0 {
			run = plainRun(p[n:])
		}
		r.printed(p[n : n+run])
		if n += run; n == len(p) {
			return n
		}
		size := 1
		switch p[n] {
		case 0x1B:
			size = r.wholeCSI(p[n:])
		case '\n':
			if !r.line.empty() {
				r.line.reset()
			}
			r.place.newline()
		}
		n += size
		if size == 0 || !r.skips() {
			return n
		}
	}
	return len(p)
}

// printed tells that b was printed and is not wanted.
func (r *Reader) printed(b []byte) {
	for i := 0; i < len(b) && (r.place.home || r.place.erased); {
		switch size := dull(b[i:]); {
		case size > 0:
			i += size
		case plainRun(b[i:]) > 0:
			r.place.print()
		default:
			i++
		}
	}
}

// passDull passes over lines that hold none of the bytes among, and nothing that reaches beyond
// them: whatever else happens to their text, it does not make such a byte.
func passDull(p []byte, among string) int {
	for i := range len(among) {
		p = p[:length(p, among[i])]
	}
	p = p[:bytes.LastIndexByte(p, '\n')+1]
	for n := length(p, 0x1B); n < len(p); n += length(p[n:], 0x1B) {
		size := dull(p[n:])
		if size == 0 {
			return bytes.LastIndexByte(p[:n], '\n') + 1
		}
		n += size
		n += harmless(p[n:], true, false)
	}
	return len(p)
}

// length is how many bytes of p come before c.
func length(p []byte, c byte) int {
	if n := bytes.IndexByte(p, c); n >= 0 {
		return n
	}
	return len(p)
}

// dull is the length of the sequence that p starts with if it changes at most the line that it
// stands on: a colour, an erasure in the line, a charset. It is 0 for all else.
func dull(p []byte) int {
	switch {
	case len(p) < 3 || p[0] != 0x1B:
		return 0
	case p[1] == '[':
		if n := 2 + parameters(p[2:]); n < len(p) && (p[n] == 'm' || p[n] == 'K') {
			return n + 1
		}
	case p[1] == '(' && p[2] > ' ' && p[2] < 0x7F:
		return 3
	}
	return 0
}
