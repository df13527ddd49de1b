package ansi

// place knows whether the line in progress is a new line of output or painted
// somewhere on the screen.
type place struct {
	tainted bool // the cursor was moved on this line
	lost    bool // its row is not known
	alt     bool // the alternate screen is on
	below   int  // lines that stand below and will be printed over

	saved, savedLost bool // the cursor was saved on this row, and so was lost
	home, erased     bool // since the last text: both together are an empty screen
}

func (p *place) painted() bool { return p.tainted || p.lost || p.alt }

// special says that the end of this line changes something.
func (p *place) special() bool { return p.painted() || p.below > 0 || p.saved || p.home || p.erased }

func (p *place) print() { p.home, p.erased = false, false }

// newline goes one row down.
func (p *place) newline() {
	p.print()
	p.saved = false
	p.tainted = p.below > 0
	p.below = max(0, p.below-1)
}

// obey carries out a sequence.
func (p *place) obey(s sequence, l *line) {
	switch {
	case s.middle:
	case s.kind == 0:
		p.lone(s.final, l)
	case s.prefix == '?' && (s.final == 'h' || s.final == 'l'):
		if s.number == 1049 || s.number == 1047 || s.number == 47 {
			p.alt, p.tainted = s.final == 'h', true
		}
	case s.prefix == 0:
		p.csi(s, l)
	}
}

func (p *place) lone(final byte, l *line) {
	switch final {
	case '7':
		p.save()
	case '8':
		p.restore()
	case 'c': // reset: an empty screen
		*p = place{}
		l.reset()
	case 'M': // one row up
		p.up(1, l)
	case 'D', 'E':
		p.tainted = true
	}
}

func (p *place) csi(s sequence, l *line) {
	n := max(s.number, 0)
	switch s.final {
	case 'K':
		l.erase(n)
	case 'J':
		p.eraseScreen(n, l)
	case 'A', 'F':
		p.up(max(n, 1), l)
	case 'H', 'f':
		p.lost, p.tainted = true, true
		p.home = n <= 1
		p.cleared(l)
	case 'd', 'r':
		p.lost, p.tainted = true, true
	case 's':
		p.save()
	case 'u':
		p.restore()
	case 'B', 'E', 'e':
		p.tainted = true
		p.below = max(0, p.below-max(n, 1))
	case '@', 'C', 'D', 'G', 'I', 'L', 'M', 'P', 'S', 'T', 'X', 'Z', '`', 'a', 'b':
		p.tainted = true
	}
}

// up makes the rows that the cursor leaves lines that are printed over, but for
// an empty one at the end of the output.
func (p *place) up(rows int, l *line) {
	if !p.painted() && l.empty() {
		rows--
	}
	p.tainted = true
	p.below = min(p.below+rows, 1000) // no screen has more rows
}

func (p *place) save() { p.saved, p.savedLost = true, p.lost }

func (p *place) restore() {
	p.tainted = true
	p.lost = !p.saved || p.savedLost
}

// eraseScreen is the terminal's ED. To the end of the screen it is, for lines
// that are printed in order, the end of the line; but at the top it is all.
func (p *place) eraseScreen(mode int, l *line) {
	switch {
	case mode == 0 && p.home, mode == 2, mode == 3:
		p.erased = true
		p.tainted = true
		p.cleared(l)
	case mode == 0:
		l.erase(0)
		p.below = 0
	default:
		p.tainted = true
	}
}

// cleared starts afresh when the screen is empty and the cursor in its corner.
func (p *place) cleared(l *line) {
	if p.home && p.erased {
		*p = place{alt: p.alt, home: true, erased: true}
		l.reset()
	}
}
