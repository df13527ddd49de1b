package screen

import "relay-pty/pty/screen/vt"

// sgr applies the parameters of CSI m to p and returns the result.
func (p pen) sgr(s *vt.Sequence) pen {
	for i := 0; i < s.Count(); i++ {
		n := s.Args[i]
		switch {
		case n == 38 || n == 48 || n == 58:
			var c Color
			var ok bool
			if c, i, ok = sgrColor(s, i); !ok {
				continue
			}
			if n == 38 {
				p.setFg(c)
			} else if n == 48 {
				p.setBg(c)
			}
			continue
		case n == 4 && s.IsSub(i+1):
			p &^= penUnderline
			if s.Args[i+1] != 0 {
				p |= penUnderline
			}
		default:
			p = p.attribute(n)
		}
		for s.IsSub(i + 1) {
			i++
		}
	}
	return p
}

// attribute applies one SGR parameter that stands alone.
func (p pen) attribute(n uint16) pen {
	switch {
	case n == 0:
		return 0
	case n >= 30 && n <= 37:
		p.setFg(colorIndexed | Color(n-30))
	case n == 39:
		p.setFg(0)
	case n >= 40 && n <= 47:
		p.setBg(colorIndexed | Color(n-40))
	case n == 49:
		p.setBg(0)
	case n >= 90 && n <= 97:
		p.setFg(colorIndexed | Color(n-90+8))
	case n >= 100 && n <= 107:
		p.setBg(colorIndexed | Color(n-100+8))
	case int(n) < len(attributes):
		a := attributes[n]
		p = p&^a.off | a.on
	}
	return p
}

// attributes is SGR 0 to 55 as ECMA-48 and xterm have it; 21 is double underline.
var attributes = [56]struct{ on, off pen }{
	1: {on: penBold}, 2: {on: penDim}, 3: {on: penItalic}, 4: {on: penUnderline}, 5: {on: penBlink},
	6: {on: penBlink}, 7: {on: penReverse}, 8: {on: penHidden}, 9: {on: penStrike}, 21: {on: penUnderline},
	22: {off: penBold | penDim}, 23: {off: penItalic}, 24: {off: penUnderline}, 25: {off: penBlink},
	27: {off: penReverse}, 28: {off: penHidden}, 29: {off: penStrike}, 53: {on: penOver}, 55: {off: penOver},
}

// sgrColor reads the colour that follows a 38, 48 or 58 at i, in the forms 38;5;n,
// 38;2;r;g;b, 38:5:n, 38:2:r:g:b and 38:2:space:r:g:b. last is the index of the
// last parameter that belongs to it.
func sgrColor(s *vt.Sequence, i int) (c Color, last int, ok bool) {
	end := s.Count()
	if s.IsSub(i + 1) {
		end = i + 1
		for s.IsSub(end) {
			end++
		}
	}
	kind, args := uint16(0), s.Args[min(i+1, end):end]
	if len(args) > 0 {
		kind = args[0]
	}
	size := len(args)
	switch kind {
	case 5:
		size = min(size, 2)
	case 2:
		if !s.IsSub(i+1) || size < 5 {
			size = min(size, 4)
		} else {
			args = args[1:]
		}
	}
	last = i + size
	if s.IsSub(i + 1) {
		last = end - 1
	}
	switch {
	case kind == 5 && len(args) >= 2 && args[1] <= 255:
		return colorIndexed | Color(args[1]), last, true
	case kind == 2 && len(args) >= 4 && max(args[1], args[2], args[3]) <= 255:
		return colorRGB | Color(args[1])<<16 | Color(args[2])<<8 | Color(args[3]), last, true
	}
	return 0, last, false
}
