package screen

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"relay-pty/pty/screen/grid"
)

func with(rows, cols int, in string) *Screen {
	s := New(rows, cols)
	s.Write([]byte(in))
	return s
}

func TestSizesAreBounded(t *testing.T) {
	for _, c := range []struct{ rows, cols, wantRows, wantCols int }{
		{24, 80, 24, 80}, {0, 0, 24, 80}, {0, 80, 1, 80}, {24, 0, 24, 1}, {-5, -5, 1, 1}, {65535, 65535, MaxRows, MaxCols},
	} {
		for how, s := range map[string]*Screen{"New": New(c.rows, c.cols), "Resize": New(7, 7)} {
			if how == "Resize" {
				s.Resize(c.rows, c.cols)
			}
			if rows, cols := s.Size(); rows != c.wantRows || cols != c.wantCols {
				t.Errorf("%s(%d, %d) gave %d by %d, want %d by %d", how, c.rows, c.cols, rows, cols, c.wantRows, c.wantCols)
			}
		}
	}
}

func TestRowsAndCellsAsRead(t *testing.T) {
	s := with(3, 10, "a\u4e2de\u0301 \x1b[1;2;3;4;7;9;31;48;2;1;2;3mx")
	if got, want := s.Row(0), "a\u4e2de\u0301 x"; got != want {
		t.Errorf("Row = %q, want %q", got, want)
	}
	for col, want := range []string{"", "a", "a\u4e2d", "a\u4e2d", "a\u4e2de\u0301", "a\u4e2de\u0301 ", "a\u4e2de\u0301 x", "a\u4e2de\u0301 x "} {
		if got := s.RowTo(0, col); got != want {
			t.Errorf("RowTo(0, %d) = %q, want %q", col, got, want)
		}
	}
	plain := []Cell{{Text: "a", Width: 1}, {Text: "\u4e2d", Width: 2}, {Width: 0}, {Text: "e\u0301", Width: 1}, {Text: " ", Width: 1}}
	for col, want := range plain {
		if got := s.Cell(0, col); got != want {
			t.Errorf("cell %d = %+v, want %+v", col, got, want)
		}
	}
	st := s.Cell(0, 5).Style
	if want := (Style{Fg: grid.Indexed(1), Bg: grid.RGB(1, 2, 3), Bold: true, Dim: true, Italic: true, Underline: true, Reverse: true, Strike: true}); st != want {
		t.Errorf("attributes %+v, want %+v", st, want)
	}
}

func TestOutsideOfTheScreenIsBlank(t *testing.T) {
	s := with(2, 4, "\x1b[7mabcdefgh")
	for _, at := range [][2]int{{-1, 0}, {2, 0}, {0, -1}, {0, 4}} {
		if got, want := s.Cell(at[0], at[1]), (Cell{Text: " ", Width: 1}); got != want {
			t.Errorf("cell %v = %+v, want %+v", at, got, want)
		}
	}
	for _, r := range []int{-1, 2} {
		if s.Row(r) != "" || s.RowTo(r, 4) != "" || s.Wrapped(r) {
			t.Errorf("row %d is not empty", r)
		}
	}
	if got := s.RowTo(0, 99) + s.RowTo(0, -1); got != "abcd" {
		t.Errorf("RowTo beyond the ends gave %q, want abcd", got)
	}
}

