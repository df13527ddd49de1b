package turn

import (
	"strings"

	"relay-pty/inject/profile"
)

// Bracketed paste, as xterm defines it.
const (
	PasteOpen  = "\x1b[200~"
	PasteClose = "\x1b[201~"
)

// Piece is what is written at once. The next piece is written only once this one is visible
// behind Mark, or, if this one contains Mark, once Mark is visible: an agent that puts a paste
// into its composer later than the keys around it would lose one of them, or their order.
type Piece struct {
	Keys, Mark string
	Pasted     string // behind Mark, as it is or as a chip
}

// tail is how much of the end of what was typed is looked for, in bytes.
const tail = 60

// Shows reports whether shown, the end of a composer at least, has what the piece must show. What
// we typed by itself, headers and footers, may have strays among it.
func (p Piece) Shows(shown string) bool {
	if p.Pasted == "" && plain(p.Mark) != "" && strays(shown) && strings.HasSuffix(plain(shown), plain(p.Mark)) {
		return true
	}
	s, mark, pasted := squeeze(shown), squeeze(p.Mark), squeeze(p.Pasted)
	end := mark + pasted
	if strings.HasSuffix(s, end[max(0, len(end)-tail):]) {
		return true
	}
	_, after, found := strings.Cut(s, mark)
	return found && (after != "" || pasted == "")
}

// Blank reports whether a piece is blanks in one line, of which nothing shows but that the cursor
// moves. Of empty lines not even that shows where a composer scrolls.
func (p Piece) Blank() bool {
	text := p.Mark + p.Pasted
	return squeeze(text) == "" && !strings.Contains(text, "\n")
}

// Begins reports whether shown is how a piece begins that does not show all of its mark yet.
func (p Piece) Begins(shown string) bool { return strings.HasPrefix(squeeze(p.Mark), squeeze(shown)) }

// Manner is how a turn is to be typed.
type Manner struct {
	Paste bool // the agent takes bracketed paste
	Rows  int  // of its terminal
	Apart bool // the agent hid something of the turn before
}

// Pieces is the turn in the profile's form.
func (t Turn) Pieces(p *profile.Profile, m Manner) []Piece {
	k, whole := p.Typing, t.Typed(p.Quote)
	switch {
	case t.Command():
		return []Piece{{Keys: whole}} // a paste may be taken for text
	case !m.Paste:
		keys := strings.ReplaceAll(whole, "\n", k.Newline)
		if rest, found := strings.CutPrefix(keys, t.first().Header+" "); found && p.Composer != nil {
			return []Piece{{Keys: t.first().Header + " ", Mark: t.first().Header}, {Keys: rest}}
		}
		return []Piece{{Keys: keys}}
	case k.Marked(whole, m.Rows), m.Apart && p.Composer != nil && !p.Quote.Inert():
		return t.apart(k, m)
	}
	return []Piece{{Keys: PasteOpen + whole + PasteClose}}
}

// apart is each body as a paste of its own, headers and footers typed. What
// separates messages is pasted, too: many newlines typed at once look like a paste
// without marks, and would be hidden as one.
func (t Turn) apart(k profile.Typing, manner Manner) []Piece {
	var pieces []Piece
	rows := manner.Rows
	for i, m := range t {
		if i > 0 {
			pieces = append(pieces, blankLine(k, rows)...)
		}
		// Newlines at the body's ends are no part of its paste: a mark may swallow them. Some
		// swallow all white space.
		body := strings.Trim(m.Body, "\n")
		if k.PasteTrims {
			body = strings.TrimSpace(m.Body)
		}
		before, after, _ := strings.Cut(m.Body, body)
		if strings.TrimSpace(body) == "" {
			pieces = append(pieces, begun(k, rows, m.Header, m.Body+"\n"+m.Footer)...)
			continue
		}
		if after += "\n" + m.Footer; !manner.Apart || !k.PasteTrims { // else a mark may hide the line's end, and lose it
			body, after = ended(k, rows, body, after)
		}
		pieces = append(pieces, begun(k, rows, m.Header, before)...)
		pieces = append(pieces, Piece{Keys: PasteOpen + body + PasteClose, Mark: m.Header, Pasted: body})
		pieces = append(pieces, inFull(k, rows, after)...)
	}
	return pieces
}

// blankLine is what separates messages: a paste, but where that would be hidden.
func blankLine(k profile.Typing, rows int) []Piece {
	if k.Marked(between, rows) {
		return inFull(k, rows, between)
	}
	return []Piece{{Keys: PasteOpen + between + PasteClose}}
}

// ended is a body with its line's end, taken from what comes after it, where the body shows as it
// is and goes on doing so. Where the last line may end with a name that the agent would complete,
// `@name` for one, it is hidden behind a mark rather: while an agent offers names it looks as if it
// asked a question, and takes Enter for the choice of one.
func ended(k profile.Typing, rows int, body, after string) (line, rest string) {
	newline := strings.IndexByte(after, '\n') + 1
	named := strings.Contains(body[strings.LastIndexByte(body, '\n')+1:], "@")
	more := body + after[:newline]
	if !k.Marked(body, rows) && (named || !k.Marked(more, rows)) {
		return more, after[newline:]
	}
	return body, after
}

// begun is a header and text behind it. Newlines would scroll a header out of view that comes with
// them, before anybody could see that it stands there.
func begun(k profile.Typing, rows int, header, text string) []Piece {
	return append(inFull(k, rows, header+" "), inFull(k, rows, text)...)
}

// inFull is text that must show as it is, in pieces none of which would be hidden behind a chip.
func inFull(k profile.Typing, rows int, text string) (pieces []Piece) {
	for text != "" {
		size, keyed := k.Unmarked(text, rows)
		part := text[:size]
		keys := PasteOpen + part + PasteClose
		if keyed {
			keys = strings.ReplaceAll(part, "\n", k.Newline)
		}
		pieces, text = append(pieces, Piece{Keys: keys, Mark: part}), text[size:]
	}
	return pieces
}
