package grid

// Color is a cell's colour: the default, one of 256 indexed ones, or 24-bit RGB.
// The zero Color is the default. Colors compare with ==.
type Color uint32

const (
	colorIndexed Color = 1 << 24
	colorRGB     Color = 2 << 24
	colorBits          = 26
)

// Indexed returns colour n of the palette.
func Indexed(n uint8) Color { return colorIndexed | Color(n) }

// RGB returns a 24-bit colour.
func RGB(r, g, b uint8) Color { return colorRGB | Color(r)<<16 | Color(g)<<8 | Color(b) }

// Style is how a cell is drawn. The zero Style is the terminal's default.
// Underline stands for every kind of underline. Reverse is kept as an attribute:
// Fg and Bg are never swapped.
type Style struct {
	Fg, Bg                                                             Color
	Bold, Dim, Italic, Underline, Blink, Reverse, Hidden, Strike, Over bool
}

// Pen is a Style in eight bytes: Fg in bits 0-25, Bg in 26-51, attributes above.
// The zero Pen is the default style.
type Pen uint64

const (
	Bold Pen = 1 << (2*colorBits + iota)
	Dim
	Italic
	Underline
	Blink
	Reverse
	Hidden
	Strike
	Over
)

// FgMask and BgMask are where a Pen has its colours.
const (
	FgMask Pen = 1<<colorBits - 1
	BgMask     = FgMask << colorBits
)

// WithFg returns p with another foreground.
func (p Pen) WithFg(c Color) Pen { return p&^FgMask | Pen(c) }

// WithBg returns p with another background.
func (p Pen) WithBg(c Color) Pen { return p&^BgMask | Pen(c)<<colorBits }

// erased is the pen of cells that are erased with p: its background only.
func (p Pen) erased() Pen { return p & BgMask }

// colorless keeps the attributes, of which there are few combinations.
func (p Pen) colorless() Pen { return p &^ (FgMask | BgMask) }

func (p Pen) style() Style {
	return Style{
		Fg: Color(p & FgMask), Bg: Color(p & BgMask >> colorBits),
		Bold: p&Bold != 0, Dim: p&Dim != 0, Italic: p&Italic != 0,
		Underline: p&Underline != 0, Blink: p&Blink != 0, Reverse: p&Reverse != 0,
		Hidden: p&Hidden != 0, Strike: p&Strike != 0, Over: p&Over != 0,
	}
}

// Ink returns the style bits of a cell that is written with Pen now.
func (g *Grid) Ink() Cell {
	if g.Pen != g.drawn || g.Guard != g.guarded {
		g.dip()
	}
	return g.ink
}

// Blank returns a cell that is erased with Pen now: blank, with its background.
func (g *Grid) Blank() Cell { return Cell(g.intern(g.Pen.erased())) << styleShift }

// dip renews ink.
func (g *Grid) dip() {
	g.ink = Cell(g.intern(g.Pen)) << styleShift
	if g.Guard {
		g.ink |= protected
	}
	g.drawn, g.guarded = g.Pen, g.Guard
}

func (g *Grid) intern(p Pen) uint32 {
	if p == 0 {
		return 0
	}
	slot := &g.recent[uint64(p)*0x9e3779b97f4a7c15>>56]
	if g.styles.items[*slot] == p {
		return uint32(*slot)
	}
	id, ok := g.styles.add(p, g.stylesInUse)
	if !ok {
		// Colours are lost before attributes are: dim tells a placeholder from a
		// draft. There are only 512 sets of attributes.
		id = g.styles.force(p.colorless())
	}
	*slot = uint16(id)
	return id
}

func (g *Grid) stylesInUse() []bool {
	inUse := make([]bool, len(g.styles.items))
	inUse[g.ink.style()] = true // it may stand in no cell yet
	g.eachCell(func(c Cell) { inUse[c.style()] = true })
	return inUse
}

// StyleOf returns how c is drawn.
func (g *Grid) StyleOf(c Cell) Style { return g.styles.items[c.style()].style() }
