// Package paint puts a composer's history and box on a terminal: inline, so
// that history scrolls off as lines, or on the whole alternate screen.
package paint

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"relay-pty/cmd/internal/testrig/agents/compose"
)

// Painter owns what is on the terminal. It paints when something changed, and
// what changed, unless Modes.Redraw says otherwise.
type Painter struct {
	out    io.Writer
	modes  Modes
	rows   int
	cols   int
	frozen bool
	away   bool // somebody else has the terminal

	history []string
	printed int      // inline: how much of history is on the terminal
	shown   []string // alternate: the screen as painted; inline: the box as painted; nil: unknown
	last    compose.Box
	told    int  // history lines there were at the last painting
	row     int  // inline: row of the cursor within the box
	cursor  bool // visible
	title   string
	titled  string // the title that the terminal knows
}

// New paints to out once Start was called; tell it the size before, with Resize.
func New(out io.Writer, m Modes) *Painter { return &Painter{out: out, modes: m, away: true} }

// Start sets the terminal's modes.
func (p *Painter) Start() {
	p.write("\x1b7\x1b[r\x1b8\x1b[?25l")
	for _, m := range p.modes.list() {
		p.write(m.on)
	}
	p.away, p.cursor, p.titled = false, false, ""
	p.shown = nil // what was painted before is scrolled away or on the other page
}

// Stop takes the box away and resets the modes that Start set; Start goes on.
func (p *Painter) Stop() {
	if !p.modes.Alt {
		p.erase()
	}
	on := p.modes.list()
	slices.Reverse(on)
	for _, m := range on {
		p.write(m.off)
	}
	p.write("\x1b[?25h\x1b]0;\a")
	p.away = true
}

// Switch changes the modes that differ; the next Paint is a whole one.
func (p *Painter) Switch(m Modes) {
	if p.away {
		p.modes = m
		return
	}
	if m.Alt != p.modes.Alt {
		p.erase()
		p.shown = nil
	}
	old, now := p.modes.list(), m.list()
	for _, o := range slices.Backward(old) {
		if !slices.Contains(now, o) {
			p.write(o.off)
		}
	}
	for _, n := range now {
		if !slices.Contains(old, n) {
			p.write(n.on)
		}
	}
	p.modes = m
}

// Freeze stops all painting, or makes the next Paint catch up.
func (p *Painter) Freeze(on bool) { p.frozen = on }

// Title is the window's title from the next Paint on.
func (p *Painter) Title(s string) { p.title = s }

// Signal writes an escape sequence that paints nothing.
func (p *Painter) Signal(s string) {
	if !p.hidden() {
		p.write(s)
	}
}

func (p *Painter) hidden() bool { return p.frozen || p.away }

// Add puts text into the history; the next Paint shows it above the box.
func (p *Painter) Add(text string) {
	p.history = append(p.history, strings.Split(strings.TrimRight(text, "\n"), "\n")...)
}

// Paint shows box below the history.
func (p *Painter) Paint(box compose.Box) {
	if p.hidden() {
		return
	}
	if p.title != p.titled {
		p.write("\x1b]0;" + p.title + "\a")
		p.titled = p.title
	}
	if p.shown != nil && p.told == len(p.history) && same(p.last, box) {
		return
	}
	p.last, p.told = box, len(p.history)
	if p.modes.Redraw == RedrawClear {
		p.forget()
	}
	p.paintOnce(box)
	if p.modes.Redraw == RedrawTwice {
		p.again(box)
	}
	if box.Cursor != p.cursor {
		p.cursor = box.Cursor
		p.write(map[bool]string{true: "\x1b[?25h", false: "\x1b[?25l"}[p.cursor])
	}
}

func same(a, b compose.Box) bool {
	return slices.Equal(a.Rows, b.Rows) && a.Row == b.Row && a.Col == b.Col && a.Cursor == b.Cursor
}

