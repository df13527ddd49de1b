// Package vt cuts a byte stream that drives a terminal into text, controls and
// sequences. It knows their form and nothing of their meaning.
package vt

import (
	"math/bits"
	"unicode/utf8"
)

// Actions is what a Parser makes of bytes. Slices and the sequence are valid
// during the call only.
type Actions interface {
	ASCII(p []byte)           // a run of 0x20 to 0x7e, never empty
	Multibyte(p []byte)       // a run of bytes >= 0x80, never empty, not cut within a character
	Control(c byte)           // a C0 control other than ESC, CAN and SUB
	Escape(inter, final byte) // ESC, at most one intermediate (or 0), final
	CSI(s *Sequence)          // a whole control sequence
	OSC(data []byte)          // what stood between ESC ] and its end, at most MaxString bytes
}

// Parser recognises text, controls and sequences in a stream of bytes cut
// anywhere. Its states are those of the VT500 family as Paul Williams drew them
// (vt100.net/emu/dec_ansi_parser), for UTF-8: bytes from 0x80 on are text and
// never C1 controls, so 0x9C within a title does not end it. DCS, SOS, PM, APC
// and screen's ESC k are swallowed. The zero Parser is ready.
type Parser struct {
	state state
	seq   Sequence
	inter byte   // of an ESC sequence; bad when more than one came
	str   []byte // of an OSC

	// tail is the start of a character whose rest has not come yet.
	tail  [utf8.UTFMax]byte
	ntail int
}

type state uint8

const (
	ground   state = iota
	escaped        // after ESC
	inCSI          // after ESC [
	inOSC          // after ESC ]
	inString       // after ESC P, ESC X, ESC ^, ESC _, ESC k
)

const (
	// MaxString is how many bytes of an OSC are kept; the rest is swallowed.
	MaxString = 4096 + 32
	// MaxArgs is how many parameters of a sequence are kept; more are dropped.
	MaxArgs = 32
)

// bad stands for intermediates that no sequence of ours has.
const bad = 0xff

// Sequence is a control sequence: ESC [, Prefix (one of < = > ?, or 0), Args,
// Inter (0x20 to 0x2f, or 0), Final. Omitted arguments are 0; all are cut to
// 65535. Only the first Count arguments mean anything; there is always one.
type Sequence struct {
	Prefix, Inter, Final byte
	Args                 [MaxArgs]uint16

	last int    // index of the last argument, MaxArgs when there were more
	sub  uint32 // bit i: argument i came after a colon
}

// Count returns the number of arguments, at least 1.
func (s *Sequence) Count() int { return min(s.last+1, MaxArgs) }

// IsSub reports whether argument i exists and came after a colon.
func (s *Sequence) IsSub(i int) bool { return s.sub>>i&1 != 0 }

// Arg returns argument i, or def when it was omitted or 0.
func (s *Sequence) Arg(i, def int) int {
	if i < s.Count() && s.Args[i] != 0 {
		return int(s.Args[i])
	}
	return def
}

func (s *Sequence) reset() {
	s.Prefix, s.Inter, s.Final, s.Args[0], s.last, s.sub = 0, 0, 0, 0, 0, 0
}

// digits takes the digits that b, which starts with one, starts with, and returns how many.
func (s *Sequence) digits(b []byte) int {
	if s.Inter != 0 {
		s.Inter = bad
	}
	n, value := 0, uint32(s.Args[s.last%MaxArgs])
	for ; n < len(b) && b[n]-'0' < 10; n++ {
		value = min(value*10+uint32(b[n]-'0'), 0xffff)
	}
	if s.last < MaxArgs {
		s.Args[s.last] = uint16(value)
	}
	return n
}

// plain takes a whole sequence of digits and semicolons, as nearly all are, and returns how many
// bytes that was; for all else 0, and then s means nothing. inCSI would make the same of it.
func (s *Sequence) plain(b []byte) int {
	s.Prefix, s.Inter, s.sub = 0, 0, 0
	last, value := 0, uint32(0)
	for i, c := range b {
		switch {
		case c-'0' < 10:
			value = min(value*10+uint32(c-'0'), 0xffff)
		case c == ';' && last < MaxArgs-1:
			s.Args[last] = uint16(value)
			last, value = last+1, 0
		case c-0x40 < 0x7f-0x40:
			s.Args[last], s.last, s.Final = uint16(value), last, c
			return i + 1
		default:
			return 0
		}
	}
	return 0
}

