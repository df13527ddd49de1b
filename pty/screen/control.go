package screen

import "strings"

// Control runs a C0 control.
func (t *terminal) Control(c byte) {
	t.last, t.joiner = 0, false
	switch c {
	case '\b':
		t.col = max(0, t.col-1)
	case '\t':
		t.tab(1)
	case '\n', '\v', '\f':
		t.lineFeed(false)
		if t.modes.NewLine {
			t.col = 0
		}
	case '\r':
		t.col = 0
	case 0x0e:
		t.shift = 1
	case 0x0f:
		t.shift = 0
	}
}

// tab moves over n tab stops, at most to the last column.
func (t *terminal) tab(n int) {
	for ; n > 0 && t.col < t.cols-1; n-- {
		for t.col++; t.col < t.cols-1 && !t.tabs[t.col]; t.col++ {
		}
	}
}

func (t *terminal) backTab(n int) {
	t.col = min(t.col, t.cols-1)
	for ; n > 0 && t.col > 0; n-- {
		for t.col--; t.col > 0 && !t.tabs[t.col]; t.col-- {
		}
	}
}

// Escape runs an ESC sequence of at most one intermediate.
func (t *terminal) Escape(inter, final byte) {
	t.last, t.joiner = 0, false
	switch inter {
	case 0:
		t.escapeBare(final)
	case '(', ')':
		if g := inter - '('; final == '0' {
			t.charsets[g] = '0'
		} else {
			t.charsets[g] = 'B'
		}
	case '#':
		if final == '8' {
			t.align()
		}
	}
}

func (t *terminal) escapeBare(final byte) {
	switch final {
	case '7':
		t.saved = t.save()
	case '8':
		t.restore(t.saved)
	case '=':
		t.modes.AppKeypad = true
	case '>':
		t.modes.AppKeypad = false
	case 'D':
		t.lineFeed(false)
	case 'E':
		t.lineFeed(false)
		t.col = 0
	case 'H':
		if t.col < t.cols {
			t.tabs[t.col] = true
		}
	case 'M':
		t.reverseIndex()
	case 'c':
		t.reset()
	}
}

func (t *terminal) reverseIndex() {
	if t.row == t.top {
		t.scrollDown(t.top, t.bottom, 1, t.empty())
	} else if t.row > 0 {
		t.row--
	}
}

// align is DECALN: the whole screen full of E.
func (t *terminal) align() {
	t.top, t.bottom = 0, t.rows-1
	t.row, t.col = 0, 0
	t.wipe(0, t.rows-1, 'E')
}

// OSC knows the window title only: OSC 0 and OSC 2.
func (t *terminal) OSC(data []byte) {
	t.last, t.joiner = 0, false
	if len(data) < 2 || data[0] != '0' && data[0] != '2' || data[1] != ';' {
		return
	}
	if title := data[2:]; string(title) != t.title {
		t.title = strings.ToValidUTF8(string(title), "\ufffd")
	}
}

// titleStack is XTWINOPS 22 (push) and 23 (pop); deeper ones are forgotten.
func (t *terminal) titleStack(op int) {
	n := len(t.titles)
	switch {
	case op == 22 && n < maxTitles:
		t.titles = append(t.titles, t.title)
	case op == 22:
		copy(t.titles, t.titles[1:])
		t.titles[n-1] = t.title
	case op == 23 && n > 0:
		t.title = t.titles[n-1]
		t.titles = t.titles[:n-1]
	}
}
