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
	line   line
	escape escape
	place  place
}

// Next reads p up to the end of the first line that ends in it. It returns the
// line and how many bytes it took: all of p when ok is false.
func (r *Reader) Next(p []byte) (l Line, n int, ok bool) {
	for n < len(p) {
		if r.escape.ground() && r.line.simple() {
			text := p[n : n+plainRun(p[n:])]
			n += len(text)
			if end := lineEnd(p[n:]); end > 0 {
				return r.ended(text), n + end, true
			}
			if len(text) > 0 {
				r.place.print()
				r.line.append(text)
			}
			if n == len(p) {
				break
			}
		}
		n++
		if r.one(p[n-1]) {
			return r.newline(), n, true
		}
	}
	return Line{}, n, false
}

// Rest returns what stands on the last line, if anything, as a line.
func (r *Reader) Rest() (l Line, ok bool) {
	if r.line.empty() {
		return Line{}, false
	}
	return r.newline(), true
}

// Resync tells that new output is printed from here on, wherever the cursor was.
func (r *Reader) Resync() { r.place.lost = false }

// plainRun is how many bytes of p are text.
func plainRun(p []byte) int {
	for i, c := range p {
		if c < ' ' && c != '\t' || c == 0x7F {
			return i
		}
	}
	return len(p)
}

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
	r.line.append(text)
	return r.newline()
}

// newline ends the line that was gathered.
func (r *Reader) newline() Line {
	l := Line{Painted: r.place.painted()}
	l.Text, l.Fresh = r.line.end()
	r.place.newline()
	return l
}

// one takes a byte that is not simple text, or comes at a time that is not, and
// says whether it ends the line.
func (r *Reader) one(c byte) bool {
	if !r.escape.ground() || c == 0x1B {
		if seq, done := r.escape.next(c); done {
			r.line.settle()
			r.place.obey(seq, &r.line)
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
		r.line.put(c)
	}
	return false
}
