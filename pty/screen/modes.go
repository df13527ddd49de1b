package screen

import "relay-pty/pty/screen/vt"

// Modes are the terminal modes that the program has asked for. The zero value is
// that of a terminal just started.
type Modes struct {
	AltScreen      bool // 47, 1047, 1049
	AppCursor      bool // 1, DECCKM: arrow keys send ESC O
	AppKeypad      bool // ESC =, DECKPAM
	BracketedPaste bool // 2004
	CursorHidden   bool // 25 reset
	FocusEvents    bool // 1004
	Insert         bool // 4, IRM
	Mouse          bool // 9, 1000, 1002 or 1003, in whatever encoding
	NewLine        bool // 20, LNM: LF implies CR
	NoWrap         bool // 7 reset, DECAWM
	Origin         bool // 6, DECOM
	Sync           bool // 2026: a frame is being drawn
}

// setPrivate is DECSET and DECRST of one mode.
func (t *terminal) setPrivate(mode uint16, on bool) {
	m := &t.modes
	t.traces.mode(mode, on)
	switch mode {
	case 1:
		m.AppCursor = on
	case 3: // 80 or 132 columns: the size stays, its side effect happens
		t.row, t.col = 0, 0
		t.Wipe(0, t.Rows-1, t.Blank())
	case 6:
		m.Origin = on
		t.goTo(0, 0)
	case 7:
		m.NoWrap = !on
	case 9, 1000, 1002, 1003:
		m.Mouse = on
	case 25:
		m.CursorHidden = !on
	case 47, 1047, 1049:
		if on {
			t.enterAlt(mode == 1049)
		} else {
			t.leaveAlt(mode == 1049)
		}
	case 69: // DECLRMM
		t.margins = on
		t.region.Left, t.region.Right, t.fenced = 0, t.Cols-1, false
	case 1004:
		m.FocusEvents = on
	case 1048:
		if on {
			t.saved = t.save()
		} else {
			t.restore(t.saved)
		}
	case 2004:
		m.BracketedPaste = on
	case 2026:
		m.Sync = on
	}
}

// setStandard is SM and RM.
func (t *terminal) setStandard(s *vt.Sequence) {
	for i := 0; i < s.Count(); i++ {
		switch s.Args[i] {
		case 4:
			t.modes.Insert = s.Final == 'h'
		case 20:
			t.modes.NewLine = s.Final == 'h'
		}
	}
}
