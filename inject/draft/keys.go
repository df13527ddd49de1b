package draft

import "unicode/utf8"

// kind is what one key, report or piece of pasted text is to an editor.
type kind int

const (
	report   kind = iota // mouse, focus, query reply, key release, modifier alone: not typing
	text                 // one character
	pasted               // one character of a bracketed paste
	pasteEnd             // its end
	enter                // Enter, which submits
	newline              // Enter with Shift or Alt, Ctrl-J
	erase                // Backspace
	remove               // Delete
	left
	right
	vertical // up, down: another row, or the history
	home
	end
	wordLeft
	wordRight
	killWord   // Ctrl-W
	killBack   // Alt-Backspace, Ctrl-Backspace
	killAhead  // Alt-D, Ctrl-Delete
	killStart  // Ctrl-U
	killEnd    // Ctrl-K
	yank       // Ctrl-Y
	transpose  // Ctrl-T
	eof        // Ctrl-D: Delete, unless nothing is typed
	interrupt  // Ctrl-C
	suspend    // Ctrl-Z
	stash      // Ctrl-S
	escapeKey  // Escape
	idle       // a key that changes no text: F1, Page Up, Shift-Tab, Ctrl-L
	wandering  // a key that may move the cursor anywhere
	unfollowed // Tab, history search and all others: the text may be another one now
)

// key is one event of the human's input; r is the character of text and pasted.
type key struct {
	kind kind
	r    rune
}

// state is where the byte stream stands.
type state int

const (
	ground  state = iota
	escape        // after ESC
	csi           // ESC [ …
	ss3           // ESC O
	str           // OSC, DCS, APC, PM, SOS: a reply of the terminal, up to BEL or ESC \
	strEsc        // ESC inside one
	mouse         // the three bytes after ESC [ M
	console       // the byte after ESC [ [, by which the Linux console names F1 … F5
)

const maxParams = 256 // bytes of one CSI that are looked at

// reader turns the human's bytes into keys and carries its state over reads.
// Forms: xterm's control sequences, bracketed paste, SGR, urxvt and X10 mouse,
// focus reports, and the kitty and modifyOtherKeys forms of a key (CSI … u, CSI 27;…~).
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

// pending says that an ESC came and nothing after it, so far.
func (r *reader) pending() bool { return r.state == escape && !r.paste }

// rest says that nothing followed for a while: an ESC was the Escape key, what
// began like a sequence was Alt and a key.
func (r *reader) rest(emit func(key)) {
	state := r.state
	r.state = ground
	switch {
	case state == escape:
		r.key(key{kind: escapeKey}, emit)
	case state != ground || len(r.utf) > 0:
		r.utf = r.utf[:0]
		r.key(key{kind: unfollowed}, emit)
	}
}

func (r *reader) feed(p []byte, emit func(key)) {
	for _, b := range p {
		r.step(b, emit)
	}
}

// key emits a key that is not text; inside a paste there are none.
func (r *reader) key(k key, emit func(key)) {
	if !r.paste {
		emit(k)
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
		r.key(ss3Key(b), emit)
	case console:
		r.state = ground
		r.key(key{kind: idle}, emit)
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
	switch {
	case len(r.utf) > 0 || b >= utf8.RuneSelf:
		r.wide(b, emit)
	case b == 0x1b:
		r.state, r.params = escape, r.params[:0]
	case r.paste:
		emit(key{pasted, rune(b)})
	default:
		emit(control(b))
	}
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
	r.state = ground
	switch b {
	case '[':
		r.state = csi
	case 'O':
		r.state = ss3
	case ']', 'P', '_', '^', 'X':
		r.state = str
	case 0x1b: // the first one was a key of its own
		r.state = escape
		r.key(key{kind: escapeKey}, emit)
	default:
		if b < utf8.RuneSelf {
			r.key(altKey(rune(b)), emit)
			return
		}
		r.key(key{kind: unfollowed}, emit)
		r.wide(b, emit)
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
	params := string(r.params)
	switch {
	case b == 'M' && params == "":
		r.state, r.skip = mouse, 3
	case b == '[' && params == "":
		r.state = console
	case b == '~' && params == "200":
		r.paste = true
	case b == '~' && params == "201":
		if r.paste {
			emit(key{kind: pasteEnd})
		}
		r.paste = false
	default:
		if !r.paste {
			csiKeys(params, b, emit)
		}
	}
}

// control names a single byte.
func control(b byte) key {
	kinds := [...]kind{
		0x01: home, 0x02: left, 0x03: interrupt, 0x04: eof, 0x05: end, 0x06: right, 0x08: erase, '\n': newline,
		0x0b: killEnd, 0x0c: idle, '\r': enter, 0x0e: vertical, 0x10: vertical, 0x13: stash, 0x14: transpose,
		0x15: killStart, 0x17: killWord, 0x19: yank, 0x1a: suspend, 0x1b: escapeKey, 0x1f: report,
	}
	switch {
	case b == 0x7f:
		return key{kind: erase}
	case b >= ' ':
		return key{text, rune(b)}
	case kinds[b] == report: // none of the above
		return key{kind: unfollowed}
	}
	return key{kind: kinds[b]}
}

// altKey names a key with Alt.
func altKey(c rune) key {
	switch c {
	case '\r', '\n':
		return key{kind: newline}
	case 'b':
		return key{kind: wordLeft}
	case 'f':
		return key{kind: wordRight}
	case 'd':
		return key{kind: killAhead}
	case 0x7f, 0x08:
		return key{kind: killBack}
	}
	return key{kind: unfollowed}
}

// ss3Key names a key of the application modes: the cursor keys, F1 … F4 and the keypad.
func ss3Key(b byte) key {
	switch {
	case b == 'M':
		return key{kind: enter}
	case b >= 'P' && b <= 'S':
		return key{kind: idle}
	case b >= 'j' && b <= 'y':
		return key{text, rune(b) - 'j' + '*'}
	case b == 'X':
		return key{text, '='}
	}
	return cursorKey(b, 0)
}
