package paint

import "fmt"

// The ways to redraw, beside painting what changed.
const (
	RedrawTwice = "twice" // every row of a frame is painted again over itself
	RedrawClear = "clear" // every frame clears all and prints history and box anew
)

// Modes is what the painter asks of the terminal. Focus reports are always on.
type Modes struct {
	Alt       bool   // the alternate screen
	NoPaste   bool   // no bracketed paste
	Mouse     bool   // any-motion mouse reports, SGR coded
	Kitty     int    // flags pushed for the kitty keyboard protocol; 0: not pushed
	OtherKeys int    // xterm's modifyOtherKeys level
	Redraw    string // "", RedrawTwice or RedrawClear
}

type mode struct{ on, off string }

// list holds the modes in the order of their setting.
func (m Modes) list() []mode {
	out := []mode{{"\x1b[?1004h", "\x1b[?1004l"}}
	if !m.NoPaste {
		out = append(out, mode{"\x1b[?2004h", "\x1b[?2004l"})
	}
	if m.Mouse {
		out = append(out, mode{"\x1b[?1000h\x1b[?1002h\x1b[?1003h\x1b[?1006h", "\x1b[?1006l\x1b[?1003l\x1b[?1002l\x1b[?1000l"})
	}
	if m.Kitty > 0 {
		out = append(out, mode{fmt.Sprintf("\x1b[>%du", m.Kitty), "\x1b[<u"})
	}
	if m.OtherKeys > 0 {
		out = append(out, mode{fmt.Sprintf("\x1b[>4;%dm", m.OtherKeys), "\x1b[>4;0m"})
	}
	if m.Alt {
		out = append(out, mode{"\x1b[?1049h\x1b[2J\x1b[H", "\x1b[?1049l"})
	}
	return out
}
