package agents

import (
	"fmt"
	"io"
	"strings"

	"relay-pty/cmd/internal/testrig/agents/compose"
)

// painter puts history and box on the terminal: inline, so that history
// scrolls off as lines, or on the whole alternate screen.
type painter struct {
	out  io.Writer
	alt  bool
	rows int
	cols int

	history []string // alt: rows above the box
	shown   []string // alt: the screen as painted; inline: the box as painted
	row     int      // inline: row of the cursor within the box
}

func (p *painter) start(paste bool) {
	p.write("\x1b7\x1b[r\x1b8\x1b[?25l\x1b[?1004h")
	if paste {
		p.write("\x1b[?2004h")
	}
	if p.alt {
		p.write("\x1b[?1049h\x1b[2J\x1b[H")
		p.shown = nil // what was painted before is on the other page
	}
}

func (p *painter) stop() {
	if p.alt {
		p.write("\x1b[?1049l")
	} else {
		p.erase()
	}
	p.write("\x1b[?2004l\x1b[?1004l\x1b[?25h\x1b]0;\a")
}

func (p *painter) title(s string) { p.write("\x1b]0;" + s + "\a") }

// say adds text to the history and repaints the box below it.
func (p *painter) say(text string, box compose.Box) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if p.alt {
		for _, line := range lines {
			p.history = append(p.history, fold(line, p.cols)...)
		}
		if n := len(p.history) - p.rows; n > 0 {
			p.history = p.history[n:]
		}
		p.paint(box)
		return
	}
	p.erase()
	p.write(strings.Join(lines, "\r\n") + "\r\n")
	p.paint(box)
}

// paint shows box; only rows that changed are written.
func (p *painter) paint(box compose.Box) {
	if p.alt {
		p.paintScreen(box)
		return
	}
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

// erase removes the box, inline, and leaves the cursor at its first row.
func (p *painter) erase() {
	if len(p.shown) > 0 {
		p.move(-p.row, 0)
		p.write("\x1b[J")
	}
	p.shown, p.row = nil, 0
}

func (p *painter) paintScreen(box compose.Box) {
	screen := make([]string, p.rows)
	top := max(p.rows-len(box.Rows), 0)
	copy(screen[top:], box.Rows)
	h := p.history[max(len(p.history)-top, 0):]
	copy(screen, h)
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

// resized forgets what was painted: the terminal has moved it.
func (p *painter) resized(rows, cols int) {
	p.rows, p.cols = rows, cols
	if p.alt {
		p.shown = nil
	} else {
		p.erase()
	}
}

// move goes rows down (negative: up) and to column col.
func (p *painter) move(rows, col int) {
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
	for len(r) > width {
		out = append(out, string(r[:width]))
		r = r[width:]
	}
	return append(out, string(r))
}

// write drops errors: when the terminal is gone, the next read says so.
func (p *painter) write(s string) { io.WriteString(p.out, s) }
