package screen

import (
	"fmt"
	"strings"
	"testing"

	"relay-pty/pty/screen/grid"
)

// manyStyles is how many styles a grid keeps, about.
const manyStyles = 1 << 14

func rgb(n int) grid.Color { return grid.RGB(uint8(n>>16), uint8(n>>8), uint8(n)) }

func TestResizeCutsAndPads(t *testing.T) {
	for _, c := range []struct {
		name, in   string
		rows, cols int
		want       string
	}{
		{"lower, cursor near the top: rows below go", "1\r\n2\r\n3\r\n4\r\n5\x1b[2;1H", 3, 10, "1|2|3| 1,0"},
		{"lower, cursor at the bottom: rows above go", "1\r\n2\r\n3\r\n4\r\n5", 3, 10, "3|4|5| 2,1"},
		{"lower, cursor in between: both", "1\r\n2\r\n3\r\n4\r\n5\x1b[4;1H", 3, 10, "2|3|4| 2,0"},
		{"higher", "1\r\n2\r\n3", 8, 10, "1|2|3| 2,1"},
		{"narrower", "1234567890\r\nab", 5, 6, "123456|ab| 1,2"},
		{"narrower, cursor comes along", "123456789", 5, 6, "123456| 0,5"},
		{"narrower through a wide character", "abc中", 5, 4, "abc| 0,3"},
		{"wider", "ab\r\nabcdefghi", 5, 14, "ab|abcdefghi| 1,9"},
		{"one cell", "ab\r\ncd", 1, 1, "c| 0,0"},
		{"alternate, lower", "a\x1b[?1049h\x1b[H1\r\n2\r\n3\r\n4\r\n5", 3, 10, "3|4|5| 2,1"},
	} {
		s := with(caseRows, caseCols, c.in)
		s.Resize(c.rows, c.cols)
		if got := lookAt(s).brief(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestResizeOfTheAlternateScreenAsTmux: there tmux does not reflow. With -update it
// is asked.
func TestResizeOfTheAlternateScreenAsTmux(t *testing.T) {
	full := "1\r\n2\r\n3\r\n4\r\n5"
	for _, c := range []struct {
		name, in   string
		rows, cols int
		then, want string
	}{
		{"lower, cursor at the top", full + "\x1b[2;1H", 3, 10, "x", "1|x|3| 1,1"},
		{"lower, cursor at the bottom", full, 3, 10, "x", "3|4|5x| 2,2"},
		{"lower, cursor in between", full + "\x1b[4;1H", 3, 10, "x", "2|3|x| 2,1"},
		{"lower to one row", full, 1, 10, "x", "5x| 0,2"},
		{"higher", full, 8, 10, "\r\nx", "1|2|3|4|5|x| 5,1"},
		{"higher, cursor at the top", full + "\x1b[H", 8, 10, "x", "x|2|3|4|5| 0,1"},
		{"narrower, cursor before the edge", "123456789\r\nab", 5, 6, "x", "123456|abx| 1,3"},
		{"wider", "ab\r\n1234567890", 5, 14, "x", "ab|1234567890x| 1,11"},
		{"wider does not wrap what was full", "1234567890ab", 5, 14, "x", "1234567890|abx| 1,3"},
		{"region is whole again", full + "\x1b[2;3r\x1b[5;1H", 6, 12, "\n\nx", "2|3|4|5||x| 5,1"},
		{"origin mode stays", "\x1b[2;3r\x1b[?6h", 6, 12, "\x1b[6;2Hx", "||||| x| 5,2"},
		{"both", full + "\x1b[4;1H", 2, 4, "x", "3|x| 1,1"},
		{"saved cursor is held on the screen", "\x1b[5;8H\x1b7\x1b[H", 3, 4, "\x1b8x", "||   x| 2,4"},
		{"there and back", full, 3, 10, "\x1b[1;1H", "3|4|5| 0,0"},
	} {
		in := "\x1b[?1049h\x1b[H" + c.in
		s := with(caseRows, caseCols, in)
		s.Resize(c.rows, c.cols)
		s.Write([]byte(c.then))
		if got := lookAt(s).brief(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if !*update {
			continue
		}
		p := newPane(t, caseRows, caseCols)
		p.write([]byte(in))
		p.resize(c.rows, c.cols)
		p.write([]byte(c.then))
		if got := p.look().brief(); got != c.want {
			t.Errorf("%s: tmux %s, want %s", c.name, got, c.want)
		}
	}
}

func TestResizeEndsTheMargins(t *testing.T) {
	s := with(5, 10, "\x1b[?69h\x1b[3;6s\x1b[1;6Hx")
	s.Resize(5, 12)
	s.Write([]byte("y"))
	if got, want := lookAt(s).brief(), "     xy| 0,7"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestResizeEndsTheScrollRegion(t *testing.T) {
	s := with(5, 10, "\x1b[2;3r")
	s.Resize(5, 12)
	s.Write([]byte("\na\nb\nc"))
	if got, want := lookAt(s).brief(), "|a| b|  c| 3,3"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestResizeReachesTheNormalScreenBehind(t *testing.T) {
	s := with(5, 10, "1\r\n2\r\n3\r\n4\r\n5\x1b[?1049hx")
	s.Resize(3, 4)
	s.Write([]byte("\x1b[?1049ly"))
	if got, want := lookAt(s).brief(), "3|4|5y| 2,2"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestResizeMovesTheCursorBehind(t *testing.T) {
	s := with(5, 10, "1\r\n2\r\n3\r\n4\r\n5\x1b[?1049hx")
	s.Resize(3, 10)
	s.Resize(5, 10)
	s.Write([]byte("\x1b[?1049ly"))
	if got, want := lookAt(s).brief(), "3|4|5y| 2,2"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestResizeEndsSoftWraps(t *testing.T) {
	s := with(3, 4, "abcdef")
	s.Resize(4, 4)
	if !s.Wrapped(0) {
		t.Error("a row of the same width is wrapped no more")
	}
	if s.Resize(4, 3); s.Wrapped(0) {
		t.Error("a row whose end was cut is still wrapped")
	}
}

func TestResizeBetweenTwoAlternateScreens(t *testing.T) {
	s := with(3, 4, "\x1b[?1049hx\x1b[?1049l")
	s.Resize(6, 9)
	s.Write([]byte("\x1b[?1049h\x1b[6;9Hy"))
	if got, want := lookAt(s).brief(), "|||||        y| 5,9"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestResizeKeepsTabStops(t *testing.T) {
	s := with(2, 10, "\x1b[4G\x1bH\r")
	s.Resize(2, 30)
	s.Write([]byte("\ta\tb\tc\td"))
	if got, want := s.Row(0), "   a    b       c       d"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestResizeToTheSameSizeChangesNothing(t *testing.T) {
	s := with(3, 4, "ab\x1b[2;3r")
	s.Resize(3, 4)
	if s.term.region.Top != 1 {
		t.Errorf("region from row %d of 1", s.term.region.Top)
	}
}

// flood writes n distinct values, each made by part, over the screen.
func flood(s *Screen, n int, part func(i int) string) {
	var b strings.Builder
	for i := range n {
		b.WriteString(part(i))
	}
	s.Write([]byte(b.String()))
}

func TestAttributesSurviveManyStyles(t *testing.T) {
	s := New(200, 200)
	colour := func(i int) string {
		return fmt.Sprintf("\x1b[38;2;%d;%d;%dmx", i>>16&255, i>>8&255, i&255)
	}
	flood(s, 200*200-1, colour)
	s.Write([]byte("\x1b[200;1H\x1b[2;7;38;2;250;250;250my\x1b[0mz"))
	if st := s.Cell(199, 0).Style; !st.Dim || !st.Reverse {
		t.Errorf("with all styles in use a dim reverse cell is %+v", st)
	}
	if st := s.Cell(199, 1).Style; st != (Style{}) {
		t.Errorf("with all styles in use a plain cell is %+v", st)
	}
	s.Write([]byte("\x1b[m\x1b[2J\x1b[H"))
	// New colours are refused for a while, and then taken again.
	flood(s, manyStyles/2, func(i int) string { return colour(1<<20 + i) })
	s.Write([]byte("\x1b[38;2;1;2;3mw"))
	row, col := s.Cursor()
	if got, want := s.Cell(row, col-1).Style.Fg, grid.RGB(1, 2, 3); got != want {
		t.Errorf("after the screen was cleared a colour is %x, want %x", got, want)
	}
}

// TestStyleOfEachCharacterIsRight writes more styles over one cell than there is
// room for, each with a background that must be interned too.
func TestStyleOfEachCharacterIsRight(t *testing.T) {
	s := New(2, 4)
	var kept Style
	for i := 4; i < 3*manyStyles; i++ {
		want := Style{Fg: rgb(i), Bg: rgb(i + 1)}
		s.Write(fmt.Appendf(nil, "\x1b[H\x1b[38;2;%d;%d;%d;48;2;%d;%d;%dmx",
			i>>16, i>>8&255, i&255, (i+1)>>16, (i+1)>>8&255, (i+1)&255))
		if got := s.Cell(1, 0).Style; got != kept {
			t.Fatalf("at style %d the one kept became %+v, want %+v", i, got, kept)
		}
		if i%4 == 3 { // a style gone from the screen, but perhaps remembered
			old := i - 4
			s.Write(fmt.Appendf(nil, "\x1b[2H\x1b[38;2;%d;%d;%d;48;2;%d;%d;%dmy",
				old>>16, old>>8&255, old&255, (old+1)>>16, (old+1)>>8&255, (old+1)&255))
			kept = Style{Fg: rgb(old), Bg: rgb(old + 1)}
		}
		if got := s.Cell(0, 0).Style; got != want {
			t.Fatalf("style %d is %+v, want %+v", i, got, want)
		}
	}
}

func TestStylesOnTheScreenOutliveASweep(t *testing.T) {
	s := with(10, 20, "\x1b[2;38;2;9;8;7mkept\x1b[?1049h\x1b[41m\x1b[2J\x1b[m")
	flood(s, 3*manyStyles, func(i int) string { return fmt.Sprintf("\x1b[2;1H\x1b[38;2;9;%d;%dmx", i>>8&255, i&255) })
	flood(s, 3*manyStyles, func(i int) string { return fmt.Sprintf("\x1b[2;1H\x1b[48;2;1;%d;%dmx", i>>8&255, i&255) })
	if s.Cell(9, 19).Style.Bg != grid.Indexed(1) {
		t.Errorf("the background of an erased cell became %+v", s.Cell(9, 19).Style)
	}
	s.Write([]byte("\x1b[?1049l"))
	if got, want := s.Cell(0, 0).Style, (Style{Dim: true, Fg: rgb(0x090807)}); got != want {
		t.Errorf("a cell behind the alternate screen became %+v, want %+v", got, want)
	}
}

func TestClustersOnTheScreenStay(t *testing.T) {
	s := New(100, 100)
	s.Write([]byte("e\u0301"))
	flood(s, 60_000, func(i int) string {
		return fmt.Sprintf("\x1b[%d;%dH%c%c", 2+i/90%98, 1+i%90, 'a'+i%26, 0x300+i/26%0x70)
	})
	if got, want := s.Row(0), "e\u0301"; got != want {
		t.Errorf("a cluster that stayed on the screen became %q, want %q", got, want)
	}
	s = with(2, 10, "e"+strings.Repeat("\u0301", 1000)+"x")
	if got := s.Row(0); len(got) > grid.MaxCluster+1 || !strings.HasSuffix(got, "\u0301x") {
		t.Errorf("a thousand marks became %q", got)
	}
}
