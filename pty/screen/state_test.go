package screen

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"relay-pty/protocol/counts"
)

// state is all that can be seen of a screen.
type state struct {
	row, col int
	title    string
	modes    Modes
	notes    [len(noted)]string
	wrapped  []bool
	cells    []Cell // row by row
}

func stateOf(s *Screen) state {
	st := state{title: s.Title(), modes: s.Modes()}
	st.row, st.col = s.Cursor()
	for i, code := range noted {
		n, _ := strconv.Atoi(code)
		text, serial := s.Note(n)
		st.notes[i] = fmt.Sprintf("%d %s", serial, text)
	}
	rows, cols := s.Size()
	for r := range rows {
		st.wrapped = append(st.wrapped, s.Wrapped(r))
		for c := range cols {
			st.cells = append(st.cells, s.Cell(r, c))
		}
	}
	return st
}

// diff says where two states differ, "" if nowhere.
func (st state) diff(other state) string {
	switch {
	case st.row != other.row || st.col != other.col:
		return fmt.Sprintf("cursor %d,%d and %d,%d", st.row, st.col, other.row, other.col)
	case st.title != other.title:
		return fmt.Sprintf("title %q and %q", st.title, other.title)
	case st.modes != other.modes:
		return fmt.Sprintf("modes %+v and %+v", st.modes, other.modes)
	case st.notes != other.notes:
		return fmt.Sprintf("notes %q and %q", st.notes, other.notes)
	case len(st.cells) != len(other.cells):
		return "size"
	}
	for r := range st.wrapped {
		if st.wrapped[r] != other.wrapped[r] {
			return fmt.Sprintf("row %d wrapped %v and %v", r, st.wrapped[r], other.wrapped[r])
		}
	}
	cols := len(st.cells) / max(1, len(st.wrapped))
	for i := range st.cells {
		if st.cells[i] != other.cells[i] {
			return fmt.Sprintf("cell %d,%d %+v and %+v", i/cols, i%cols, st.cells[i], other.cells[i])
		}
	}
	return ""
}

// checkInvariants holds what is true of every screen.
func checkInvariants(t *testing.T, s *Screen) {
	t.Helper()
	rows, cols := s.Size()
	if r, c := s.Cursor(); r < 0 || r >= rows || c < 0 || c > cols {
		t.Fatalf("cursor %d,%d is outside of %d by %d", r, c, rows, cols)
	}
	for r := range rows {
		var text strings.Builder
		for c := 0; c < cols; {
			cell := s.Cell(r, c)
			if cell.Width != 1 && cell.Width != 2 || cell.Text == "" {
				t.Fatalf("cell %d,%d is %+v where a character must start", r, c, cell)
			}
			if cell.Width == 2 && (c+1 >= cols || s.Cell(r, c+1).Width != 0) {
				t.Fatalf("cell %d,%d is wide without a second half", r, c)
			}
			text.WriteString(cell.Text)
			c += cell.Width
		}
		if row := s.Row(r); !utf8.ValidString(row) || strings.ContainsFunc(row, unicode.IsControl) {
			t.Fatalf("row %d is not plain text: %q", r, row)
		}
		if got, want := s.RowTo(r, cols), text.String(); got != want {
			t.Fatalf("row %d is %q, its cells %q", r, got, want)
		}
		if got, want := s.Row(r), strings.TrimRight(text.String(), " "); got != want {
			t.Fatalf("row %d is %q, trimmed cells %q", r, got, want)
		}
	}
}

// cuttings calls f with every way to cut data that tests use: whole, byte by
// byte, and 20 seeded ones.
func cuttings(data []byte, f func(how string, parts [][]byte)) {
	f("whole", [][]byte{data})
	var bytes [][]byte
	for i := range data {
		bytes = append(bytes, data[i:i+1])
	}
	f("byte by byte", bytes)
	for seed := range uint64(counts.Runs(3, 20)) {
		r := rand.New(rand.NewPCG(seed, 0))
		var parts [][]byte
		for rest := data; len(rest) > 0; {
			n := min(len(rest), 1+r.IntN(1<<r.IntN(12)))
			parts = append(parts, rest[:n])
			rest = rest[n:]
		}
		f(fmt.Sprintf("seed %d", seed), parts)
	}
}
