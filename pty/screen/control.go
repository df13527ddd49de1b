package screen

// forget ends what only the very next character continues.
func (t *terminal) forget() {
	t.last, t.joiner, t.single = 0, false, 0
}

// Control runs a C0 control.
func (t *terminal) Control(c byte) {
	t.forget()
	t.endWrap()
	switch c {
	case '\b':
		t.left(1)
	case '\t':
		t.tab(1)
	case '\n', '\v', '\f':
		t.lineFeed(false)
		if t.modes.NewLine {
			t.col = t.home()
		}
	case '\r':
		t.col = t.home()
	case 0x0e:
		t.shift = 1
	case 0x0f:
		t.shift = 0
	}
}

// tab moves over n tab stops, at most to the last column or the right margin.
func (t *terminal) tab(n int) {
	last := t.edge() - 1
	for ; n > 0 && t.col < last; n-- {
		for t.col++; t.col < last && !t.tabs[t.col]; t.col++ {
		}
	}
}

func (t *terminal) backTab(n int) {
	t.col = min(t.col, t.Cols-1)
	for ; n > 0 && t.col > 0; n-- {
		for t.col--; t.col > 0 && !t.tabs[t.col]; t.col-- {
		}
	}
}

// Escape runs an ESC sequence of at most one intermediate.
func (t *terminal) Escape(inter, final byte) {
	t.forget()
	t.endWrap()
	switch inter {
	case 0:
		t.escapeBare(final)
	case '(', ')', '*', '+':
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
		t.col = t.home()
	case 'H':
		if t.col < t.Cols {
			t.tabs[t.col] = true
		}
	case 'M':
		t.reverseIndex()
	case 'N', 'O': // SS2, SS3
		t.single = 2 + int(final-'N')
	case 'c':
		t.reset()
	case 'n', 'o': // LS2, LS3
		t.shift = 2 + int(final-'n')
	}
}

func (t *terminal) reverseIndex() {
	if t.row != t.region.Top {
		t.row = max(0, t.row-1)
	} else if t.between() {
		t.ScrollDown(t.region, 1, t.Blank())
	}
}

// align is DECALN: the whole screen full of E.
func (t *terminal) align() {
	t.wholeRegion()
	t.row, t.col = 0, 0
	t.Wipe(0, t.Rows-1, 'E')
}