// TestColours goes through every form of SGR 38 and 48.
func TestColours(t *testing.T) {
	indexed, rgb := grid.Indexed, grid.RGB(1, 2, 3)
	for _, c := range []struct {
		sgr    string
		fg, bg grid.Color
		bold   bool
	}{
		{"31;42;1", indexed(1), indexed(2), true},
		{"91;107;1", indexed(9), indexed(15), true},
		{"38;5;200;1", indexed(200), 0, true},
		{"38:5:200;1", indexed(200), 0, true},
		{"48;2;1;2;3;1", 0, rgb, true},
		{"48:2:1:2:3;1", 0, rgb, true},
		{"48:2::1:2:3;1", 0, rgb, true},
		{"48:2:9:1:2:3:0:0;1", 0, rgb, true},
		{"58;2;1;2;3;1", 0, 0, true},
		{"58:5:1;1", 0, 0, true},
		{"31;39;1", 0, 0, true},
		{"41;49;1", 0, 0, true},
		{"38;5;256;1", 0, 0, true},
		{"38;2;1;2;300;1", 0, 0, true},
		{"38:2:1;1", 0, 0, true},
		{"38", 0, 0, false},
		{"38;5", 0, 0, false},
		{"38;2;1;2", 0, 0, false},
		{"1;31;42", indexed(1), indexed(2), true},
		{"1;31;0", 0, 0, false},
		{"1;31;", 0, 0, false},
	} {
		st := with(1, 4, "\x1b["+c.sgr+"mx").Cell(0, 0).Style
		if want := (Style{Fg: c.fg, Bg: c.bg, Bold: c.bold}); st != want {
			t.Errorf("SGR %s gave %+v, want %+v", c.sgr, st, want)
		}
	}
}

func TestAttributesGoOnAndOff(t *testing.T) {
	for n, off := range map[int]int{1: 22, 2: 22, 3: 23, 4: 24, 5: 25, 6: 25, 7: 27, 8: 28, 9: 29, 21: 24, 53: 55} {
		s := with(1, 4, fmt.Sprintf("\x1b[%dmx\x1b[%dmy", n, off))
		if s.Cell(0, 0).Style == (Style{}) || s.Cell(0, 1).Style != (Style{}) {
			t.Errorf("SGR %d and %d gave %+v and %+v", n, off, s.Cell(0, 0).Style, s.Cell(0, 1).Style)
		}
	}
	s := with(1, 4, "\x1b[4:3mx\x1b[4:0my")
	if !s.Cell(0, 0).Style.Underline || s.Cell(0, 1).Style.Underline {
		t.Error("4:3 is underline and 4:0 is none")
	}
}

// TestErasedCellsKeepTheBackground: as xterm and tmux, and of the pen only that.
func TestErasedCellsKeepTheBackground(t *testing.T) {
	for _, in := range []string{"\x1b[K", "\x1b[2K", "\x1b[J", "\x1b[2J", "\x1b[4X", "\x1b[4@", "\x1b[4P", "\x1b[L", "\x1b[M", "\x1b[S", "\x1b[T", "\x1bM"} {
		s := with(1, 4, "\x1b[31;7;44m"+in)
		if got, want := s.Cell(0, 3).Style, (Style{Bg: grid.Indexed(4)}); got != want {
			t.Errorf("%q left %+v, want %+v", in, got, want)
		}
	}
}

// TestErasingBeyondTheText: cells never written take the background only from
// where they are erased.
func TestErasingBeyondTheText(t *testing.T) {
	s := with(1, 8, "\x1b[44m\x1b[5G\x1b[K")
	blue := Style{Bg: grid.Indexed(4)}
	for c, want := range []Style{{}, {}, {}, {}, blue, blue, blue, blue} {
		if got := s.Cell(0, c).Style; got != want {
			t.Errorf("cell %d is %+v, want %+v", c, got, want)
		}
	}
}

