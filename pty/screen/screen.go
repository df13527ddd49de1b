package screen

import (
	"strconv"
	"strings"

	"relay-pty/pty/screen/grid"
	"relay-pty/pty/screen/vt"
)

// Style is how a cell is drawn.
type Style = grid.Style

// Color is a cell's colour; the zero Color is the default.
type Color = grid.Color

// Screen is a terminal without a display. It is not safe for concurrent use.
type Screen struct {
	parser vt.Parser
	term   terminal
}

// MaxRows and MaxCols bound the size; what is larger is cut to them.
const (
	MaxRows = 1000
	MaxCols = 1000
)

// New returns a blank screen. A size of 0 rows and 0 columns, which a terminal
// without a size reports, gives 24 by 80; otherwise sizes are held within 1 and
// MaxRows or MaxCols.
func New(rows, cols int) *Screen {
	rows, cols = bounded(rows, cols)
	return &Screen{term: newTerminal(rows, cols)}
}

func bounded(rows, cols int) (int, int) {
	if rows == 0 && cols == 0 {
		return 24, 80
	}
	return min(max(rows, 1), MaxRows), min(max(cols, 1), MaxCols)
}

// Write takes output of the program. It takes all of p and never fails. How the
// output is cut into calls makes no difference to what is on the screen.
func (s *Screen) Write(p []byte) (int, error) {
	s.parser.Feed(p, &s.term)
	return len(p), nil
}

// Resize gives the screen a new size, bounded as in New. Rows are cut or padded
// on the right, not reflowed. A lower screen loses the rows below the cursor
// first and rows from the top next; a higher one gets blank rows at the bottom.
// The scroll region becomes the whole screen.
func (s *Screen) Resize(rows, cols int) { s.term.resize(bounded(rows, cols)) }

// Size returns the size in cells.
func (s *Screen) Size() (rows, cols int) { return s.term.Rows, s.term.Cols }

// Cursor returns the cursor's position from zero. As in tmux col equals the
// number of columns while the last column was just written and the next
// character will go to the next row.
func (s *Screen) Cursor() (row, col int) { return s.term.row, s.term.col }

// Row returns the text of row r from zero, without blanks (U+0020) at its end. It
// is valid UTF-8 and holds no control characters (C0, DEL, C1). A wide character
// counts once. Rows outside of the screen are empty.
func (s *Screen) Row(r int) string {
	if r < 0 || r >= s.term.Rows {
		return ""
	}
	return s.term.Text(r, 0, s.term.Cols, true)
}

// RowTo returns the text of the cells before col, with all blanks, so that with
// the cursor's column it is the row up to the cursor. col is held within the row.
func (s *Screen) RowTo(r, col int) string {
	if r < 0 || r >= s.term.Rows {
		return ""
	}
	return s.term.Text(r, 0, min(max(col, 0), s.term.Cols), false)
}

// Cell is one position of the screen.
type Cell struct {
	Text  string // the character with what combines with it; " " for a blank, "" for a second half
	Width int    // columns: 1; 2 for the first half of a wide character, 0 for the second
	Style Style
}

// Cell returns the cell at row r and column c, from zero. Outside of the screen
// it is a blank in the default style.
func (s *Screen) Cell(r, c int) Cell {
	t := &s.term
	if r < 0 || r >= t.Rows || c < 0 || c >= t.Cols {
		return Cell{Text: " ", Width: 1}
	}
	at := t.Row(r).At(c)
	var glyph [grid.MaxCluster]byte
	out := Cell{Text: string(t.AppendGlyph(glyph[:0], at)), Width: 1, Style: t.StyleOf(at)}
	if at&grid.WideHead != 0 {
		out.Width = 2
	} else if at&grid.WideTail != 0 {
		out.Width = 0
	}
	return out
}

// Wrapped reports whether row r goes on in row r+1 because a character did not
// fit, rather than because the program ended the line.
func (s *Screen) Wrapped(r int) bool {
	return r >= 0 && r < s.term.Rows && s.term.Row(r).Wrapped
}

// Title returns the window title set by OSC 0 or 2, at most 2 KiB of valid UTF-8.
func (s *Screen) Title() string { return s.term.title }

// Titled says how often the program set the title, also to what it was, or brought an older
// one back, and whether the title is its own: not the one that the terminal had before.
func (s *Screen) Titled() (times uint64, own bool) { return s.term.titled, s.term.own }

// Between reports whether the program's output has come to the end of a character, a control
// or a sequence, outside of a synchronized frame. open says that what comes next may refer
// to the last character, which a sequence between the two would prevent: to repeat it (REP),
// or to join it.
func (s *Screen) Between() (between, open bool) {
	t := &s.term
	return s.parser.Between() && t.single == 0 && !t.modes.Sync, t.last != 0 || t.joiner
}

// Modes returns the modes in force.
func (s *Screen) Modes() Modes { return s.term.modes }

// Note returns the newest string that came by OSC code, without the code, and a
// serial that grows with every string noted, whatever its code: 0 when none came.
// Noted are 7, 9, 133 and 7501. The text is valid UTF-8 of at most MaxNote bytes
// as the program sent it; a longer one is not noted at all.
func (s *Screen) Note(code int) (text string, serial uint64) {
	for i := range noted {
		if noted[i] == strconv.Itoa(code) {
			n := &s.term.notes.byOne[i]
			return strings.ToValidUTF8(string(n.text), "\ufffd"), n.serial
		}
	}
	return "", 0
}
