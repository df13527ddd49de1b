package draft

import "unicode/utf8"

// kind is what one key, report or chunk of pasted text is to a composer.
type kind int

const (
	report    kind = iota // mouse, focus, query reply, key release: not typing
	text                  // one character
	pasted                // a piece of a bracketed paste
	enter                 // Enter, which submits
	erase                 // Backspace
	eraseWord             // Ctrl-W
	discard               // Ctrl-C, Ctrl-U: the line is gone, or part of it
	suspend               // Ctrl-Z
	motion                // arrows, history, Tab and every other key
)

// key is one event of the human's input; r is the character of a text key.
type key struct {
	kind kind
	r    rune
}

// state is where the byte stream stands.
type state int

const (
	ground state = iota
	escape       // after ESC
	csi          // ESC [ …
	ss3          // ESC O
	str          // OSC, DCS, APC, PM, SOS: a reply of the terminal, up to BEL or ESC \
	strEsc       // ESC inside one
	mouse        // the three bytes after ESC [ M
)

const maxParams = 64 // bytes of one CSI that are looked at

// reader turns the human's bytes into keys and carries its state over reads.
// Forms: xterm's control sequences, bracketed paste, SGR and X10 mouse, focus
// reports, and the kitty and modifyOtherKeys forms of a key (CSI … u, CSI 27;…~).
type reader struct {
	state  state
	params []byte
	utf    []byte
	skip   int  // bytes of an X10 mouse report still to come
	paste  bool // between ESC [200~ and ESC [201~
}

// boundary says that no sequence, character or paste is unfinished. A lone ESC
// is the Escape key once nothing has followed it; the caller's quiet time
// decides that, so it counts as finished here.
func (r *reader) boundary() bool {
	return (r.state == ground || r.state == escape) && len(r.utf) == 0 && !r.paste
}

// rest says that nothing followed for a while: an ESC was the Escape key.
func (r *reader) rest(emit func(key)) {
	if r.state == escape {
		r.state = ground
		emit(key{kind: motion})
	}
}

func (r *reader) feed(p []byte, emit func(key)) {
	for _, b := range p {
		r.step(b, emit)
	}
}

func (r *reader) step(b byte, emit func(key)) {
	switch r.state {
	case ground:
		r.plain(b, emit)
	case escape:
		r.afterEscape(b, emit)
	case csi:
		r.csi(b, emit)
	case ss3:
		r.state = ground
		emit(ss3Key(b))
	case str:
		switch b {
		case 0x07:
			r.end(emit)
		case 0x1b:
			r.state = strEsc
		}
	case strEsc:
		if r.state = str; b == '\\' {
			r.end(emit)
		}
	case mouse:
		if r.skip--; r.skip == 0 {
			r.end(emit)
		}
	}
}

// end closes a report.
func (r *reader) end(emit func(key)) {
	r.state = ground
	emit(key{kind: report})
}

func (r *reader) plain(b byte, emit func(key)) {
	if len(r.utf) > 0 || b >= 0x80 {
		r.wide(b, emit)
		return
	}
	if b == 0x1b {
		r.state, r.params = escape, r.params[:0]
		return
	}
	if r.paste {
		emit(key{pasted, rune(b)})
		return
	}
	emit(control(b))
}

// wide gathers one UTF-8 character; an invalid byte counts as a character.
func (r *reader) wide(b byte, emit func(key)) {
	r.utf = append(r.utf, b)
	if !utf8.FullRune(r.utf) {
		return
	}
	c, n := utf8.DecodeRune(r.utf)
	rest := append([]byte(nil), r.utf[n:]...)
	r.utf = r.utf[:0]
	k := key{text, c}
	if r.paste {
		k.kind = pasted
	}
	emit(k)
	for _, b := range rest {
		r.step(b, emit)
	}
}

func (r *reader) afterEscape(b byte, emit func(key)) {
	switch b {
	case '[':
		r.state = csi
	case 'O':
		r.state = ss3
	case ']', 'P', '_', '^', 'X':
		r.state = str
	case 0x1b: // Esc Esc: the first was a key of its own
		emit(key{kind: motion})
	default: // Alt and a key; Alt-Enter is a new line in every composer we know
		r.state = ground
		emit(key{kind: motion})
	}
}

func (r *reader) csi(b byte, emit func(key)) {
	if b < 0x40 {
		if len(r.params) < maxParams {
			r.params = append(r.params, b)
		}
		return
	}
	r.state = ground
	if b == 'M' && len(r.params) == 0 {
		r.state, r.skip = mouse, 3
		return
	}
	if b == '~' {
		switch string(r.params) {
		case "200":
			r.paste = true
			return
		case "201":
			r.paste = false
			return
		}
	}
	emit(csiKey(r.params, b))
}

// control names a single byte.
func control(b byte) key {
	switch b {
	case '\r':
		return key{kind: enter}
	case 0x7f, 0x08:
		return key{kind: erase}
	case 0x17:
		return key{kind: eraseWord}
	case 0x03, 0x15:
		return key{kind: discard}
	case 0x1a:
		return key{kind: suspend}
	}
	if b < 0x20 {
		return key{kind: motion}
	}
	return key{text, rune(b)}
}

func ss3Key(b byte) key {
	if b == 'M' { // keypad Enter
		return key{kind: enter}
	}
	return key{kind: motion}
}
