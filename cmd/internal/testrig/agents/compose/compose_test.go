package compose

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// typed feeds reads to a decoder and an editor and returns both.
func typed(reads ...string) (*Editor, []Event) {
	var d Decoder
	var e Editor
	var all []Event
	for _, r := range reads {
		for _, ev := range d.Feed([]byte(r)) {
			all = append(all, ev)
			switch {
			case ev.Paste:
				e.Paste(ev.Text)
			case ev.Text != "":
				e.Insert(ev.Text)
			default:
				e.Press(ev.Key)
			}
		}
	}
	return &e, all
}

func paste(s string) string { return "\x1b[200~" + s + "\x1b[201~" }

func last(evs []Event) Event {
	if len(evs) == 0 {
		return Event{}
	}
	return evs[len(evs)-1]
}

func TestEnterAfterAPaste(t *testing.T) {
	for _, c := range []struct {
		name  string
		reads []string
		enter bool
		text  string
	}{
		{"in the same read joins the paste", []string{paste("hi") + "\r"}, false, "hi\n"},
		{"in the next read submits", []string{paste("hi"), "\r"}, true, "hi"},
		{"with the paste's end split off joins", []string{"\x1b[200~hi\x1b[20", "1~\r"}, false, "hi\n"},
		{"after a short word in one read submits", []string{"hi\r"}, true, "hi"},
		{"in one read with much text joins it", []string{strings.Repeat("x", 70) + "\r"}, false, strings.Repeat("x", 70) + "\n"},
		{"C-j after a paste is its own key", []string{paste("hi") + "\nfooter"}, false, "hi\nfooter"},
	} {
		e, evs := typed(c.reads...)
		if got := last(evs).Key == Enter; got != c.enter || e.Text() != c.text {
			t.Errorf("%s: got Enter %v and %q, want %v and %q", c.name, got, e.Text(), c.enter, c.text)
		}
	}
}

func TestEverySplitOfPasteDecodesTheSame(t *testing.T) {
	in := "é" + paste("a\tb\x1b[31mc\r\nd日") + "\x1b[D" + "x\x7f\x01日本"
	whole, _ := typed(in)
	for cut := range in {
		e, _ := typed(in[:cut], in[cut:])
		if e.Text() != whole.Text() || e.at != whole.at {
			t.Errorf("cut at %d: got %q at %d, want %q at %d", cut, e.Text(), e.at, whole.Text(), whole.at)
		}
	}
	if want := "éa    bc\n日本d日"; whole.Text() != want {
		t.Errorf("got %q, want %q", whole.Text(), want)
	}
}

func TestChips(t *testing.T) {
	lines := strings.TrimSuffix(strings.Repeat("row\n", 4), "\n")
	for _, c := range []struct {
		name, in, shown string
	}{
		{"three lines stay text", "a\nb\nc", "a\nb\nc"},
		{"four lines", lines, "[Pasted text #1 +3 lines]"},
		{"800 bytes stay text", strings.Repeat("x", 800), strings.Repeat("x", 800)},
		{"801 bytes", strings.Repeat("x", 801), "[Pasted text #1]"},
	} {
		e, _ := typed(paste(c.in))
		if got, _ := e.Shown(); string(got) != c.shown || e.Text() != c.in {
			t.Errorf("%s: got %q holding %q, want %q holding %q", c.name, string(got), e.Text(), c.shown, c.in)
		}
	}
}

func TestEditing(t *testing.T) {
	for _, c := range []struct{ name, keys, want string }{
		{"left and insert", "ac\x1b[Db", "abc"},
		{"home and end", "bc\x01a\x05d", "abcd"},
		{"kill to the start of the line", "one\ntwo\x15", "one\n"},
		{"kill the newline next", "one\ntwo\x15\x15", "one"},
		{"kill all of two lines", "one\ntwo\x15\x15\x15", ""},
		{"mouse and focus are no text", "a\x1b[<0;3;4M\x1b[I\x1b[Ob", "ab"},
		{"a chip is one unit", "x" + paste("a\nb\nc\nd") + "\x7f", "x"},
		{"stash and back", "ab\x13\x13c", "abc"},
		{"stash holds", "ab\x13c", "c"},
	} {
		if e, _ := typed(c.keys); e.Text() != c.want {
			t.Errorf("%s: got %q, want %q", c.name, e.Text(), c.want)
		}
	}
}

var sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")

func TestLongDraftScrollsUnderTheRule(t *testing.T) {
	var lines []string
	for i := range 40 {
		lines = append(lines, fmt.Sprintf("typed %d", i))
	}
	for _, c := range []struct{ rows, shown int }{{12, 3}, {18, 4}, {24, 7}, {50, 20}} {
		e := &Editor{}
		e.Put(strings.Join(lines, "\n"))
		got := sgr.ReplaceAllString(strings.Join(View{Rows: c.rows, Cols: 80}.Draw(e).Rows, "\n"), "")
		if want := fmt.Sprintf("\n─── ↑ %d more ─", 40-c.shown); !strings.HasPrefix(got, want) {
			t.Errorf("%d rows: got %.60q, want %q", c.rows, got, want)
		}
		if strings.Contains(got, "❯") || strings.Count(got, "typed") != c.shown {
			t.Errorf("%d rows: got %d rows of text, want the last %d", c.rows, strings.Count(got, "typed"), c.shown)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		in   string
		at   int
		want string
		row  int
		col  int
	}{
		{"", 0, "", 0, 0},
		{"aaa bbb ccc", 11, "aaa bbb|ccc", 1, 3},
		{"aaa bbb ccc", 8, "aaa bbb|ccc", 1, 0},
		{"aaaabbbbccccd", 13, "aaaabbb|bccccd", 1, 6},
		{"a\n\nb", 2, "a||b", 1, 0},
		{"a\n", 2, "a|", 1, 0},
		{"1234567 890", 7, "1234567|890", 0, 7},
	} {
		lines, row, col := wrap([]rune(c.in), c.at, 7, false)
		var got []string
		for _, l := range lines {
			got = append(got, string(l))
		}
		if strings.Join(got, "|") != c.want || row != c.row || col != c.col {
			t.Errorf("%q at %d: got %q cursor %d,%d; want %q cursor %d,%d", c.in, c.at, strings.Join(got, "|"), row, col, c.want, c.row, c.col)
		}
	}
}
