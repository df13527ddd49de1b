package screen

import (
	"strings"
	"testing"
)

func TestNotesAreTheNewest(t *testing.T) {
	s := New(2, 20)
	for _, step := range []struct {
		in     string
		code   int
		text   string
		serial uint64
	}{
		{"", 7501, "", 0},
		{"\x1b]7501;state=working:app=codex\x1b\\", 7501, "state=working:app=codex", 1},
		{"\x1b]133;A\a$ \x1b]133;B\a", 133, "B", 3},
		{"", 7501, "state=working:app=codex", 1},
		{"\x1b]7;file://h/d\a", 7, "file://h/d", 4},
		{"\x1b]9;done; really\a", 9, "done; really", 5},
		{"\x1b]9;done; really\a", 9, "done; really", 6},
		{"\x1b]7501;\a", 7501, "", 7},
		{"\x1b]7501\a", 7501, "", 7},
		{"\x1b]07501;x\a\x1b]75010;x\a\x1b]750;x\a", 7501, "", 7},
		{"\x1b]8;;http://x\a\x1b]52;c;eA==\a\x1b]0;T\a", 8, "", 0},
		{"", 52, "", 0},
		{"", 0, "", 0},
		{"\x1b]7;a\xffb\x01c\a", 7, "a\ufffdbc", 8},
		{"\x1b]7;lost\x18", 7, "a\ufffdbc", 8},
		{"\x1bc\x1b[!p", 7, "a\ufffdbc", 8},
	} {
		s.Write([]byte(step.in))
		if text, serial := s.Note(step.code); text != step.text || serial != step.serial {
			t.Errorf("after %q note %d is %q, %d, want %q, %d", step.in, step.code, text, serial, step.text, step.serial)
		}
	}
	if s.Title() != "T" {
		t.Errorf("title %q", s.Title())
	}
}

// TestLongNotesAreDropped: a cut one might say something else.
func TestLongNotesAreDropped(t *testing.T) {
	for _, code := range []string{"7", "7501"} {
		n := map[string]int{"7": 7, "7501": 7501}[code]
		s := New(2, 20)
		fits := strings.Repeat("x", MaxNote)
		s.Write([]byte("\x1b]" + code + ";" + fits + "\a"))
		for _, more := range []int{1, 2, 100, 1 << 20} {
			s.Write([]byte("\x1b]" + code + ";" + fits + strings.Repeat("y", more) + "\a"))
		}
		if text, serial := s.Note(n); text != fits || serial != 1 {
			t.Errorf("note %s has %d bytes and serial %d, want %d and 1", code, len(text), serial, MaxNote)
		}
	}
}

func TestStringsAllocateNothing(t *testing.T) {
	s := New(24, 80)
	in := []byte("\x1b]133;A\a$ \x1b]7;file://h/d\a\x1b]7501;state=working\x1b\\\x1b]8;;http://x.y\alink\x1b]8;;\a\x1b]52;c;" +
		strings.Repeat("QUJD", 9000) + "\a\x1bPq" + strings.Repeat("~", 9000) + "\x1b\\\r\n")
	if n := testing.AllocsPerRun(100, func() { s.Write(in) }); n != 0 {
		t.Errorf("%v allocations for known strings, want 0", n)
	}
	if got := s.Row(0); got != "$ link" {
		t.Errorf("row %q", got)
	}
}