func (p *Painter) paintOnce(box compose.Box) {
	if p.modes.Alt {
		p.paintScreen(box)
		return
	}
	if p.printed < len(p.history) {
		p.erase()
		p.write(strings.Join(p.history[p.printed:], "\r\n") + "\r\n")
		p.printed = len(p.history)
	}
	p.paintBox(box)
}

// paintBox writes the rows of the inline box that changed.
func (p *Painter) paintBox(box compose.Box) {
	if len(box.Rows) != len(p.shown) {
		p.erase()
		p.write(strings.Join(box.Rows, "\r\n"))
		p.move(box.Row-(len(box.Rows)-1), box.Col)
	} else {
		at := p.row
		for i, row := range box.Rows {
			if row != p.shown[i] {
				p.move(i-at, 0)
				p.write("\x1b[K" + row)
				at = i
			}
		}
		p.move(box.Row-at, box.Col)
	}
	p.shown, p.row = box.Rows, box.Row
}

// again paints every row once more, over itself.
func (p *Painter) again(box compose.Box) {
	if p.modes.Alt {
		p.shown = make([]string, p.rows)
	} else {
		p.shown = make([]string, len(box.Rows))
	}
	for i := range p.shown {
		p.shown[i] = "\x00" // no row is that
	}
	p.paintOnce(box)
}

// forget clears the terminal with all it scrolled off, as Ink does, so that
// history is printed again, too.
func (p *Painter) forget() {
	p.write("\x1b[2J\x1b[3J\x1b[H")
	p.printed, p.shown, p.row = 0, nil, 0
}

// erase removes the box, inline, and leaves the cursor at its first row.
func (p *Painter) erase() {
	if p.hidden() || p.modes.Alt {
		return
	}
	if len(p.shown) > 0 {
		p.move(-p.row, 0)
		p.write("\x1b[J")
	}
	p.shown, p.row = nil, 0
}

func (p *Painter) paintScreen(box compose.Box) {
	screen := make([]string, p.rows)
	top := max(p.rows-len(box.Rows), 0)
	copy(screen[top:], box.Rows)
	copy(screen, p.tail(top))
	if len(p.shown) != p.rows {
		p.write("\x1b[2J")
		p.shown = make([]string, p.rows)
	}
	for i, row := range screen {
		if row != p.shown[i] {
			p.write(fmt.Sprintf("\x1b[%dH\x1b[K%s", i+1, row))
		}
	}
	p.write(fmt.Sprintf("\x1b[%d;%dH", top+box.Row+1, box.Col+1))
	p.shown = screen
}

// tail is the history's last n rows.
func (p *Painter) tail(n int) []string {
	var rows []string
	for i := len(p.history) - 1; i >= 0 && len(rows) < n; i-- {
		rows = append(fold(p.history[i], p.cols), rows...)
	}
	return rows[max(len(rows)-n, 0):]
}

// Resize forgets what was painted: the terminal has moved it.
func (p *Painter) Resize(rows, cols int) {
	p.rows, p.cols = rows, cols
	if p.modes.Alt {
		p.shown = nil
	} else {
		p.erase()
	}
}

// move goes rows down (negative: up) and to column col.
func (p *Painter) move(rows, col int) {
	s := "\r"
	if rows < 0 {
		s += fmt.Sprintf("\x1b[%dA", -rows)
	} else if rows > 0 {
		s += fmt.Sprintf("\x1b[%dB", rows)
	}
	if col > 0 {
		s += fmt.Sprintf("\x1b[%dC", col)
	}
	p.write(s)
}

// fold breaks line into pieces of at most width runes.
func fold(line string, width int) []string {
	var out []string
	r := []rune(line)
	for width > 0 && len(r) > width {
		out = append(out, string(r[:width]))
		r = r[width:]
	}
	return append(out, string(r))
}

// write drops errors: when the terminal is gone, the next read says so.
func (p *Painter) write(s string) { io.WriteString(p.out, s) }
