// Package ansi reads what passes through a terminal line by line: [Reader] the
// output of a program that prints lines, [Typist] the keys of a human. Neither
// is a screen: text that is painted is recognised, not reconstructed.
package ansi

// MaxLine is how many bytes of a line are kept; the rest is dropped.
const MaxLine = 68 << 10

// Line is one line of output, as it stood when its newline came.
type Line struct {
	Text []byte // without escape sequences and newline; valid until the next call
	// Fresh is the length of what was printed last. It is shorter than Text when
	// the cursor went back and older text still stands behind.
	Fresh int
	// Painted lines are not, or not only, new output: the cursor was moved on
	// them other than by printing, returning, going back or erasing; they are
	// printed over again after a move up; they are on the alternate screen, or
	// somewhere after an absolute move, until the screen is cleared.
	Painted bool
}

// Reader makes lines of output, however it is cut into pieces. Its zero value is
// ready to use. It holds one line and allocates nothing for plain text.
type Reader struct {
	// SkipPainted: painted lines are not wanted and are passed over.
	SkipPainted bool
	// Among, unless it is empty, are bytes: a line without any of them is not wanted, and is passed
	// over as well where that saves work.
	Among string

	line   line
	escape escape
	place  place
}

// Next reads p up to the end of the first line that ends in it and is wanted. It returns the
// line and how many bytes it took: all of p when ok is false.
func (r *Reader) Next(p []byte) (l Line, n int, ok bool) {
	for n = r.pass(p); n < len(p); {
		size, ended := r.step(p[n:], &l)
		n += size
		if ended && r.wants(l) {
			return l, n, true
		}
		if ended || r.skips() {
			n += r.pass(p[n:])
		}
	}
	return Line{}, n, false
}

// step takes what p, which is not empty, starts with: text, a sequence, or one byte. It says
// whether that ended the line l.
func (r *Reader) step(p []byte, l *Line) (n int, ended bool) {
	switch {
	case !r.escape.ground():
		n = r.escape.insideString(p)
	case p[0] == 0x1B:
		n = r.wholeCSI(p)
	case r.line.simple():
		n = plainRun(p)
		if end := lineEnd(p[n:]); end > 0 {
			*l = r.ended(p[:n])
			return n + end, true
		}
		if n > 0 {
			r.print(p[:n])
		}
	}
	if n > 0 {
		return n, false
	}
	if r.one(p[0]) {
		*l = r.newline()
		return 1, true
	}
	return 1, false
}

// wants reports whether a line is wanted, as far as that is to be seen from how it came to be.
func (r *Reader) wants(l Line) bool { return !l.Painted || !r.SkipPainted }

// Rest returns what stands on the last line, if anything, as a line.
func (r *Reader) Rest() (l Line, ok bool) {
	if r.line.empty() {
		return Line{}, false
	}
	return r.newline(), true
}

// Resync tells that new output is printed from here on, wherever the cursor was.
func (r *Reader) Resync() { r.place.lost = false }

// lineEnd is the length of the line end at the start of p, 0 when there is none.
func lineEnd(p []byte) int {
	switch {
	case len(p) > 0 && p[0] == '\n':
		return 1
	case len(p) > 1 && p[0] == '\r' && p[1] == '\n':
		return 2
	}
	return 0
}

// ended ends a simple line with text. Most lines are whole in p and not copied.
func (r *Reader) ended(text []byte) Line {
	if len(r.line.text) == 0 && len(text) <= MaxLine && !r.place.special() {
		return Line{Text: text, Fresh: len(text)}
	}
	r.print(text)
	return r.newline()
}

// print adds text to a simple line, unless nobody wants it.
func (r *Reader) print(text []byte) {
	r.place.print()
	if !r.skips() {
		r.line.append(text)
	}
}

// obey carries out a sequence. Text that is not wanted any more is dropped: an empty line is
// erased at no cost.
func (r *Reader) obey(seq sequence) {
	r.line.applyReturn()
	r.place.obey(seq, &r.line)
	if r.skips() && !r.line.empty() {
		r.line.reset()
	}
}

// wholeCSI carries out the control sequence that p starts with, and returns its length. It is 0
// for all else: what is cut or holds anything unusual is read byte by byte.
func (r *Reader) wholeCSI(p []byte) int {
	if len(p) < 3 || p[1] != '[' {
		return 0
	}
	n := 2 + parameters(p[2:])
	switch {
	case n == len(p) || p[n] < '@' || p[n] > '~':
		return 0
	case p[n] == 'm' && !r.line.cr: // a colour
		return n + 1
	}
	s := sequence{kind: '[', final: p[n], number: -1}
	for _, c := range p[2:n] {
		s.parameter(c)
	}
	r.obey(s)
	return n + 1
}

// newline ends the line that was gathered.
func (r *Reader) newline() Line {
	l := Line{Painted: r.place.painted()}
	l.Text, l.Fresh = r.line.end()
	r.place.newline()
	return l
}

// one takes a byte that is not simple text, or comes at a time that is not, and
// reports whether it ends the line.
func (r *Reader) one(c byte) bool {
	if !r.escape.ground() || c == 0x1B {
		if seq, done := r.escape.next(c); done {
			r.obey(seq)
		}
		if c != '\n' && c != '\r' || !r.escape.ground() {
			return false
		}
	}
	switch {
	case c == '\n':
		return true
	case c == '\r':
		r.line.carriage()
	case c == '\b':
		r.line.back()
	case c == '\v' || c == '\f':
		r.place.tainted = true
	case c >= ' ' && c != 0x7F || c == '\t':
		r.place.print()
		if !r.skips() {
			r.line.put(c)
		}
	}
	return false
}
