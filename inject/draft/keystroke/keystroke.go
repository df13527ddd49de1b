// Package keystroke reads the bytes that a human's terminal sends as keys: what each
// does to an editor, and what is no typing at all.
package keystroke

import "unicode/utf8"

// Kind is what one key, report or piece of pasted text is to an editor.
type Kind int

const (
	Report   Kind = iota // mouse, focus, key release, modifier alone: not typing
	Answer               // of the terminal to a query of the program's: not typing either
	Text                 // one character
	Pasted               // one character of a bracketed paste
	PasteEnd             // its end
	Enter                // Enter, which submits
	Newline              // Enter with Shift or Alt, Ctrl-J
	Erase                // Backspace
	Remove               // Delete
	Left
	Right
	Vertical // up, down: another row, or the history
	Home
	End
	WordLeft
	WordRight
	KillWord   // Ctrl-W
	KillBack   // Alt-Backspace, Ctrl-Backspace
	KillAhead  // Alt-D, Ctrl-Delete
	KillStart  // Ctrl-U
	KillEnd    // Ctrl-K
	EOF        // Ctrl-D: Delete, unless nothing is typed
	Interrupt  // Ctrl-C
	Suspend    // Ctrl-Z
	Stash      // Ctrl-S
	Escape     // Escape
	Idle       // a key that changes no text: F1, Page Up, Shift-Tab, Ctrl-L
	Wandering  // a key that may move the cursor anywhere
	Unfollowed // Tab, history search and all others: the text may be another one now
)

// Key is one event of the human's input; Rune is the character of Text and Pasted.
type Key struct {
	Kind Kind
	Rune rune
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

// Reader turns the human's bytes into keys and carries its state over reads.
// Forms: xterm's control sequences, bracketed paste, SGR, urxvt and X10 mouse,
// focus reports, and the kitty and modifyOtherKeys forms of a key (CSI … u, CSI 27;…~).
type Reader struct {
	state  state
	params []byte
	utf    []byte
	skip   int  // bytes of an X10 mouse report still to come
	Paste  bool // between ESC [200~ and ESC [201~
}

// Boundary says that no sequence, character or paste is unfinished. A lone ESC
// is the Escape key once nothing has followed it; the caller's quiet time
// decides that, so it counts as finished here.
func (r *Reader) Boundary() bool {
	return (r.state == ground || r.state == escape) && len(r.utf) == 0 && !r.Paste
}

// Clear says that nothing has begun.
func (r *Reader) Clear() bool { return r.Boundary() && r.state == ground }

// Pending says that an ESC came and nothing after it, so far.
func (r *Reader) Pending() bool { return r.state == escape && !r.Paste }

// Rest says that nothing followed for a while: an ESC was the Escape key, what
// began like a sequence was Alt and a key.
func (r *Reader) Rest(emit func(Key)) {
	state := r.state
	r.state = ground
	switch {
	case state == escape:
		r.key(Key{Kind: Escape}, emit)
	case state != ground || len(r.utf) > 0:
		r.utf = r.utf[:0]
		r.key(Key{Kind: Unfollowed}, emit)
	}
}

// Feed takes bytes in any cutting and tells the keys that they end.
func (r *Reader) Feed(p []byte, emit func(Key)) {
	for _, b := range p {
		r.step(b, emit)
	}
}

// key emits a key that is not text; inside a paste there are none.
func (r *Reader) key(k Key, emit func(Key)) {
	if !r.Paste {
		emit(k)
	}
}

func (r *Reader) step(b byte, emit func(Key)) {
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
		r.key(Key{Kind: Idle}, emit)
	case str:
		switch b {
		case 0x07:
			r.end(Answer, emit)
		case 0x1b:
			r.state = strEsc
		}
	case strEsc:
		if r.state = str; b == '\\' {
			r.end(Answer, emit)
		}
	case mouse:
		if r.skip--; r.skip == 0 {
			r.end(Report, emit)
		}
	}
}

// end closes a report or an answer.
func (r *Reader) end(k Kind, emit func(Key)) {
	r.state = ground
	emit(Key{Kind: k})
}

func (r *Reader) plain(b byte, emit func(Key)) {
	switch {
	case len(r.utf) > 0 || b >= utf8.RuneSelf:
		r.wide(b, emit)
	case b == 0x1b:
		r.state, r.params = escape, r.params[:0]
	case r.Paste:
		emit(Key{Pasted, rune(b)})
	default:
		emit(control(b))
	}
}

// wide gathers one UTF-8 character; an invalid byte counts as a character.
func (r *Reader) wide(b byte, emit func(Key)) {
	r.utf = append(r.utf, b)
	if !utf8.FullRune(r.utf) {
		return
	}
	c, n := utf8.DecodeRune(r.utf)
	rest := append([]byte(nil), r.utf[n:]...)
	r.utf = r.utf[:0]
	k := Key{Text, c}
	if r.Paste {
		k.Kind = Pasted
	}
	emit(k)
	for _, b := range rest {
		r.step(b, emit)
	}
}

func (r *Reader) afterEscape(b byte, emit func(Key)) {
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
		r.key(Key{Kind: Escape}, emit)
	default:
		if b < utf8.RuneSelf {
			r.key(altKey(rune(b)), emit)
			return
		}
		r.key(Key{Kind: Unfollowed}, emit)
		r.wide(b, emit)
	}
}

func (r *Reader) csi(b byte, emit func(Key)) {
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
		r.Paste = true
	case b == '~' && params == "201":
		if r.Paste {
			emit(Key{Kind: PasteEnd})
		}
		r.Paste = false
	default:
		if !r.Paste {
			csiKeys(params, b, emit)
		}
	}
}

// control names a single byte.
func control(b byte) Key {
	kinds := [...]Kind{
		0x01: Home, 0x02: Left, 0x03: Interrupt, 0x04: EOF, 0x05: End, 0x06: Right, 0x08: Erase, '\n': Newline,
		0x0b: KillEnd, 0x0c: Idle, '\r': Enter, 0x0e: Vertical, 0x10: Vertical, 0x13: Stash,
		0x15: KillStart, 0x17: KillWord, 0x1a: Suspend, 0x1b: Escape, 0x1f: Report,
	}
	switch {
	case b == 0x7f:
		return Key{Kind: Erase}
	case b >= ' ':
		return Key{Text, rune(b)}
	case kinds[b] == Report: // none of the above
		return Key{Kind: Unfollowed}
	}
	return Key{Kind: kinds[b]}
}

// altKey names a key with Alt.
func altKey(c rune) Key {
	switch c {
	case '\r', '\n':
		return Key{Kind: Newline}
	case 'b':
		return Key{Kind: WordLeft}
	case 'f':
		return Key{Kind: WordRight}
	case 'd':
		return Key{Kind: KillAhead}
	case 0x7f, 0x08:
		return Key{Kind: KillBack}
	}
	return Key{Kind: Unfollowed}
}

// ss3Key names a key of the application modes: the cursor keys, F1 … F4 and the keypad.
func ss3Key(b byte) Key {
	switch {
	case b == 'M':
		return Key{Kind: Enter}
	case b >= 'P' && b <= 'S':
		return Key{Kind: Idle}
	case b >= 'j' && b <= 'y':
		return Key{Text, rune(b) - 'j' + '*'}
	case b == 'X':
		return Key{Text, '='}
	}
	return cursorKey(b, 0)
}
