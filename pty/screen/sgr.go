package screen

import (
	"relay-pty/pty/screen/grid"
	"relay-pty/pty/screen/vt"
)

// sgr applies the parameters of CSI m to p and returns the result.
func sgr(p grid.Pen, s *vt.Sequence) grid.Pen {
	for i := 0; i < s.Count(); i++ {
		n := s.Args[i]
		if int(n) < len(attributes) {
			a := &attributes[n]
			p = p&^a.off | a.on
		}
		switch {
		case n == 38 || n == 48 || n == 58:
			var c grid.Color
			var ok bool
			if c, i, ok = sgrColor(s, i); !ok {
				continue
			}
			if n == 38 {
				p = p.WithFg(c)
			} else if n == 48 {
				p = p.WithBg(c)
			}
			continue
		case n == 4 && s.IsSub(i+1) && s.Args[i+1] == 0:
			p &^= grid.Underline
		}
		for s.IsSub(i + 1) {
			i++
		}
	}
	return p
}

// attribute is what a parameter takes from the pen, and gives to it then.
type attribute struct{ off, on grid.Pen }

// attributes is SGR 0 to 107 as ECMA-48 and xterm have it; 21 is double underline. 38, 48 and 58
// do nothing by themselves.
var attributes = withColors([108]attribute{
	0: {off: ^grid.Pen(0)},
	1: {on: grid.Bold}, 2: {on: grid.Dim}, 3: {on: grid.Italic}, 4: {on: grid.Underline}, 5: {on: grid.Blink},
	6: {on: grid.Blink}, 7: {on: grid.Reverse}, 8: {on: grid.Hidden}, 9: {on: grid.Strike}, 21: {on: grid.Underline},
	22: {off: grid.Bold | grid.Dim}, 23: {off: grid.Italic}, 24: {off: grid.Underline}, 25: {off: grid.Blink},
	27: {off: grid.Reverse}, 28: {off: grid.Hidden}, 29: {off: grid.Strike}, 53: {on: grid.Over}, 55: {off: grid.Over},
})

// withColors adds the default colours and the sixteen that have a parameter each.
func withColors(a [108]attribute) [108]attribute {
	const fg, bg = grid.FgMask, grid.BgMask
	a[39], a[49] = attribute{off: fg}, attribute{off: bg}
	for n := range uint8(8) {
		dark, bright := grid.Indexed(n), grid.Indexed(n+8)
		a[30+n] = attribute{fg, grid.Pen(0).WithFg(dark)}
		a[40+n] = attribute{bg, grid.Pen(0).WithBg(dark)}
		a[90+n] = attribute{fg, grid.Pen(0).WithFg(bright)}
		a[100+n] = attribute{bg, grid.Pen(0).WithBg(bright)}
	}
	return a
}

// sgrColor reads the colour that follows a 38, 48 or 58 at i, in the forms 38;5;n,
// 38;2;r;g;b, 38:5:n, 38:2:r:g:b and 38:2:space:r:g:b. last is the index of the
// last parameter that belongs to it.
func sgrColor(s *vt.Sequence, i int) (c grid.Color, last int, ok bool) {
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
		return grid.Indexed(uint8(args[1])), last, true
	case kind == 2 && len(args) >= 4 && max(args[1], args[2], args[3]) <= 255:
		return grid.RGB(uint8(args[1]), uint8(args[2]), uint8(args[3])), last, true
	}
	return 0, last, false
}
