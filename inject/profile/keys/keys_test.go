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
