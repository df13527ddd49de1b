package keys

import (
	"testing"
)

func TestParse(t *testing.T) {
	for names, want := range map[string]string{
		"Enter": "\r", "Esc": "\x1b", "Tab": "\t", "Space": " ", "Backspace": "\x7f",
		"C-a": "\x01", "C-j": "\n", "C-z": "\x1a", "C-@": "\x00", "C-Space": "\x00", "C-[": "\x1b", `C-\`: "\x1c", "C-]": "\x1d", "C-^": "\x1e", "C-_": "\x1f",
		"M-a": "\x1ba", "M-Z": "\x1bZ", "M-1": "\x1b1", "M--": "\x1b-", "M-Enter": "\x1b\r", "M-Backspace": "\x1b\x7f",
		"Esc Esc": "\x1b\x1b", "C-a C-k": "\x01\x0b",
	} {
		if got, err := Parse(names); got != want || err != nil {
			t.Errorf("%q is %q, %v; want %q", names, got, err, want)
		}
	}
	for _, names := range []string{"", " ", "a", "enter", "ESC", "C-", "C-aa", "C-S", "C-1", "C-é", "M-", "M- ", "M-é", "M-ab", "M-Tab", "Esc,Esc", "Esc ", "F1", "\x1b"} {
		if got, err := Parse(names); err == nil {
			t.Errorf("%q is %q, want an error", names, got)
		}
	}
}

func TestPress(t *testing.T) {
	for name, want := range map[string][2]string{
		"Enter": {"\r", "\r"}, "C-c": {"\x03", "\x03"}, "M-x": {"\x1bx", "\x1bx"}, "Up": {"\x1b[A", "\x1bOA"}, "End": {"\x1b[F", "\x1bOF"},
		"Delete": {"\x1b[3~", "\x1b[3~"}, "1": {"1", "1"}, "Y": {"Y", "Y"}, "é": {"é", "é"}, "-": {"-", "-"},
	} {
		for i, application := range []bool{false, true} {
			if got, err := Press(name, application); got != want[i] || err != nil {
				t.Errorf("%q (%v) is %q, %v; want %q", name, application, got, err, want[i])
			}
		}
	}
	for _, name := range []string{"", " ", "yes", "enter", "Esc Esc", "C-1", "F1", "\x1b", "\n", "\xff", "\u200b"} {
		if got, err := Press(name, false); err == nil {
			t.Errorf("%q is %q, want an error", name, got)
		}
	}
	for _, name := range Names() {
		if _, err := Press(name, false); err != nil {
			t.Error(err)
		}
	}
}
