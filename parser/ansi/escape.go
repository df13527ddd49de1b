package ansi

// maxString bounds the strings inside control sequences (titles, images). What
// is longer is taken for garbage that never ends.
const maxString = 4 << 20

// escape reads control sequences (ECMA-48, xterm's ctlseqs) byte by byte. It
// keeps what place needs: the first number, the prefix and the final byte.
type escape struct {
	state  escapeState
	seq    sequence
	length int // of a string so far
	isOSC  bool
}

type escapeState uint8

const (
	inText escapeState = iota
	afterESC
	inCSI
	inString
	stringESC // an escape inside a string: its end, or another sequence
	oneMore   // a charset designation, SS2, SS3: one byte follows
)

// sequence is one control sequence; kind is '[' for CSI, 0 for a lone escape.
type sequence struct {
	kind, prefix, final byte
	middle              bool // it holds intermediate bytes, so it is not what its final says
	number              int  // its first parameter, -1 when absent
	further             bool // what comes now belongs to further parameters
}

// parameter takes a byte of a CSI before the final one.
func (s *sequence) parameter(c byte) {
	switch {
	case c >= '0' && c <= '9':
		if !s.further {
			s.number = min(max(s.number, 0)*10+int(c-'0'), 1<<20)
		}
	case c >= '<':
		s.prefix = c
	case c >= '0': // : and ;
		s.further = true
	default:
		s.middle = true
	}
}

func (e *escape) ground() bool { return e.state == inText }

// next takes a byte; done says that seq is complete.
func (e *escape) next(c byte) (seq sequence, done bool) {
	switch e.state {
	case inString, stringESC:
		e.inString(c)
		return sequence{}, false
	}
	switch {
	case c == 0x1B:
		e.state, e.seq = afterESC, sequence{number: -1}
		return sequence{}, false
	case c == 0x18 || c == 0x1A: // CAN, SUB
		e.state = inText
		return sequence{}, false
	case c == '\n' || c == '\r': // a broken sequence; the caller handles the byte
		e.state = inText
		return sequence{final: 'E'}, true
	case c < ' ' || c == 0x7F:
		return sequence{}, false
	}
	switch e.state {
	case afterESC:
		return e.escaped(c)
	case inCSI:
		return e.csi(c)
	default: // oneMore
		e.state = inText
		return sequence{}, false
	}
}

func (e *escape) escaped(c byte) (sequence, bool) {
	switch c {
	case '[':
		e.state = inCSI
		return sequence{}, false
	case ']', 'P', 'X', '^', '_':
		e.state, e.length, e.isOSC = inString, 0, c == ']'
		return sequence{}, false
	case '(', ')', '*', '+', '-', '.', '/', ' ', '#', '%', 'N', 'O':
		e.state = oneMore
		return sequence{}, false
	}
	e.state = inText
	e.seq.final = c
	return e.seq, true
}

func (e *escape) csi(c byte) (sequence, bool) {
	switch {
	case c >= ' ' && c <= '?':
		e.seq.parameter(c)
	case c >= '@' && c <= '~':
		e.state = inText
		e.seq.kind, e.seq.final = '[', c
		return e.seq, true
	default:
		e.state = inText
	}
	return sequence{}, false
}

// insideString passes over bytes of p that cannot end the string, if e is in one.
func (e *escape) insideString(p []byte) int {
	if e.state != inString {
		return 0
	}
	n := min(plainRun(p), maxString-e.length)
	e.length += n
	return n
}

// inString skips to the string's end: ST, BEL after an OSC, CAN or SUB.
func (e *escape) inString(c byte) {
	e.length++
	switch {
	case c == 0x07 && e.isOSC, c == 0x18, c == 0x1A, e.length > maxString:
		e.state = inText
	case c == 0x1B:
		e.state = stringESC
	case e.state == stringESC && c == '\\':
		e.state = inText
	case e.state == stringESC: // the escape ended the string and starts another sequence
		e.state, e.seq = afterESC, sequence{number: -1}
		e.escaped(c)
	}
}
