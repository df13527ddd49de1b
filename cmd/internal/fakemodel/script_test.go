package fakemodel

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestScript(t *testing.T) {
	s := &Server{}
	s.SetMark("a.b", "->relay:bob <<<é>>>")
	two := []string{"Line 1 of 2\n\n", "Line 2 of 2\n\n"}
	thinks := Say("ACK 7 bytes")
	thinks.Think = 3 * time.Second
	for in, want := range map[string]Reply{
		"hé":                                   Say("ACK 3 bytes"),
		"[relay m1 from bob] LONG 2\n[end m1]": {Deltas: two},
		"SLOW 1":                               Reply{Deltas: lines(4, 0).Deltas, Gap: slowGap},
		"THINK 3":                              thinks,
		"please TOUCH a/b now":                 Bash("touch a/b"),
		"TOOL 4":                               Bash("sleep 4"),
		"MARK a.b":                             Say("->relay:bob <<<é>>>"),
		"MARK no":                              Say("no mark named no"),
		"LONG way":                             Say("ACK 8 bytes"),
		"BELONG 3":                             Say("ACK 8 bytes"),
	} {
		if got := s.Script(Turn{Text: []string{in}}); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %+v, want %+v", in, got, want)
		}
	}
	if got := s.Script(Turn{Text: []string{"SLOW 600", "hello"}}); got.Gap != 0 {
		t.Error("an older text was obeyed")
	}
}

func TestUnwrap(t *testing.T) {
	wrap := func(body string) string {
		return "\n\n<pasted_content id=\"7b23\">\n" + body + "\n</pasted_content id=\"7b23\">\n"
	}
	for _, c := range []struct{ name, in, want string }{
		{"nothing to do", "a\n[Pasted text #1]\nb", "a\n[Pasted text #1]\nb"},
		{"paste alone", wrap("a\nb"), "a\nb"},
		{"header and footer around", "[h] " + wrap("a\nb") + "\n[f]", "[h] a\nb\n[f]"},
		{"two pastes", "1" + wrap("a") + "2" + wrap("b") + "3", "1a2b3"},
		{"placeholder before it", "x [Pasted text #3 +12 lines]" + wrap("a"), "x a"},
		{"a mark inside the paste", wrap("<pasted_content id=\"1\">\nx\n</pasted_content id=\"1\">\n"), "<pasted_content id=\"1\">\nx\n</pasted_content id=\"1\">\n"},
		{"not closed", "a\n\n<pasted_content id=\"1\">\nb", "a\n\n<pasted_content id=\"1\">\nb"},
	} {
		if got := Unwrap(c.in); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestSayLosesNothing(t *testing.T) {
	for _, text := range []string{"", "x", strings.Repeat("日本語 ", 500)} {
		rep := Say(text)
		if got := strings.Join(rep.Deltas, ""); got != text {
			t.Errorf("got %q, want %q", got, text)
		}
		for _, d := range rep.Deltas {
			if len(d) > 4*deltaRunes || strings.ToValidUTF8(d, "") != d {
				t.Errorf("got piece %q, want whole runes and at most %d of them", d, deltaRunes)
			}
		}
	}
}
