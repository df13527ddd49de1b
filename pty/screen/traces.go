package screen

import (
	"strconv"
	"strings"

	"relay-pty/pty/screen/vt"
)

// Traces are what a program has changed on its terminal that would stay behind if it went without
// a word. They are compared by ==; the zero value is that of a terminal just started.
type Traces struct {
	modes   uint32 // bit i: tracked[i] is not as at the start
	keys    [2]keyboard
	shape   bool // of the cursor
	insert  bool
	newLine bool
	keypad  bool
	margins bool // what scrolls is not the whole screen
}

// keyboard is how keys are told, of one of the two screens.
type keyboard struct {
	pushed uint8 // settings that CSI > u put aside, each to be taken back by CSI < u
	set    bool  // by CSI = u
	other  bool  // modifyOtherKeys, which both screens share: told of the first
}

// tracked are the private modes that a program can leave behind, and how they are at the start.
// Their order is that of their undoing. Origin mode is not among them: the cursor brings it back.
var tracked = [...]struct {
	mode  uint16
	start bool
}{
	{1049, false}, {1047, false}, {47, false}, // the alternate screen
	{2026, false}, {25, true}, {7, true}, {1, false},
	{9, false}, {1000, false}, {1001, false}, {1002, false}, {1003, false}, // the mouse
	{1005, false}, {1006, false}, {1015, false}, {1016, false}, // how it is told
	{66, false}, {1004, false}, {2004, false}, {2031, false}, {2048, false},
}

// alternates is how many of them are about the alternate screen.
const alternates = 3

// mode notes that a private mode was set or reset.
func (t *Traces) mode(mode uint16, on bool) {
	for i := range tracked {
		switch {
		case tracked[i].mode != mode:
		case i < alternates && !on: // each leaves it, whichever went there
			t.modes &^= 1<<alternates - 1
			t.keys[1] = keyboard{} // out of reach, and of no more use
		case on == tracked[i].start:
			t.modes &^= 1 << i
		case i < alternates && t.alternate(): // it is there
		default:
			t.modes |= 1 << i
		}
	}
}

func (t *Traces) alternate() bool { return t.modes&(1<<alternates-1) != 0 }

// screen is the keyboard of the screen that is shown.
func (t *Traces) screen() *keyboard {
	if t.alternate() {
		return &t.keys[1]
	}
	return &t.keys[0]
}

// keysAs notes a sequence with the prefix <, = or >, which may be about the keyboard.
func (t *Traces) keysAs(s *vt.Sequence) {
	k := t.screen()
	switch string([]byte{s.Prefix, s.Final}) {
	case ">u":
		k.pushed = min(k.pushed, 254) + 1
	case "<u":
		k.pushed -= uint8(min(s.Arg(0, 1), int(k.pushed)))
	case "=u":
		switch s.Arg(1, 1) {
		case 1:
			k.set = s.Args[0] != 0
		case 2: // more of them
			k.set = k.set || s.Args[0] != 0
		}
	case ">m":
		if s.Args[0] == 4 {
			t.keys[0].other = s.Count() > 1 && s.Args[1] != 0
		}
	}
}

// soft is DECSTR.
func (t *Traces) soft() {
	t.mode(25, true)
	t.mode(7, true)
	t.mode(1, false)
}

// Traces returns what the program would leave behind now.
func (s *Screen) Traces() Traces {
	t, m, region := s.term.traces, s.term.modes, s.term.region
	t.insert, t.newLine, t.keypad = m.Insert, m.NewLine, m.AppKeypad
	t.margins = region.Top > 0 || region.Bottom < s.term.Rows-1 || s.term.fenced
	return t
}

// Undo is what has to be written to a terminal to undo the traces and nothing else; "" when there
// are none.
func (t Traces) Undo() string {
	if t == (Traces{}) {
		return ""
	}
	var b strings.Builder
	alternate := t.alternate()
	if alternate {
		t.keys[1].undo(&b)
		if t.margins {
			b.WriteString("\x1b[r")
		}
	}
	for i, m := range tracked {
		if t.modes>>i&1 != 0 {
			final := "l"
			if m.start {
				final = "h"
			}
			b.WriteString("\x1b[?" + strconv.Itoa(int(m.mode)) + final)
		}
	}
	t.keys[0].undo(&b)
	for _, left := range []struct {
		is   bool
		undo string
	}{
		{t.insert, "\x1b[4l"}, {t.newLine, "\x1b[20l"}, {t.keypad, "\x1b>"}, {t.shape, "\x1b[0 q"},
		{t.margins && !alternate, "\x1b7\x1b[r\x1b8"}, // setting what scrolls moves the cursor
	} {
		if left.is {
			b.WriteString(left.undo)
		}
	}
	b.WriteString("\x1b[m")
	return b.String()
}

func (k keyboard) undo(b *strings.Builder) {
	if k.pushed > 0 {
		b.WriteString("\x1b[<" + strconv.Itoa(int(k.pushed)) + "u")
	}
	if k.set {
		b.WriteString("\x1b[=0u")
	}
	if k.other {
		b.WriteString("\x1b[>4m")
	}
}
