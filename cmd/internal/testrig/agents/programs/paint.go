package programs

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"relay-pty/cmd/internal/testrig/agents"
	"relay-pty/cmd/internal/testrig/agents/compose"
)

// painter puts a composer's history and box on the terminal: inline, so that history scrolls off as
// lines, or on the whole alternate screen. It paints when something changed, and what changed,
// unless Config.Redraw has it otherwise.
type painter struct {
	conf    agents.Config
	on, off string // the terminal's modes
	rows    int
	cols    int
	away    bool // somebody else has the terminal

	history []string
	printed int      // inline: how much of history is on the terminal
	shown   []string // the box as painted, or the alternate screen; nil: unknown
	row     int      // of the cursor within it
	last    string   // all that was painted last
	title   string   // that the terminal knows
}

func newPainter(conf agents.Config) painter {
	p := painter{conf: conf}
	for _, m := range []struct {
		want    bool
		on, off string
	}{
		{true, "\x1b[?1004h", "\x1b[?1004l"},
		{!conf.NoPaste, "\x1b[?2004h", "\x1b[?2004l"},
		{conf.Mouse, "\x1b[?1000h\x1b[?1002h\x1b[?1003h\x1b[?1006h", "\x1b[?1006l\x1b[?1003l\x1b[?1002l\x1b[?1000l"},
		{conf.AltScreen, "\x1b[?1049h\x1b[2J\x1b[H", "\x1b[?1049l"},
		{conf.Look != compose.Bare, "\x1b[?25l", "\x1b[?25h"},
	} {
		if m.want {
			p.on, p.off = p.on+m.on, m.off+p.off
		}
	}
	return p
}

// start sets the terminal's modes.
func (p *painter) start() {
	p.write("\x1b7\x1b[r\x1b8" + p.on)
	p.away, p.shown, p.last, p.title = false, nil, "", "" // what was painted before is scrolled away or on the other page
}

// stop takes the box away and resets the modes; start goes on.
func (p *painter) stop() {
	p.erase()
	p.write(p.off + "\x1b]0;\a")
	p.away = true
}

// add puts text into the history; the next paint shows it above the box.
func (p *painter) add(text string) {
	p.history = append(p.history, strings.Split(strings.TrimRight(text, "\n"), "\n")...)
}

// paint shows box below the history.
func (p *painter) paint(title string, box compose.Box) {
	now := fmt.Sprint(len(p.history), title, box)
	if p.away || now == p.last {
		return
	}
	p.last = now
	if title != p.title {
		p.title = title
		p.write("\x1b]0;" + title + "\a")
	}
	if p.conf.Redraw == "clear" { // with all that scrolled off, as Ink does
		p.write("\x1b[2J\x1b[3J\x1b[H")
		p.printed, p.shown, p.row = 0, nil, 0
	}
	p.once(box)
	if p.conf.Redraw == "twice" {
		p.shown = slices.Repeat([]string{"\x00"}, len(p.shown)) // no row is that
		p.once(box)
	}
}

func (p *painter) once(box compose.Box) {
	if p.conf.AltScreen {
		top := max(p.rows-len(box.Rows), 0)
		screen := make([]string, p.rows)
		copy(screen[top:], box.Rows)
		copy(screen, p.tail(top))
		box = compose.Box{Rows: screen, Row: top + box.Row, Col: box.Col}
	} else if p.printed < len(p.history) {
		p.erase()
		p.write(strings.Join(p.history[p.printed:], "\r\n") + "\r\n")
		p.printed = len(p.history)
	}
	at := p.row
	if len(box.Rows) != len(p.shown) {
		p.erase()
		p.write(strings.Join(box.Rows, "\r\n"))
		at = len(box.Rows) - 1
	} else {
		for i, row := range box.Rows {
			if row != p.shown[i] {
				p.move(i-at, 0)
				p.write("\x1b[K" + row)
				at = i
			}
		}
	}
	p.move(box.Row-at, box.Col)
	p.shown, p.row = box.Rows, box.Row
}

// erase removes what was painted, and leaves the cursor at its first row.
func (p *painter) erase() {
	switch {
	case p.away:
	case p.conf.AltScreen:
		p.write("\x1b[2J\x1b[H")
	case len(p.shown) > 0:
		p.move(-p.row, 0)
		p.write("\x1b[J")
	}
	p.shown, p.row = nil, 0
}

// tail is the history's last n rows.
func (p *painter) tail(n int) (rows []string) {
	for _, line := range p.history[max(len(p.history)-n, 0):] {
		for r := []rune(line); ; {
			cut := min(len(r), max(p.cols, 1))
			rows = append(rows, string(r[:cut]))
			if r = r[cut:]; len(r) == 0 {
				break
			}
		}
	}
	return rows[max(len(rows)-n, 0):]
}

// resize forgets what was painted: the terminal has moved it.
func (p *painter) resize(rows, cols int) {
	p.rows, p.cols, p.last = rows, cols, ""
	p.erase()
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

// write drops errors: when the terminal is gone, the next read says so.
func (p *painter) write(s string) { os.Stdout.WriteString(s) }
