package draft

import (
	"bytes"
	"strconv"
)

// Kitty's event type of a key release, and its bit for Ctrl, one less than sent.
const (
	release = 3
	ctrlBit = 4
	modBits = 4 | 2 | 8 // Ctrl, Alt, Super: with any of them a character is a command
)

// csiKey names a control sequence of the user's terminal by its parameters and
// final byte. Sources: xterm's ctlseqs, and kitty's keyboard protocol for CSI u.
func csiKey(params []byte, final byte) key {
	if len(params) > 0 && (params[0] == '<' || params[0] == '?' || params[0] == '>') {
		return key{kind: report} // SGR mouse, and answers to queries
	}
	switch final {
	case 'I', 'O': // focus
		return key{kind: report}
	case 'R', 'c', 'n', 't', 'y', 'x': // CPR, DA, DSR, window, DECRPM and DECREQTPARM reports
		if final != 'R' || bytes.IndexByte(params, ';') >= 0 {
			return key{kind: report}
		}
	case 'u':
		code, mods, event := kitty(params)
		return kittyKey(code, mods, event)
	case '~':
		if f := bytes.Split(params, []byte{';'}); len(f) == 3 && string(f[0]) == "27" {
			return kittyKey(number(f[2]), number(f[1])-1, 1) // modifyOtherKeys
		}
	}
	if _, _, event := kitty(params); event == release {
		return key{kind: report}
	}
	return key{kind: motion}
}

// kitty splits `code:… ; mods:event ; …` into code, modifier bits and event.
func kitty(params []byte) (code, mods, event int) {
	f := bytes.Split(params, []byte{';'})
	head, _, _ := bytes.Cut(f[0], []byte{':'})
	code, event = number(head), 1
	if len(f) > 1 {
		m, e, ok := bytes.Cut(f[1], []byte{':'})
		mods = max(number(m)-1, 0)
		if ok {
			event = number(e)
		}
	}
	return code, mods, event
}

func kittyKey(code, mods, event int) key {
	if event == release || code >= 57344 && code <= 63743 && code != 57414 { // modifiers and locks alone
		return key{kind: report}
	}
	switch {
	case mods&ctrlBit != 0 && (code == 'c' || code == 'u'):
		return key{kind: discard}
	case mods&ctrlBit != 0 && code == 'z':
		return key{kind: suspend}
	case mods&ctrlBit != 0 && code == 'w':
		return key{kind: eraseWord}
	case mods&ctrlBit != 0 && code == 'm':
		return key{kind: enter}
	case mods&modBits != 0:
		return key{kind: motion}
	case (code == 13 || code == 57414) && mods == 0:
		return key{kind: enter}
	case code == 127 || code == 8:
		return key{kind: erase}
	case code >= 0x20:
		return key{text, rune(code)}
	}
	return key{kind: motion}
}

func number(p []byte) int {
	n, err := strconv.Atoi(string(p))
	if err != nil {
		return 0
	}
	return n
}
