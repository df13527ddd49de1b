package vt

import (
	"fmt"
	"strings"
	"testing"
)

// log writes down the actions, text joined so that cuttings compare equal.
type log struct{ strings.Builder }

func (l *log) ASCII(p []byte)     { l.Write(p) }
func (l *log) Multibyte(p []byte) { l.Write(p) }
func (l *log) Control(c byte)     { fmt.Fprintf(l, "<%02x>", c) }
func (l *log) Escape(inter, final byte) {
	fmt.Fprintf(l, "<ESC%s%c>", strings.Trim(string(rune(inter)), "\x00"), final)
}
func (l *log) OSC(data []byte) { fmt.Fprintf(l, "<OSC %s>", data) }
func (l *log) CSI(s *Sequence) {
	l.WriteString("<CSI ")
	if s.Prefix != 0 {
		l.WriteByte(s.Prefix)
	}
	for i := range s.Count() {
		if i > 0 {
			l.WriteByte(map[bool]byte{true: ':', false: ';'}[s.IsSub(i)])
		}
		fmt.Fprint(l, s.Args[i])
	}
	if s.Inter != 0 {
		l.WriteByte(s.Inter)
	}
	fmt.Fprintf(l, "%c>", s.Final)
}

func TestParser(t *testing.T) {
	many := strings.Repeat("7;", MaxArgs+5)
	for _, c := range []struct{ name, in, want string }{
		{"text and controls", "ab\r\n\x7fc", "ab<0d><0a>c"},
		{"UTF-8 is text", "a✳é😀b", "a✳é😀b"},
		{"C1 bytes are text", "\x9b1m\x9d", "\x9b1m\x9d"},
		{"no arguments are one", "\x1b[m", "<CSI 0m>"},
		{"omitted arguments", "\x1b[;5;H", "<CSI 0;5;0H>"},
		{"colons", "\x1b[38:2::1:2:3;4m", "<CSI 38:2:0:1:2:3;4m>"},
		{"prefix", "\x1b[?25l\x1b[>4;2m\x1b[<u\x1b[=1;1u", "<CSI ?25l><CSI >4;2m><CSI <0u><CSI =1;1u>"},
		{"intermediate", "\x1b[!p\x1b[2 q\x1b[?2026$p", "<CSI 0!p><CSI 2 q><CSI ?2026$p>"},
		{"two intermediates are unknown", "\x1b[!!px\x1b#!8y", "xy"},
		{"a prefix in the middle is unknown", "\x1b[1?hx\x1b[;?hx\x1b[??hx", "xxx"},
		{"an argument after an intermediate is unknown", "\x1b[ 1qx\x1b[ ;qx", "xx"},
		{"large arguments are cut", "\x1b[65535;65536;99999999999999999999H", "<CSI 65535;65535;65535H>"},
		{"too many arguments are dropped", "\x1b[" + many + "8:9m", "<CSI " + strings.Repeat("7;", MaxArgs-1) + "7m>"},
		{"state does not leak into the next", "\x1b[?1:2 m\x1b[m\x1b[;m", "<CSI ?1:2 m><CSI 0m><CSI 0;0m>"},
		{"a control within", "\x1b[1\r;2H", "<0d><CSI 1;2H>"},
		{"CAN and SUB end a sequence", "\x1b[1\x18mx\x1b[1\x1amx\x1b\x18mx", "mxmxmx"},
		{"ESC begins again", "\x1b[1\x1b[2m\x1b\x1b[3m", "<CSI 2m><CSI 3m>"},
		{"escapes", "\x1b7\x1b(0\x1b#8\x1bc", "<ESC7><ESC(0><ESC#8><ESCc>"},
		{"OSC ended by BEL", "\x1b]0;✳ x\aZ", "<OSC 0;✳ x>Z"},
		{"OSC ended by ST", "\x1b]0;x\x1b\\Z", "<OSC 0;x><ESC\\>Z"},
		{"OSC ended by a sequence", "\x1b]0;x\x1b[mZ", "<OSC 0;x><CSI 0m>Z"},
		{"OSC cancelled", "\x1b]0;x\x18Z", "Z"},
		{"controls within an OSC are dropped", "\x1b]0;a\n\tb\aZ", "<OSC 0;ab>Z"},
		{"an empty OSC", "\x1b]\aZ", "<OSC >Z"},
		{"a second OSC starts empty", "\x1b]0;x\a\x1b]1\a", "<OSC 0;x><OSC 1>"},
		{"a long OSC is cut", "\x1b]" + strings.Repeat("x", MaxString+9) + "\aZ", "<OSC " + strings.Repeat("x", MaxString) + ">Z"},
		{"other strings are swallowed", "\x1bPa\ab\x1b\\1\x1b_a\x1b\\2\x1b^a\x1b\\3\x1bXa\x1b\\4\x1bka\x1b\\5", "<ESC\\>1<ESC\\>2<ESC\\>3<ESC\\>4<ESC\\>5"},
		{"a DCS cancelled", "\x1bPabc\x18Z", "Z"},
		{"unfinished", "a\x1b[1;2", "a"},
	} {
		for size := 1; size <= len(c.in); size++ {
			var p Parser
			var l log
			for rest := c.in; rest != ""; {
				n := min(size, len(rest))
				p.Feed([]byte(rest[:n]), &l)
				rest = rest[n:]
			}
			if got := l.String(); got != c.want {
				t.Errorf("%s, %d bytes at a time: %q\n got %q\nwant %q", c.name, size, c.in, got, c.want)
				break
			}
		}
	}
}

