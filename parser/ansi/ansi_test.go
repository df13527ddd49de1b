package ansi

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// lines reads pieces and describes each line: its text, a | behind what is fresh
// when more follows, "painted" before it.
func lines(pieces ...string) []string {
	var r Reader
	var out []string
	show := func(l Line) {
		text := string(l.Text)
		if l.Fresh < len(text) {
			text = text[:l.Fresh] + "|" + text[l.Fresh:]
		}
		if l.Painted {
			text = "painted " + text
		}
		out = append(out, text)
	}
	for _, p := range pieces {
		for rest := []byte(p); len(rest) > 0; {
			l, n, ok := r.Next(rest)
			if ok {
				show(l)
			}
			rest = rest[n:]
		}
	}
	if l, ok := r.Rest(); ok {
		show(l)
	}
	return out
}

func bytewise(s string) (pieces []string) {
	for i := range len(s) {
		pieces = append(pieces, s[i:i+1])
	}
	return pieces
}

func TestReader(t *testing.T) {
	for in, want := range map[string][]string{
		"a\nb\r\n\r\r\nc":               {"a", "b", "", "c"},
		"a\tb \n":                       {"a\tb "},
		"\x1b[1;31mred\x1b[m\n":         {"red"},
		"abc\rx\n":                      {"x|bc"},
		"abc\rxyz\nabc\rxyzw\n":         {"xyz", "xyzw"},
		"abc\r\x1b[Kx\nabc\b\b\x1b[K\n": {"x", "a"},
		"äöü\rß\n":                      {"ß|öü"},
		"abc\x1b[1K\n":                  {""},
		"ab\x1b[A\ncd\nef\n":            {"painted ab", "painted cd", "ef"},
		"\x1b[3Aa\nb\nc\nd\n":           {"painted a", "painted b", "painted c", "d"},
		"\x1b[Ax\ny\n":                  {"painted x", "y"},
		"\x1b[3;1Hx\ny\n\x1b[H\x1b[Jz":  {"painted x", "painted y", "z"},
		"\x1b[?1049hx\n\x1b[?1049ly\nz": {"painted x", "painted y", "z"},
		"\x1b7x\n\x1b8y\nz\n":           {"x", "painted y", "painted z"},
		"x\x1b7\x1b[9;9Hy\x1b8\nz\n":    {"painted xy", "z"},
		"\x1b]0;t\nt\aa\x1bPx\x1b\\b":   {"ab"},
		"\x1b[1\nx":                     {"painted ", "x"},
	} {
		if got := lines(in); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
		if got := lines(bytewise(in)...); !slices.Equal(got, want) {
			t.Errorf("%q byte by byte: got %q, want %q", in, got, want)
		}
	}
}

func TestResync(t *testing.T) {
	var r Reader
	l, _, _ := r.Next([]byte("\x1b[5;5H\n"))
	next, _, _ := r.Next([]byte("x\n"))
	r.Resync()
	last, _, _ := r.Next([]byte("y\n"))
	if !l.Painted || !next.Painted || last.Painted {
		t.Errorf("painted: %v %v %v", l.Painted, next.Painted, last.Painted)
	}
}

func TestReaderHoldsOneLine(t *testing.T) {
	var r Reader
	wide := []byte(strings.Repeat("日", 10_000))
	for range 20 {
		r.Next(wide)
		r.Next([]byte("\b"))
	}
	if len(r.line.text) > MaxLine || len(r.line.cells) > MaxLine || cap(r.line.part) > 16 {
		t.Errorf("%d bytes, %d cells, %d in a character", len(r.line.text), len(r.line.cells), cap(r.line.part))
	}
	r.Next([]byte("\n"))
	if cap(r.line.cells) > MaxLine {
		t.Errorf("keeps %d cells", cap(r.line.cells))
	}
	r.Next([]byte("\x1b]0;" + strings.Repeat("x", maxString-1)))
	if got, _, ok := r.Next([]byte("\nafter\n")); !ok || len(got.Text) != 0 {
		t.Errorf("after an endless string: %q, %v", got.Text, ok)
	}
}

func TestTypist(t *testing.T) {
	for in, want := range map[string]string{
		"one\rtwo\nthree":                     "[one two] three",
		"\r\n\r":                              "[] ",
		"ab\x7f\x7f\x7fc\bd\r":                "[d] ",
		"日本\x7f!\r":                           "[日!] ",
		"one two  \x17\x17x\r":                "[x] ",
		"one\x15two\x03three\x1cfour\r":       "[four] ",
		"a\x1b[D\x1bOAb\x1b[200~c\x1b[201~\r": "[abc] ",
		"a\x1b\rb\r":                          "[a b] ",
		"\x1b]x\ry\r":                         "[y] ",
		"par\x04tial":                         "[par] tial",
		"a\tb\x01\r":                          "[a\tb] ",
	} {
		var k Typist
		var got []string
		for i := range len(in) {
			if line, ok := k.Key(in[i]); ok {
				got = append(got, line)
			}
		}
		if got := fmt.Sprintf("%v %s", got, k.Line()); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add("abc\rx\b\x1b[K\x1b[2J\x1b[H\x1b[3A\n\x1b]0;t\x1b\\\xff\xc2\x9b\n")
	f.Fuzz(func(t *testing.T, in string) {
		whole := lines(in)
		if got := lines(bytewise(in)...); !slices.Equal(got, whole) {
			t.Errorf("%q: byte by byte %q, whole %q", in, got, whole)
		}
		for _, l := range whole {
			if strings.ContainsAny(l, "\x1b\r\n\b\a\x00\x7f") {
				t.Errorf("%q: line %q", in, l)
			}
		}
	})
}
