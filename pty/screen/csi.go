package screen

import (
	"relay-pty/pty/screen/vt"
	"relay-pty/pty/screen/width"
)

// CSI runs a control sequence. Those with a prefix or an intermediate are
// different commands, most of them queries, and are not taken for the plain ones.
func (t *terminal) CSI(s *vt.Sequence) {
	last := t.last
	t.last, t.joiner = 0, false
	switch {
	case s.Prefix == 0 && s.Inter == 0 && s.Final == 'm':
		t.pen = t.pen.sgr(s)
	case s.Prefix == 0 && s.Inter == 0 && s.Final == 'b':
		t.repeat(last, s.Arg(0, 1))
	case s.Prefix == 0 && s.Inter == 0:
		if !t.move(s) {
			t.edit(s)
		}
	case s.Prefix == '?' && s.Inter == 0 && (s.Final == 'h' || s.Final == 'l'):
		for i := 0; i < s.Count(); i++ {
			t.setPrivate(s.Args[i], s.Final == 'h')
		}
	case s.Prefix == 0 && s.Inter == '!' && s.Final == 'p':
		t.softReset()
	}
}

// move runs a sequence that moves the cursor; it says false for any other.
func (t *terminal) move(s *vt.Sequence) bool {
	n := s.Arg(0, 1)
	switch s.Final {
	case 'A':
		t.up(n)
	case 'B', 'e':
		t.down(n)
	case 'C', 'a':
		t.col = min(t.col+n, t.cols-1)
	case 'D':
		t.col = max(0, t.col-n)
	case 'E':
		t.down(n)
		t.col = 0
	case 'F':
		t.up(n)
		t.col = 0
	case 'G', '`':
		t.col = min(n, t.cols) - 1
	case 'H', 'f':
		t.goTo(n-1, s.Arg(1, 1)-1)
	case 'd':
		t.goToRow(n - 1)
	case 'I':
		t.tab(n)
	case 'Z':
		t.backTab(n)
	case 's':
		t.saved = t.save()
	case 'u':
		t.restore(t.saved)
	default:
		return false
	}
	return true
}

func (t *terminal) goTo(row, col int) {
	t.goToRow(row)
	t.col = min(col, t.cols-1)
}

// goToRow goes to a row of the screen, or in origin mode of the region.
func (t *terminal) goToRow(row int) {
	if t.modes.Origin {
		row = min(row+t.top, t.bottom)
	}
	t.row = min(row, t.rows-1)
}

// up stops at the region's top unless it starts above it.
func (t *terminal) up(n int) {
	stop := 0
	if t.row >= t.top {
		stop = t.top
	}
	t.row = max(stop, t.row-n)
	t.col = min(t.col, t.cols-1)
}

func (t *terminal) down(n int) {
	stop := t.rows - 1
	if t.row <= t.bottom {
		stop = t.bottom
	}
	t.row = min(stop, t.row+n)
	t.col = min(t.col, t.cols-1)
}

// edit runs the sequences that are not about the cursor alone.
func (t *terminal) edit(s *vt.Sequence) {
	n := s.Arg(0, 1)
	switch s.Final {
	case 'J':
		t.eraseDisplay(s.Args[0])
	case 'K':
		t.eraseLine(s.Args[0])
	case 'X':
		t.touch(t.row).erase(t.col, min(t.col+n, t.cols), t.empty())
	case '@':
		t.touch(t.row).insert(t.col, n, t.empty())
	case 'P':
		t.touch(t.row).remove(t.col, n, t.empty())
	case 'L':
		if t.row >= t.top && t.row <= t.bottom {
			t.scrollDown(t.row, t.bottom, n, t.empty())
		}
	case 'M':
		if t.row >= t.top && t.row <= t.bottom {
			t.scrollUp(t.row, t.bottom, n, t.empty())
		}
	case 'S':
		t.scroll(n)
	case 'T':
		if s.Count() == 1 {
			t.scrollDown(t.top, t.bottom, n, t.empty())
		}
	case 'g':
		t.clearTabs(s.Args[0])
	case 'h', 'l':
		t.setStandard(s)
	case 'r':
		t.setRegion(n-1, s.Arg(1, t.rows)-1)
	case 't':
		t.titleStack(n)
	}
}

func (t *terminal) eraseDisplay(what uint16) {
	switch what {
	case 0:
		t.eraseLine(0)
		if t.row < t.rows-1 {
			t.wipe(t.row+1, t.rows-1, t.empty())
		}
	case 1:
		if t.row > 0 {
			t.wipe(0, t.row-1, t.empty())
		}
		t.eraseLine(1)
	case 2:
		t.wipe(0, t.rows-1, t.empty())
	}
}

func (t *terminal) eraseLine(what uint16) {
	from, to := 0, t.cols
	switch what {
	case 0:
		from = t.col
	case 1:
		to = min(t.col+1, t.cols)
	case 2:
	default:
		return
	}
	t.touch(t.row).erase(from, to, t.empty())
}

func (t *terminal) clearTabs(what uint16) {
	switch {
	case what == 0 && t.col < t.cols:
		t.tabs[t.col] = false
	case what == 3:
		clear(t.tabs)
	}
}

// setRegion is DECSTBM; a region of less than two rows is refused.
func (t *terminal) setRegion(top, bottom int) {
	bottom = min(bottom, t.rows-1)
	if top >= bottom {
		return
	}
	t.top, t.bottom = top, bottom
	t.goTo(0, 0)
}

// repeat is REP: the last character n more times, as many as the row has room for.
func (t *terminal) repeat(r rune, n int) {
	if r == 0 {
		return
	}
	for n = min(n, (t.cols-t.col)/width.Of(r)); n > 0; n-- {
		t.print(r)
	}
	t.last = 0
}
