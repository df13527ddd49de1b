package keystroke

import (
	"strconv"
	"strings"
)

// The bits of a key's modifiers, one less than sent, and kitty's event type of a
// key release. Sources: xterm's ctlseqs; kitty's keyboard protocol.
const (
	shiftBit = 1
	altBit   = 2
	ctrlBit  = 4
	capsBit  = 64
	lockBits = 64 | 128 // Caps Lock, Num Lock
	release  = 3
)

// csiKeys tells the keys of one control sequence of the user's terminal, by its
// parameters and final byte: one, but text of an input method may be longer.
func csiKeys(params string, final byte, emit func(Key)) {
	switch {
	case strings.HasPrefix(params, "<"), final == 'I', final == 'O', final == 'M': // SGR mouse, focus, urxvt mouse
		emit(Key{Kind: Report})
		return
	case params != "" && strings.IndexByte("?>=", params[0]) >= 0,
		strings.IndexByte("cntyx", final) >= 0: // DA, DSR, window, DECRPM and DECREQTPARM
		emit(Key{Kind: Answer})
		return
	case final == 'R' && strings.Contains(params, ";"): // without a place it is F3
		k := Key{Kind: Answer}
		if strings.HasPrefix(params, "1;") {
			k.Kind = Report // in the first row, or F3 with a modifier
		}
		emit(k)
		return
	}
	f := parseKey(params)
	switch {
	case f.event == release:
		emit(Key{Kind: Report})
	case final == 'u':
		f.emit(emit)
	case final == '~' && f.code == 27: // modifyOtherKeys: CSI 27;mods;code~
		f.code, f.written = number(f.written), ""
		emit(f.named())
	case final == '~':
		emit(tilde(f.code, f.mods))
	default:
		emit(cursorKey(final, f.mods))
	}
}

// fields are the parameters `code:shifted:base ; mods:event ; text:text…`.
type fields struct {
	code, shifted, mods, event int
	written                    string // the text as it was sent
}

func parseKey(params string) fields {
	head, rest, _ := strings.Cut(params, ";")
	second, third, _ := strings.Cut(rest, ";")
	code, alternates, _ := strings.Cut(head, ":")
	shifted, _, _ := strings.Cut(alternates, ":")
	mods, event, _ := strings.Cut(second, ":")
	return fields{number(code), number(shifted), max(number(mods)-1, 0), number(event), third}
}

// emit tells a key of the kitty protocol.
func (f fields) emit(emit func(Key)) {
	if f.written == "" || f.mods&^(shiftBit|lockBits) != 0 {
		emit(f.named())
		return
	}
	for code := range strings.SplitSeq(f.written, ":") {
		if c := number(code); c >= ' ' && c != 0x7f {
			emit(Key{Text, rune(c)})
		}
	}
}

// named is the key of a code with its modifiers.
func (f fields) named() Key {
	mods := f.mods &^ lockBits
	if k, ok := keypad(f.code, mods); ok {
		return k
	}
	switch {
	case f.code >= 57344 && f.code <= 63743: // locks, modifiers, F13 and on, media keys
		if mods == 0 && f.code >= 57376 && f.code <= 57398 {
			return Key{Kind: Idle}
		}
		return Key{Kind: Report}
	case f.code == '\r' && mods != 0:
		return Key{Kind: Newline}
	case f.code == '\t' && mods == shiftBit:
		return Key{Kind: Idle}
	case f.code == 0x7f && mods&^shiftBit != 0:
		return Key{Kind: KillBack}
	case mods == ctrlBit && f.code >= '@' && f.code <= '~':
		return control(byte(f.code) & 0x1f)
	case mods == altBit:
		return altKey(rune(f.code))
	case mods&^shiftBit != 0 || f.code == 0:
		return Key{Kind: Unfollowed}
	case f.code < ' ' || f.code == 0x7f:
		return control(byte(f.code))
	}
	return f.character()
}

// character is a key that types: with Shift it is sent by the key's own code, and
// what that types is certain for letters, or when it is told.
func (f fields) character() Key {
	shifted := f.mods&shiftBit != 0
	letter := f.code >= 'a' && f.code <= 'z'
	switch {
	case shifted && f.shifted != 0:
		return Key{Text, rune(f.shifted)}
	case letter && shifted != (f.mods&capsBit != 0):
		return Key{Text, rune(f.code - 'a' + 'A')}
	case shifted && !letter && !(f.code >= 'A' && f.code <= 'Z') && f.code != ' ':
		return Key{Kind: Unfollowed}
	}
	return Key{Text, rune(f.code)}
}

// keypad names kitty's codes of the keypad.
func keypad(code, mods int) (Key, bool) {
	const typed = "0123456789./*-+\r=,"
	switch i := code - 57399; {
	case i < 0 || i > 57427-57399:
		return Key{}, false
	case i < len(typed) && typed[i] == '\r':
		return fields{code: '\r', mods: mods}.named(), true
	case i < len(typed):
		return Key{Text, rune(typed[i])}, true
	case i == 57426-57399:
		return tilde(3, mods), true
	case i-len(typed) < len("DCAB"):
		return cursorKey("DCAB"[i-len(typed)], mods), true
	case i == 57423-57399 || i == 57424-57399:
		return cursorKey("HF"[code-57423], mods), true
	}
	return Key{Kind: Idle}, true
}

// cursorKey names a key by the final byte of its sequence.
func cursorKey(final byte, mods int) Key {
	bare, word := mods&^(shiftBit|lockBits) == 0, mods&(altBit|ctrlBit) != 0
	switch final {
	case 'A', 'B':
		if !bare {
			return Key{Kind: Unfollowed} // brings back what is queued, in some
		}
		return Key{Kind: Vertical}
	case 'C', 'D':
		step, jump := Left, WordLeft
		if final == 'C' {
			step, jump = Right, WordRight
		}
		switch {
		case bare:
			return Key{Kind: step}
		case word:
			return Key{Kind: jump}
		}
		return Key{Kind: Wandering}
	case 'H', 'F':
		switch {
		case !bare:
			return Key{Kind: Wandering}
		case final == 'H':
			return Key{Kind: Home}
		}
		return Key{Kind: End}
	case 'E', 'P', 'Q', 'R', 'S', 'Z':
		return Key{Kind: Idle}
	}
	return Key{Kind: Unfollowed}
}

// tilde names a key by the number of its sequence CSI n ~.
func tilde(code, mods int) Key {
	switch {
	case code == 1 || code == 7:
		return cursorKey('H', mods)
	case code == 4 || code == 8:
		return cursorKey('F', mods)
	case code == 3 && mods&(altBit|ctrlBit) != 0:
		return Key{Kind: KillAhead}
	case code == 3:
		return Key{Kind: Remove}
	case code == 2 || code == 5 || code == 6 || code >= 11 && code <= 34:
		return Key{Kind: Idle}
	}
	return Key{Kind: Unfollowed}
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}
