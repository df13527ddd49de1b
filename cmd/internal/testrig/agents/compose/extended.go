package compose

import (
	"strconv"
	"strings"
)

// Bits of a key's modifiers, sent plus one.
const (
	shift = 1 << iota
	alt
	ctrl
)

const released = "3" // a kitty event type

// extended decodes a key in the form of the kitty keyboard protocol,
// CSI code[:…][;modifiers[:type][;text]] u, or of xterm's modifyOtherKeys,
// CSI 27;modifiers;code ~. What is no key of ours, and a release, is no event.
func extended(seq string) Event {
	fields := strings.Split(seq[2:len(seq)-1], ";")
	code, mods, kind := fields[0], "1", ""
	if seq[len(seq)-1] == '~' {
		if len(fields) != 3 {
			return Event{}
		}
		mods, code = fields[1], fields[2]
	} else if len(fields) > 1 {
		mods, kind, _ = strings.Cut(fields[1], ":")
	}
	code, _, _ = strings.Cut(code, ":")
	n, err := strconv.Atoi(code)
	m, merr := strconv.Atoi(mods)
	if err != nil || merr != nil || kind == released {
		return Event{}
	}
	return keyEvent(rune(n), m-1)
}

func keyEvent(r rune, mods int) Event {
	switch {
	case r == 27:
		return Event{Key: Esc}
	case r == '\r' && mods != 0:
		return Event{Key: Newline}
	case mods&ctrl != 0 && r >= 'a' && r <= 'z':
		return Event{Key: control[byte(r)&0x1f]}
	case mods&(alt|ctrl) != 0:
		return Event{}
	case r < ' ' || r == 0x7f:
		return Event{Key: control[byte(r)]}
	case r >= 0xe000 && r <= 0xf8ff: // keys without text: keypad, media, modifiers
		return Event{}
	case mods&shift != 0:
		return Event{Text: strings.ToUpper(string(r))}
	}
	return Event{Text: string(r)}
}
