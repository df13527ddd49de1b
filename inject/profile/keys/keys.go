// Package keys knows the bytes that a terminal sends for the names of keys.
package keys

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxKeys bounds the keys of one sequence.
const maxKeys = 8

// Parse returns the bytes that a terminal sends for key names, separated by blanks
// where several are pressed as one: Enter, Esc, Tab, Space, Backspace; C-x for x
// a small letter, Space or one of @ [ \ ] ^ _; M-x for x a printable ASCII
// character, Enter or Backspace, as terminals send Alt: with an Esc before it.
func Parse(names string) (string, error) {
	list := strings.Split(names, " ")
	if len(list) > maxKeys {
		return "", fmt.Errorf("%.60q: want at most %d keys", names, maxKeys)
	}
	var b strings.Builder
	for _, name := range list {
		key, ok := key(name)
		if !ok {
			return "", fmt.Errorf("%.60q is no key: want Enter, Esc, Tab, Space, Backspace, C-x (x a small letter) or M-x, as in C-s or \"Esc Esc\"", name)
		}
		b.WriteString(key)
	}
	return b.String(), nil
}

// cursor are the last bytes of keys whose first ones depend on a mode of the terminal, tilde the
// numbers of others.
var (
	cursor = map[string]string{"Up": "A", "Down": "B", "Right": "C", "Left": "D", "Home": "H", "End": "F"}
	tilde  = map[string]string{"Delete": "3", "PageUp": "5", "PageDown": "6"}
)

// Names lists the keys that have names of their own.
func Names() []string {
	return []string{"Enter", "Esc", "Tab", "Space", "Backspace", "Up", "Down", "Left", "Right", "Home", "End", "Delete", "PageUp", "PageDown", "C-c"}
}

// Press returns the bytes of one key that somebody presses: one that Parse knows, one of Names, or
// a character. application says that the terminal's cursor keys are in that mode (DECCKM).
func Press(name string, application bool) (string, error) {
	if k, ok := key(name); ok {
		return k, nil
	}
	if last, ok := cursor[name]; ok && application {
		return "\x1bO" + last, nil
	} else if ok {
		return "\x1b[" + last, nil
	}
	if number, ok := tilde[name]; ok {
		return "\x1b[" + number + "~", nil
	}
	if r, size := utf8.DecodeRuneInString(name); size == len(name) && r != utf8.RuneError && r != ' ' && unicode.IsPrint(r) {
		return name, nil
	}
	return "", fmt.Errorf("%.60q is no key: want %s, C-x (x a small letter), M-x, or one character", name, strings.Join(Names(), ", "))
}

func key(name string) (string, bool) {
	switch name {
	case "Enter":
		return "\r", true
	case "Esc":
		return "\x1b", true
	case "Tab":
		return "\t", true
	case "Space":
		return " ", true
	case "Backspace":
		return "\x7f", true
	}
	if x, ok := strings.CutPrefix(name, "C-"); ok {
		return control(x)
	}
	if x, ok := strings.CutPrefix(name, "M-"); ok {
		return meta(x)
	}
	return "", false
}

// control is the key x with Ctrl. Capital letters are refused: a terminal sends
// the same for them, which is seldom what is meant.
func control(x string) (string, bool) {
	switch {
	case x == "Space":
		return "\x00", true
	case len(x) == 1 && (x[0] >= 'a' && x[0] <= 'z' || strings.Contains(`@[\]^_`, x)):
		return string(rune(x[0] & 0x1f)), true
	}
	return "", false
}

func meta(x string) (string, bool) {
	switch {
	case x == "Enter" || x == "Backspace":
		k, ok := key(x)
		return "\x1b" + k, ok
	case len(x) == 1 && x[0] > ' ' && x[0] < 0x7f:
		return "\x1b" + x, true
	}
	return "", false
}
