package sight

import (
	"fmt"
	"strings"
	"testing"

	"relay-pty/inject/profile"
)

// An agent that gives its characters fewer columns than the terminal fills a row beyond its end,
// and does not paint anew what that has covered in the row below.
func TestRowsThatRunOver(t *testing.T) {
	box := "  ┃\n  ┃\n  ┃\n  ┃\n" + openFloor[1:]
	at := func(row, col int, text string) string { return fmt.Sprintf("\x1b[%d;%dH%s", row, col, text) }
	full := strings.Repeat("x", 55) // from the sixth column to the last
	for _, c := range []struct{ name, painted, want string }{
		{"over the row's border", at(2, 6, full+"abcd") + at(3, 6, "[end m1]@"), full + "\nabcd[end m1]"},
		{"not as far as the row's border", at(2, 6, full+"a") + at(3, 6, "[end m1]@"), full + "\na[end m1]"},
		{"over the row's text", at(3, 6, "[end m1]") + at(2, 6, full+"abcdef") + at(3, 14, "@"), full + "\nabcde\ufffdfend m1]"},
		{"over two rows", at(2, 6, full+strings.Repeat("y", 62)) + at(4, 6, "[end m1]@"), full + "\nyyyyy\ufffd" + strings.Repeat("y", 55) + "\nyy[end m1]"},
		{"over the empty row below the text", at(4, 6, full+"ab") + at(4, 9, "@"), full + "\nab"},
		{"with marks", at(2, 6, full+"\u1019\u103c\u1014") + at(3, 6, "[end m1]@"), full + "\n\u1019\u103c\u1014[end m1]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := Look(opencode, painted(box+c.painted))
			if want := (Box{Visible: true, Top: true, Text: c.want}); v.Box != want {
				t.Errorf("got %+v, want %+v", v.Box, want)
			}
		})
	}
}

// TestRowsOfThePageThatRunOver: what they put left of the composer's border stays there, for the
// agent takes it for a blank. The border is one still.
func TestRowsOfThePageThatRunOver(t *testing.T) {
	at := func(row, col int, text string) string { return fmt.Sprintf("\x1b[%d;%dH%s", row, col, text) }
	stray := func(row int) string { return at(row, 1, "\u09be") }
	box := func(row int) string {
		return at(row, 3, "┃") + at(row+1, 3, "┃  one") + at(row+2, 3, "┃  two@") + at(row+3, 3, "┃") +
			at(row+4, 3, "┃  Build") + at(row+5, 3, "╹▀▀▀▀▀▀▀▀▀▀")
	}
	for _, c := range []struct{ name, painted, want string }{
		{"nowhere", box(3), "one\ntwo"},
		{"beside the first row", stray(3) + box(3), "one\ntwo"},
		{"beside the text", stray(4) + box(3), "one\ntwo"},
		{"beside all", stray(3) + stray(4) + stray(5) + stray(6) + stray(7) + stray(8) + box(3), "one\ntwo"},
		{"and it looks like the end of the row above", at(4, 60, "x\u09be") + at(4, 60, " ") + box(3), "one\n\u09betwo"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := Look(opencode, painted(c.painted))
			if want := (Box{Visible: true, Top: true, Text: c.want}); v.Box != want {
				t.Errorf("got %+v, want %+v", v.Box, want)
			}
		})
	}
}

// TestTextBeforeAnyLine: what a human types before a "|" is text in a composer without such a
// border, whatever characters it has.
func TestTextBeforeAnyLine(t *testing.T) {
	const line, text = "────────────────────", "日本語 | x"
	for _, c := range []struct {
		p       *profile.Profile
		painted string
	}{
		{claude, line + "\n❯\u00a0" + text + "\n  " + text + "@\n" + line},
		{codex, "› " + text + "\n  " + text + "@" + codexFoot},
		{gemini, geminiEdge + " > " + text + "\n   " + text + "@" + geminiFloor + geminiFoot},
		{opencode, "  ┃\n  ┃  " + text + "\n  ┃  " + text + "@" + openFloor},
		{overlaid(t, `{"name":"bare","prompt":"› "}`), "› " + text + "\n  " + text + "@"},
		{overlaid(t, `{"name":"floored","prompt":"› ","composer":"floored","floor":"▀"}`), "› " + text + "\n› " + text + "@\n▀▀"},
	} {
		if got := Look(c.p, painted(c.painted)).Box; got != (Box{Visible: true, Top: true, Text: text + "\n" + text}) {
			t.Errorf("%s: %+v", c.p.Name, got)
		}
	}
}