func TestWideDoesNotFitOneColumn(t *testing.T) {
	s := with(2, 1, "中a")
	if got, want := lookAt(s).brief(), "a| 0,1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestModes(t *testing.T) {
	var none Modes
	for _, c := range []struct {
		on, off string
		want    Modes
	}{
		{"\x1b[?1h", "\x1b[?1l", Modes{AppCursor: true}},
		{"\x1b=", "\x1b>", Modes{AppKeypad: true}},
		{"\x1b[?6h", "\x1b[?6l", Modes{Origin: true}},
		{"\x1b[?7l", "\x1b[?7h", Modes{NoWrap: true}},
		{"\x1b[?25l", "\x1b[?25h", Modes{CursorHidden: true}},
		{"\x1b[?47h", "\x1b[?47l", Modes{AltScreen: true}},
		{"\x1b[?1047h", "\x1b[?1047l", Modes{AltScreen: true}},
		{"\x1b[?1049h", "\x1b[?1049l", Modes{AltScreen: true}},
		{"\x1b[?1000h", "\x1b[?1000l", Modes{Mouse: true}},
		{"\x1b[?1002;1006h", "\x1b[?1006;1002l", Modes{Mouse: true}},
		{"\x1b[?1003h", "\x1b[?1003l", Modes{Mouse: true}},
		{"\x1b[?1004h", "\x1b[?1004l", Modes{FocusEvents: true}},
		{"\x1b[?2004h", "\x1b[?2004l", Modes{BracketedPaste: true}},
		{"\x1b[?2026h", "\x1b[?2026l", Modes{Sync: true}},
		{"\x1b[4h", "\x1b[4l", Modes{Insert: true}},
		{"\x1b[20h", "\x1b[20l", Modes{NewLine: true}},
		{"\x1b[?2004;1004h", "\x1bc", Modes{BracketedPaste: true, FocusEvents: true}},
		{"\x1b[?25l\x1b[?1h\x1b[4h\x1b[?6h\x1b[?7l\x1b=", "\x1b[!p",
			Modes{CursorHidden: true, AppCursor: true, Insert: true, Origin: true, NoWrap: true, AppKeypad: true}},
		{"\x1b[?2004$p\x1b[>4;2m\x1b[>1u\x1b[?u\x1b[4;2h", "\x1b[4l", Modes{Insert: true}},
	} {
		s := with(4, 10, c.on)
		if got := s.Modes(); got != c.want {
			t.Errorf("%q gave %+v, want %+v", c.on, got, c.want)
		}
		s.Write([]byte(c.off))
		if got := s.Modes(); got != none {
			t.Errorf("%q then %q gave %+v, want none", c.on, c.off, got)
		}
	}
}

func TestWrappedTellsSoftFromHardEnds(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []bool
	}{
		{"a long line", "abcdefgh", []bool{true, false, false}},
		{"two rows and more", "abcdefghijk", []bool{true, true, false}},
		{"a row just full", "abcd", []bool{false, false, false}},
		{"ended by the program", "abcd\r\ne", []bool{false, false, false}},
		{"a wide character that did not fit", "abc中", []bool{true, false, false}},
		{"its end erased", "abcdef\x1b[1;3H\x1b[K", []bool{false, false, false}},
		{"erased and written again", "abcdef\x1b[H\x1b[2Kab", []bool{false, false, false}},
		{"scrolled", "abcdefghijklmno\r\np", []bool{true, false, false}},
	} {
		s := with(3, 4, c.in)
		if got := []bool{s.Wrapped(0), s.Wrapped(1), s.Wrapped(2)}; !slices.Equal(got, c.want) {
			t.Errorf("%s: wrapped %v, want %v", c.name, got, c.want)
		}
	}
}

func TestTitleIsBoundedAndValid(t *testing.T) {
	long := strings.Repeat("✳", maxTitle)
	for _, end := range []string{"\a", "\x1b\\"} {
		s := with(2, 10, "\x1b]0;"+long+end+"x")
		if got := s.Title(); len(got) < maxTitle/2 || len(got) > maxTitle || !utf8.ValidString(got) {
			t.Errorf("a title of %d bytes became one of %d, valid %v", len(long), len(got), utf8.ValidString(got))
		}
		if s.Row(0) != "x" {
			t.Errorf("the title spilled: %q", s.Row(0))
		}
	}
	s := with(2, 10, "\x1b]2;a\xffb\a")
	if got, want := s.Title(), "a\ufffdb"; got != want {
		t.Errorf("title %q, want %q", got, want)
	}
	for range 100 {
		s.Write([]byte("\x1b]2;new\a\x1b[22t"))
	}
	if got := len(s.term.headings); got > maxTitles {
		t.Errorf("%d titles kept, want at most %d", got, maxTitles)
	}
}
