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

func TestLoneEscapeIsAKeyOnlyWhenNothingFollows(t *testing.T) {
	var d Decoder
	if evs := d.Feed([]byte("\x1b")); len(evs) != 0 || !d.Pending() {
		t.Fatalf("got %v, want to wait", evs)
	}
	if evs := d.Flush(); last(evs).Key != Esc {
		t.Errorf("got %v, want Esc", evs)
	}
	if evs := d.Feed([]byte("\x1b\x1b")); len(evs) != 1 || evs[0].Key != Esc || !d.Pending() {
		t.Errorf("got %v, want one Esc and another pending", evs)
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

func TestChipIsOneUnit(t *testing.T) {
	long := paste("a\nb\nc\nd")
	if e, _ := typed("x"+long, "\x7f"); e.Text() != "x" {
		t.Errorf("after Backspace got %q, want x", e.Text())
	}
	e, _ := typed(long, long)
	if got, _ := e.Shown(); string(got) != "[Pasted text #1 +3 lines][Pasted text #2 +3 lines]" {
		t.Errorf("two pastes got %q, want two chips", string(got))
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
		{"stash and back", "ab\x13\x13c", "abc"},
		{"stash holds", "ab\x13c", "c"},
	} {
		if e, _ := typed(c.keys); e.Text() != c.want {
			t.Errorf("%s: got %q, want %q", c.name, e.Text(), c.want)
		}
	}
}

func TestTakeBringsTheStashBack(t *testing.T) {
	e, _ := typed("draft", "\x13", "message ")
	if got := e.Take(); got != "message" || e.Text() != "draft" || e.Stashed() {
		t.Errorf("took %q leaving %q (stashed %v), want message leaving draft", got, e.Text(), e.Stashed())
	}
}

var sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")

func plain(b Box) string { return sgr.ReplaceAllString(strings.Join(b.Rows, "\n"), "") }

func TestIdleBox(t *testing.T) {
	e, _ := typed("half a draft")
	b := View{Rows: 24, Cols: 20}.Draw(e)
	rule := strings.Repeat("─", 20)
	want := "\n" + rule + "\n❯\u00a0half a draft \n" + rule + "\n  ⏸ fake mode"
	if got := plain(b); got != want || b.Row != 2 || b.Col != 14 {
		t.Errorf("got cursor %d,%d and\n%s\nwant 2,14 and\n%s", b.Row, b.Col, got, want)
	}
	if !strings.Contains(b.Rows[2], "draft\x1b[7m \x1b[0m") {
		t.Errorf("got %q, want a reverse cell at the cursor", b.Rows[2])
	}
}

func TestLongDraftScrollsUnderTheRule(t *testing.T) {
	var lines []string
	for i := range 40 {
		lines = append(lines, fmt.Sprintf("typed %d", i))
	}
	for _, c := range []struct{ rows, shown int }{{12, 3}, {18, 4}, {24, 7}, {50, 20}} {
		e := &Editor{}
		e.Put(strings.Join(lines, "\n"))
		got := plain(View{Rows: c.rows, Cols: 80}.Draw(e))
		if want := fmt.Sprintf("\n─── ↑ %d more ─", 40-c.shown); !strings.HasPrefix(got, want) {
			t.Errorf("%d rows: got %.60q, want %q", c.rows, got, want)
		}
		if strings.Contains(got, "❯") || strings.Count(got, "typed") != c.shown {
			t.Errorf("%d rows: got %d rows of text, want the last %d", c.rows, strings.Count(got, "typed"), c.shown)
		}
	}
	e := &Editor{}
	e.Put(strings.Join(lines, "\n"))
	for range 39 {
		e.Press(Home)
		e.Press(Left)
	}
	if got := plain(View{Rows: 24, Cols: 80}.Draw(e)); !strings.Contains(got, "❯\u00a0typed 0 \n") || !strings.Contains(got, "─── ↓ 33 more ─") {
		t.Errorf("cursor at the top: got\n%s", got)
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

func TestDialogHidesTheBox(t *testing.T) {
	b := View{Rows: 24, Cols: 40, Dialog: "touch x"}.Draw(&Editor{})
	got := plain(b)
	if strings.Contains(got, "❯\u00a0") || !strings.Contains(got, "Do you want to proceed?\n ❯ 1. Yes\n   2. No\n\n Esc to cancel") {
		t.Errorf("got\n%s", got)
	}
	if row := []rune(sgr.ReplaceAllString(b.Rows[b.Row], "")); row[b.Col] != '❯' {
		t.Errorf("cursor parked on %q, want the choice", row[b.Col])
	}
}
