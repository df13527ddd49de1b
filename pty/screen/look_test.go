package screen

import (
	"fmt"
	"strings"
)

// look is what a terminal shows, of ours or of tmux.
type look struct {
	row, col int
	title    string
	rows     []string
	attrs    [][]attr // by row and column; what is missing is plain
}

// attr is the attributes of a cell that our users go by.
type attr struct{ dim, reverse bool }

func lookAt(s *Screen) look {
	l := look{title: s.Title()}
	l.row, l.col = s.Cursor()
	rows, cols := s.Size()
	for r := range rows {
		l.rows = append(l.rows, s.Row(r))
		attrs := make([]attr, cols)
		for c := range attrs {
			style := s.Cell(r, c).Style
			attrs[c] = attr{style.Dim, style.Reverse}
		}
		l.attrs = append(l.attrs, attrs)
	}
	return l
}

// String is the form of the golden files: a head, the rows that are not empty
// between bars, and the dim and reverse columns of the rows that have some.
// Blanks at the end of a row are left out there, because tmux does not tell them.
func (l look) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "cursor %d,%d title %q\n", l.row, l.col, l.title)
	for r, text := range l.rows {
		if text != "" {
			fmt.Fprintf(&b, "%3d|%s|\n", r, text)
		}
	}
	for r, text := range l.rows {
		n := min(columns(text), len(l.attrs[r]))
		write := func(name string, has func(attr) bool) {
			if list := ranges(l.attrs[r][:n], has); list != "" {
				fmt.Fprintf(&b, "%s %d:%s\n", name, r, list)
			}
		}
		write("dim", func(a attr) bool { return a.dim })
		write("reverse", func(a attr) bool { return a.reverse })
	}
	return b.String()
}

func ranges(attrs []attr, has func(attr) bool) string {
	var b strings.Builder
	for from := 0; from < len(attrs); from++ {
		if !has(attrs[from]) {
			continue
		}
		to := from
		for to+1 < len(attrs) && has(attrs[to+1]) {
			to++
		}
		fmt.Fprintf(&b, " %d-%d", from, to)
		from = to
	}
	return b.String()
}

// columns counts the cells of text as our own screen would.
func columns(text string) int {
	s := New(1, MaxCols)
	s.Write([]byte(text))
	_, col := s.Cursor()
	return col
}