func (s *Sequence) next(separator byte) {
	if s.Inter != 0 {
		s.Inter = bad
	}
	if s.last >= MaxArgs {
		return
	}
	s.last++
	if s.last < MaxArgs {
		s.Args[s.last] = 0
		if separator == ':' {
			s.sub |= 1 << s.last
		}
	}
}

// Between reports whether the next byte begins a character, a control or a sequence.
func (p *Parser) Between() bool { return p.state == ground && p.ntail == 0 }

// Feed runs b through the parser.
func (p *Parser) Feed(b []byte, a Actions) {
	for len(b) > 0 {
		switch p.state {
		case ground:
			b = p.ground(b, a)
		case escaped:
			b = p.escaped(b, a)
		case inCSI:
			b = p.inCSI(b, a)
		default:
			b = p.inString(b, a)
		}
	}
}

// ground takes text and controls up to a sequence that is more than a CSI, or its rest.
func (p *Parser) ground(b []byte, a Actions) []byte {
	if p.ntail > 0 {
		return p.rejoin(b, a)
	}
	for len(b) > 0 && p.state == ground {
		switch c := b[0]; {
		case c-0x20 < 0x7f-0x20:
			n := printable(b)
			a.ASCII(b[:n])
			b = b[n:]
		case c >= 0x80:
			b = p.multibyte(b, a)
		case c == 0x1b && len(b) > 1 && b[1] == '[':
			b = p.csi(b[2:], a)
		case c == 0x1b:
			p.enter(escaped)
			b = b[1:]
		case c < 0x20:
			p.control(c, a)
			b = b[1:]
		default: // DEL
			b = b[1:]
		}
	}
	return b
}

// printable is how many bytes of b are 0x20 to 0x7e. It looks at eight at once: a bit is set in
// others for a byte below 0x20, and bit 7 for one from 0x7f on.
func printable(b []byte) int {
	const each, high = 0x0101010101010101, 0x8080808080808080
	n := 0
	for ; n+8 <= len(b); n += 8 {
		q := b[n : n+8]
		x := uint64(q[0]) | uint64(q[1])<<8 | uint64(q[2])<<16 | uint64(q[3])<<24 |
			uint64(q[4])<<32 | uint64(q[5])<<40 | uint64(q[6])<<48 | uint64(q[7])<<56
		if others := ((x - each*0x20) | (x + each) | x) & high; others != 0 {
			return n + bits.TrailingZeros64(others)/8 // a borrow or carry reaches only what is behind
		}
	}
	for n < len(b) && b[n]-0x20 < 0x7f-0x20 {
		n++
	}
	return n
}

func (p *Parser) enter(s state) {
	p.state = s
	switch s {
	case escaped:
		p.inter = 0
	case inCSI:
		p.seq.reset()
	case inOSC:
		p.str = p.str[:0]
	}
}

// control runs a C0 control, which may stand within a sequence. CAN and SUB end
// the sequence and do nothing else.
func (p *Parser) control(c byte, a Actions) {
	if c == 0x18 || c == 0x1a {
		p.state = ground
		return
	}
	a.Control(c)
}

// multibyte takes the bytes >= 0x80 that b starts with, and keeps the last
// character when b ends within it.
func (p *Parser) multibyte(b []byte, a Actions) []byte {
	n := 1
	for n < len(b) && b[n] >= 0x80 {
		n++
	}
	run := b[:n]
	if n == len(b) {
		for back := 1; back < utf8.UTFMax && back <= len(run); back++ {
			if start := run[len(run)-back:]; utf8.RuneStart(start[0]) {
				if !utf8.FullRune(start) {
					p.ntail = copy(p.tail[:], start)
					run = run[:len(run)-back]
				}
				break
			}
		}
	}
	if len(run) > 0 {
		a.Multibyte(run)
	}
	return b[n:]
}

