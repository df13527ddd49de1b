package screen

// Color is a cell's colour: the default, one of 256 indexed ones, or 24-bit RGB.
// The zero Color is the default. Colors compare with ==.
type Color uint32

const (
	colorIndexed Color = 1 << 24
	colorRGB     Color = 2 << 24
	colorBits          = 26
)

// Index returns the number of an indexed colour, 0 to 255.
func (c Color) Index() (n uint8, ok bool) { return uint8(c), c>>24 == 1 }

// RGB returns the parts of a 24-bit colour.
func (c Color) RGB() (r, g, b uint8, ok bool) {
	return uint8(c >> 16), uint8(c >> 8), uint8(c), c>>24 == 2
}

// Style is how a cell is drawn. The zero Style is the terminal's default.
// Underline stands for every kind of underline. Reverse is kept as an attribute:
// Fg and Bg are never swapped.
type Style struct {
	Fg, Bg                                                             Color
	Bold, Dim, Italic, Underline, Blink, Reverse, Hidden, Strike, Over bool
}

// pen is a Style in eight bytes: Fg in bits 0-25, Bg in 26-51, attributes above.
type pen uint64

const (
	penBold pen = 1 << (2*colorBits + iota)
	penDim
	penItalic
	penUnderline
	penBlink
	penReverse
	penHidden
	penStrike
	penOver
)

const colorMask pen = 1<<colorBits - 1

func (p pen) fg() Color { return Color(p & colorMask) }
func (p pen) bg() Color { return Color(p >> colorBits & colorMask) }

func (p *pen) setFg(c Color) { *p = *p&^colorMask | pen(c) }
func (p *pen) setBg(c Color) { *p = *p&^(colorMask<<colorBits) | pen(c)<<colorBits }

// erased is the pen of cells that are erased with p: its background only.
func (p pen) erased() pen { return p & (colorMask << colorBits) }

// colorless keeps the attributes, of which there are few combinations.
func (p pen) colorless() pen { return p &^ (colorMask | colorMask<<colorBits) }

func (p pen) style() Style {
	return Style{
		Fg: p.fg(), Bg: p.bg(),
		Bold: p&penBold != 0, Dim: p&penDim != 0, Italic: p&penItalic != 0,
		Underline: p&penUnderline != 0, Blink: p&penBlink != 0, Reverse: p&penReverse != 0,
		Hidden: p&penHidden != 0, Strike: p&penStrike != 0, Over: p&penOver != 0,
	}
}