// whole fails when a run of multibyte text ends within a character that goes on.
type whole struct {
	log
	runs []string
}

func (w *whole) Multibyte(p []byte) { w.runs = append(w.runs, string(p)) }

func TestCharactersAreNotCut(t *testing.T) {
	for _, in := range []string{"é", "✳", "😀", "é✳😀é"} {
		for cut := 1; cut < len(in); cut++ {
			var p Parser
			var w whole
			p.Feed([]byte(in[:cut]), &w)
			p.Feed([]byte(in[cut:]), &w)
			joined := ""
			for _, run := range w.runs {
				if strings.ToValidUTF8(run, "") != run {
					t.Errorf("%q cut at %d came as %q", in, cut, w.runs)
				}
				joined += run
			}
			if joined != in {
				t.Errorf("%q cut at %d came as %q", in, cut, joined)
			}
		}
	}
}

func TestSubpart(t *testing.T) {
	for in, want := range map[string]int{
		"\xe2\x9c\xb3x": 3, "\xe2\x9cx": 2, "\xe2x": 1, "\xe2\x9c": 2, "\xff\xff": 1, "\xc0\x80": 1,
		"\xf0\x9f\x98\xe2": 3, "\xed\xa0\x80": 1, "\xe2\xe2\x9c\xb3": 1, "\x80": 1, "\xef\xbf\xbd": 3, "\xf5\x80": 1,
	} {
		if got := Subpart([]byte(in)); got != want {
			t.Errorf("Subpart(%q) = %d, want %d", in, got, want)
		}
	}
}

func TestPrintableRuns(t *testing.T) {
	for c := range 256 {
		for at := range 20 {
			b := []byte(strings.Repeat("a~ ", 10))
			b[at] = byte(c)
			b[at+1] = byte(c + 1) // what comes behind must not matter
			want := at
			for want < len(b) && b[want] >= 0x20 && b[want] < 0x7f {
				want++
			}
			if got := printable(b); got != want {
				t.Fatalf("%q: %d, want %d", b, got, want)
			}
			if got := printable(b[:at+1]); got != min(want, at+1) {
				t.Fatalf("%q: %d, want %d", b[:at+1], got, min(want, at+1))
			}
		}
	}
}
