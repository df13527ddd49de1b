package term

import (
	"fmt"
	"strings"

	"relay-pty/pty/screen"
)

// inquiry finds the control sequences in what a program writes, in any
// cutting, so that those which ask the terminal something can be answered.
type inquiry struct {
	seq  []byte // the sequence so far, from its ESC on; empty: plain text
	long bool   // it is an OSC, DCS, APC, PM or SOS string
}

// maxSeq bounds a sequence that is kept; no question is that long.
const maxSeq = 256

// next takes the bytes of p, which is not empty, up to the end of the first
// sequence in it, and says how many those are and what the sequence was; ""
// while it is unfinished or there is none.
func (q *inquiry) next(p []byte) (n int, seq string) {
	for i, b := range p {
		switch {
		case len(q.seq) == 0 && b != 0x1b:
			continue
		case b == 0x1b && !q.long:
			q.seq = append(q.seq[:0], b)
			continue
		case len(q.seq) < maxSeq:
			q.seq = append(q.seq, b)
		}
		if q.over(b) {
			seq = string(q.seq)
			q.seq, q.long = q.seq[:0], false
			return i + 1, seq
		}
	}
	return len(p), ""
}

// over says whether b, just added, ends the sequence.
func (q *inquiry) over(b byte) bool {
	switch {
	case b == 0x18 || b == 0x1a: // CAN and SUB end anything
		return true
	case q.long:
		return b == 0x07 || b == '\\' && q.seq[len(q.seq)-2] == 0x1b
	case len(q.seq) == 2:
		q.long = strings.IndexByte("]P_^X", b) >= 0
		return !q.long && b != '['
	}
	return b >= 0x40 && b <= 0x7e
}

// answer is what a terminal like xterm, with s on it, says to seq; always the
// same to the same question. "" when it is none.
// Source: xterm's ctlseqs, and kitty's protocol extensions for CSI ? u.
func answer(seq string, s *screen.Screen) string {
	rows, cols := s.Size()
	row, col := s.Cursor()
	switch seq {
	case "\x1b[c", "\x1b[0c":
		return "\x1b[?62;22c"
	case "\x1b[>c", "\x1b[>0c":
		return "\x1b[>0;115;0c"
	case "\x1b[5n":
		return "\x1b[0n"
	case "\x1b[6n":
		return fmt.Sprintf("\x1b[%d;%dR", row+1, min(col, cols-1)+1)
	case "\x1b[18t":
		return fmt.Sprintf("\x1b[8;%d;%dt", rows, cols)
	case "\x1b[>q", "\x1b[>0q":
		return "\x1bP>|rig(1)\x1b\\"
	case "\x1b[?u":
		return "\x1b[?0u"
	}
	for _, c := range []struct{ before, after, reply string }{
		{"\x1b[?", "$p", "\x1b[?%s;2$y"}, // DECRQM: known, and off
		{"\x1b]10;?", "", "\x1b]10;rgb:ffff/ffff/ffff%s"},
		{"\x1b]11;?", "", "\x1b]11;rgb:0000/0000/0000%s"},
		{"\x1bP+q", "\x1b\\", "\x1bP0+r%s\x1b\\"},   // XTGETTCAP: not known
		{"\x1bP$q", "\x1b\\", "\x1bP0$r%.0s\x1b\\"}, // DECRQSS: not valid
	} {
		rest, found := strings.CutPrefix(seq, c.before)
		if rest, ends := strings.CutSuffix(rest, c.after); found && ends {
			return fmt.Sprintf(c.reply, rest)
		}
	}
	return ""
}
