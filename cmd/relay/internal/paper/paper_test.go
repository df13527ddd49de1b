package paper

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode"

	"relay-pty/protocol"
)

// TestColoursAreOurs: no text brings a colour, whatever it holds, and without them there is none.
func TestColoursAreOurs(t *testing.T) {
	const marks = "\x1b[31my\xff31mz\xffm\u009b31m"
	print := func(p Paper) error {
		fmt.Fprintln(p, marks)
		return errors.Join(
			p.Printf("%-12s|%5d|%v|%q|%s\n", marks, 7, errors.New(marks), marks, p.Indent(marks, 2)),
			p.Printf("%s %s %s\n", Painted("ready"), Painted(" blocked (by "+marks+")"), Painted(marks+"ready\n")),
			p.Table([][]string{{"NAME", "STATE", "TEXT"}, {"ready", "busy", "failed"}, {"a\n" + marks, "gone (" + marks + ")", "ready (" + marks + ")"}}),
		)
	}
	const text = "[31my\ufffd31mz\ufffdm31m"
	want := text + "\n" + text + "|    7|" + text + `|"\x1b[31my\xff31mz\xffm\u009b31m"|  ` + text + "\n" +
		"{32}ready{} {31} blocked (by " + text + "){} " + text + "ready \n" +
		fmt.Sprintf("%-17s  %-22s  TEXT\n%-17s  {33}%-24s{}failed\n%-17s  {2}%-24s{}", "NAME", "STATE", "ready", "busy", "a "+text, "gone ("+text+")") +
		"ready (" + text + ")\n"
	colours := strings.NewReplacer("{}", "\x1b[m", "{32}", "\x1b[32m", "{31}", "\x1b[31m", "{33}", "\x1b[33m", "{2}", "\x1b[2m")
	for on, want := range map[bool]string{true: colours.Replace(want), false: strings.NewReplacer("{}", "", "{32}", "", "{31}", "", "{33}", "", "{2}", "").Replace(want)} {
		var out bytes.Buffer
		if err := print(Of(&out, 0, on)); err != nil || out.String() != want {
			t.Errorf("colours %v: %v\n%q, want\n%q", on, err, out.String(), want)
		}
	}
	if err := New(broken{}).Printf("%s", "x"); err != io.ErrClosedPipe {
		t.Errorf("a broken pipe: %v", err)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// bodies are such that a terminal would break.
var bodies = map[string]string{
	"a false line":     strings.Repeat("x", 36) + "11:20:03  human → bob  m-zzzz  delivered" + strings.Repeat("y", 300),
	"blanks":           "x" + strings.Repeat(" ", 250) + "11:20:03  human → bob",
	"wide":             "日本語" + strings.Repeat("字", 300),
	"narrow and wide":  strings.Repeat("a字", 200),
	"emoji":            strings.Repeat("👩‍💻❤️1️⃣🇩🇪", 80),
	"marks":            strings.Repeat("e\u0301", 300),
	"vowels of Hangul": strings.Repeat("\u1161", 300),
	"tabs":             strings.Repeat("\tx", 120),
	"lines":            "\n\n" + strings.Repeat("z", 199) + "\n\nend",
	"turned around":    strings.Repeat("a\u202e\u2066b\u2028", 100),
	"nothing":          "",
}

// TestBodiesKeepTheirIndent: on a terminal of any width no line of a body begins before the others,
// nor ends behind the terminal's edge, and nothing is left out.
func TestBodiesKeepTheirIndent(t *testing.T) {
	for name, body := range bodies {
		whole := strings.NewReplacer("\n", "", " ", "").Replace(Plain(body))
		for cols := 20; cols <= 200; cols += 1 + cols/80*6 {
			for _, blanks := range []int{4, 15, 26} {
				p := Of(io.Discard, cols, false)
				lines := strings.Split(p.Indent(body, blanks), "\n")
				lines = append(lines, strings.Split(strings.Repeat("#", blanks)+p.Behind(body, blanks), "\n")...)
				indent := strings.Repeat(" ", min(blanks, cols/2))
				for _, line := range lines {
					if !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, indent) || blanks <= cols && widest(line) > cols {
						t.Errorf("%s, %d columns, %d blanks: %q of %d", name, cols, blanks, line, widest(line))
					}
				}
				got := strings.NewReplacer("\n", "", " ", "", "#", "").Replace(strings.Join(lines, ""))
				if got != whole+whole {
					t.Errorf("%s, %d columns, %d blanks: %q is not %q twice", name, cols, blanks, got, whole)
				}
			}
		}
		p := Of(io.Discard, 0, false)
		if got, want := p.Indent(body, 2), "  "+strings.ReplaceAll(Plain(body), "\n", "\n  "); got != want {
			t.Errorf("%s, where lines have any length: %q", name, got)
		}
	}
}

// widest is how many columns a line takes where an emoji and each vowel is shown alone.
func widest(line string) (n int) {
	for _, r := range line {
		n += most(r)
	}
	return n
}

// TestRowsGoOnBelow: a row whose cells do not fit begins no line with a cell, and no cell is cut
// but the last and what is longer than a line.
func TestRowsGoOnBelow(t *testing.T) {
	rows := func() [][]string {
		return [][]string{
			{"NAME", "STATE", "KNOWN BY", "TEXT"},
			{"alice", "ready", strings.Repeat("k", 30), strings.Repeat("字", 60)},
			{"bob\tx\n" + strings.Repeat("b", 70), "unknown (\x1b[2Jx)", "", "t"},
		}
	}
	for cols := 20; cols <= 200; cols++ {
		var out bytes.Buffer
		if err := Of(&out, cols, false).Table(rows()); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		begins := 0
		for _, line := range lines {
			if !strings.HasPrefix(line, gap+gap) {
				begins++
			}
			if columns(strings.TrimRight(line, " ")) > cols || strings.ContainsFunc(line, unicode.IsControl) {
				t.Errorf("%d columns: %q of %d", cols, line, columns(line))
			}
		}
		if begins != 3 || slices.ContainsFunc(lines, func(line string) bool { return strings.ContainsFunc(line, protocol.Obeyed) }) {
			t.Errorf("%d columns: %d rows begin, want 3\n%s", cols, begins, out.String())
		}
		if !strings.Contains(out.String(), "ready") || cols > 34 && !strings.Contains(out.String(), strings.Repeat("k", 30)) {
			t.Errorf("%d columns: a cell is missing\n%s", cols, out.String())
		}
	}
}