// rejoin completes the character in tail with the start of b.
func (p *Parser) rejoin(b []byte, a Actions) []byte {
	for p.ntail > 0 {
		tail := p.tail[:p.ntail]
		switch {
		case utf8.FullRune(tail):
			n := Subpart(tail)
			a.Multibyte(tail[:n])
			p.ntail = copy(p.tail[:], tail[n:])
		case len(b) == 0:
			return b
		case b[0] < 0x80:
			a.Multibyte(tail)
			p.ntail = 0
		default:
			p.tail[p.ntail] = b[0]
			p.ntail++
			b = b[1:]
		}
	}
	return b
}

// Subpart returns how many bytes of p make one character: a whole one, or the
// longest start of one that cannot be finished, which is shown as one U+FFFD
// (Unicode 15, section 3.9, "substitution of maximal subparts").
func Subpart(p []byte) int {
	n := 1
	for n < len(p) && !utf8.FullRune(p[:n]) {
		n++
	}
	if n > 1 && utf8.FullRune(p[:n]) && !utf8.Valid(p[:n]) {
		n--
	}
	return n
}

func (p *Parser) escaped(b []byte, a Actions) []byte {
	switch c := b[0]; {
	case c == 0x1b:
		p.enter(escaped)
	case c < 0x20:
		p.control(c, a)
	case c < 0x30:
		if p.inter != 0 {
			c = bad
		}
		p.inter = c
	case c < 0x7f:
		p.final(c, a)
	}
	return b[1:]
}

// final ends an ESC sequence or turns it into a longer one.
func (p *Parser) final(c byte, a Actions) {
	p.state = ground
	if p.inter != 0 {
		if p.inter != bad {
			a.Escape(p.inter, c)
		}
		return
	}
	switch c {
	case '[':
		p.enter(inCSI)
	case ']':
		p.enter(inOSC)
	case 'P', 'X', '^', '_', 'k':
		p.enter(inString)
	default:
		a.Escape(0, c)
	}
}

// csi takes a control sequence from behind its ESC [ on.
func (p *Parser) csi(b []byte, a Actions) []byte {
	if n := p.seq.plain(b); n > 0 {
		a.CSI(&p.seq)
		return b[n:]
	}
	p.enter(inCSI)
	return p.inCSI(b, a)
}

func (p *Parser) inCSI(b []byte, a Actions) []byte {
	s := &p.seq
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c-'0' < 10:
			i += s.digits(b[i:]) - 1
		case c >= 0x7f: // DEL and bytes of UTF-8 have no place here
		case c >= 0x40:
			p.state = ground
			if s.Final = c; s.Inter != bad {
				a.CSI(s)
			}
			return b[i+1:]
		case c == ';' || c == ':':
			s.next(c)
		case c >= 0x3c:
			if s.Prefix != 0 || s.last > 0 || s.Args[0] != 0 || s.Inter != 0 {
				s.Inter = bad
			}
			s.Prefix = c
		case c >= 0x20:
			if s.Inter != 0 {
				c = bad
			}
			s.Inter = c
		case c == 0x1b:
			p.enter(escaped)
			return b[i+1:]
		default:
			if p.control(c, a); p.state == ground {
				return b[i+1:]
			}
		}
	}
	return nil
}

// inString reads an OSC, or passes over a string that means nothing to us. ESC
// ends either, normally as the first half of ST; BEL ends an OSC only.
func (p *Parser) inString(b []byte, a Actions) []byte {
	for i, c := range b {
		switch {
		case c >= 0x20:
			if p.state == inOSC && len(p.str) < MaxString {
				p.str = append(p.str, c)
			}
		case c == 0x18 || c == 0x1a:
			p.state = ground
			return b[i+1:]
		case c == 0x1b || c == 0x07 && p.state == inOSC:
			if p.state == inOSC {
				a.OSC(p.str)
			}
			p.state = ground
			if c == 0x1b {
				p.enter(escaped)
			}
			return b[i+1:]
		}
	}
	return nil
}
