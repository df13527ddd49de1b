package fakemodel

import (
	"strings"
	"testing"
	"time"
)

func TestScript(t *testing.T) {
	s := &Server{}
	s.SetMark("a.b", "->relay:bob <<<é>>>")
	for _, c := range []struct {
		in   string
		text string
		rep  Reply
	}{
		{"hé", "ACK 3 bytes", Reply{}},
		{"[relay m1 from bob] LONG 2\n[end m1]", "Line 1 of 2\n\nLine 2 of 2\n\n", Reply{}},
		{"SLOW 1", "Line 1 of 4\n\nLine 2 of 4\n\nLine 3 of 4\n\nLine 4 of 4\n\n", Reply{Gap: slowGap}},
		{"THINK 3", "ACK 7 bytes", Reply{Think: 3 * time.Second}},
		{"please TOUCH a/b now", "Running a command.", Reply{Tool: &Tool{Command: "touch a/b"}}},
		{"TOOL 4", "Running a command.", Reply{Tool: &Tool{Command: "sleep 4"}}},
		{"MARK a.b", "->relay:bob <<<é>>>", Reply{}},
		{"MARK no", "no mark named no", Reply{}},
		{"LONG way", "ACK 8 bytes", Reply{}},
		{"BELONG 3", "ACK 8 bytes", Reply{}},
	} {
		got := s.Script(Turn{Text: []string{c.in}})
		if text := strings.Join(got.Deltas, ""); text != c.text {
			t.Errorf("%q: got %q, want %q", c.in, text, c.text)
		}
		if got.Gap != c.rep.Gap || got.Think != c.rep.Think {
			t.Errorf("%q: got gap %v, think %v; want %v, %v", c.in, got.Gap, got.Think, c.rep.Gap, c.rep.Think)
		}
		if (got.Tool == nil) != (c.rep.Tool == nil) || got.Tool != nil && got.Tool.Command != c.rep.Tool.Command {
			t.Errorf("%q: got tool %+v, want %+v", c.in, got.Tool, c.rep.Tool)
		}
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

func TestOnlyTheNewestTextIsObeyed(t *testing.T) {
	got := (&Server{}).Script(Turn{Text: []string{"SLOW 600", "hello"}})
	if text := strings.Join(got.Deltas, ""); text != "ACK 14 bytes" || got.Gap != 0 {
		t.Errorf("got %.40q with gap %v, want ACK 14 bytes", text, got.Gap)
	}
}

func TestSayLosesNothing(t *testing.T) {
	for _, text := range []string{"", "x", strings.Repeat("日本語 ", 500)} {
		rep := Say(text)
		if got := strings.Join(rep.Deltas, ""); got != text {
			t.Errorf("got %q, want %q", got, text)
		}
		for _, d := range rep.Deltas {
			if len(d) > deltaBytes+4 || strings.ToValidUTF8(d, "") != d {
				t.Errorf("got piece %q, want whole runes and about %d bytes", d, deltaBytes)
			}
		}
	}
}
