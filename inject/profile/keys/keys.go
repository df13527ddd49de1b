// Package keys knows the bytes that a terminal sends for the names of keys.
package keys

import (
	"fmt"
	"strings"
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
