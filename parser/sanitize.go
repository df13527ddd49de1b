package parser

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"relay-pty/protocol/failpoint"
)

// OneLine is s without control and invisible characters, on one line, fit to be shown.
func OneLine(s string) string {
	return strings.TrimSpace(strings.ReplaceAll(Sanitize(s), "\n", " "))
}

// Printable is s fit to be written to a terminal: control characters but newline (C0, DEL,
// C1) are removed, a tab becomes four blanks, CRLF a newline; a carriage return alone is a
// control character like others. Bytes that are not UTF-8 become U+FFFD. All else stays.
func Printable(s string) string {
	if clean(s) || failpoint.Built && failpoint.On(failpoint.ControlsKept) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s {
		switch {
		case r == '\t':
			b.WriteString("    ")
		case r == '\n' || !unicode.IsControl(r):
			b.WriteRune(r)
		}
	}
	return b.String()
}

// clean says that Printable would change nothing.
func clean(s string) bool {
	for i, r := range s {
		if unicode.IsControl(r) && r != '\n' {
			return false
		}
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				return false
			}
		}
	}
	return true
}

// Sanitize makes a field fit to be typed into an agent: [Printable], the separators of lines
// and paragraphs (U+2028, U+2029) newlines, and without characters that a human cannot see
// and a model reads all the same. Those are the Default_Ignorable_Code_Point of UAX #44
// (bidi controls, soft hyphens, zero-width characters, tags, variation selectors, fillers)
// and the other format characters (Cf) that show nothing, with these exceptions:
//
//   - What parts of an emoji are (UTS #51): a presentation selector (U+FE0E, U+FE0F) behind a
//     pictograph, or in a keycap; a joiner (U+200D) between two pictographs; the tags of the
//     flags of England, Scotland and Wales, which are all that are recommended (RGI).
//   - What shapes letters (UAX #31, section 2.3, somewhat wider): beside letters and marks of
//     scripts that join, as Arabic, those of India and Mongolian, a joiner next to one and a
//     non-joiner (U+200C) or a Mongolian vowel separator (U+180E) between two; behind one a
//     selector of its variant.
//   - A selector of an ideograph's variant (UTS #37) behind it.
//
// Never more than one selector and then one joiner stay in one place. Blanks of any width
// (U+3000, U+2800) stay. A combining mark that begins a line gets the base on which it is shown
// alone, U+00A0: without one it may join what stands before the line.
// Sanitize(Sanitize(s)) == Sanitize(s).
func Sanitize(s string) string {
	if plain(s) {
		return s
	}
	s = Printable(s)
	if strings.IndexFunc(s, misread) >= 0 {
		s = seen(lineEnds.Replace(s))
	}
	return based(s)
}

// plain says that s is of letters, digits, signs, blanks and newlines of ASCII, as most text.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < ' ' || c > '~') && c != '\n' {
			return false
		}
	}
	return true
}

// seen is s without what shows nothing and changes nothing that shows.
func seen(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for s != "" {
		shown, rest := cut(s, true)
		unseen, after := cut(rest, false)
		base, _ := utf8.DecodeLastRuneInString(shown)
		next, _ := utf8.DecodeRuneInString(after)
		b.WriteString(shown)
		b.WriteString(needed(base, unseen, next))
		s = after
	}
	return b.String()
}

// based gives each mark that begins a line a base.
func based(s string) string {
	bare := func(line string) bool {
		r, _ := utf8.DecodeRuneInString(line)
		return unicode.IsMark(r)
	}
	for line := range strings.SplitSeq(s, "\n") {
		if bare(line) {
			lines := strings.Split(s, "\n")
			for i, line := range lines {
				if bare(line) {
					lines[i] = "\u00a0" + line
				}
			}
			return strings.Join(lines, "\n")
		}
	}
	return s
}

// ValidBody says why a message with that body is none.
func ValidBody(body string) error {
	switch {
	case body == "":
		return errors.New("it is empty")
	case !utf8.ValidString(body):
		return errors.New("it is no UTF-8")
	case Sanitize(body) == "":
		return errors.New("a body must hold more than control and invisible characters: those are removed, and nothing is left")
	}
	return nil
}

// Quote is the beginning of a body on one line, of so many characters at most.
func Quote(body string, most int) string {
	text := []rune(strings.ReplaceAll(Sanitize(body), "\n", " "))
	if len(text) > most {
		return string(text[:most]) + "…"
	}
	return string(text)
}

var lineEnds = strings.NewReplacer("\u2028", "\n", "\u2029", "\n")

func misread(r rune) bool { return r >= 0xad && (r == '\u2028' || r == '\u2029' || hidden(r)) }

func hidden(r rune) bool { return unicode.Is(invisible, r) }

// cut parts s where its first characters that are shown, or not, end.
func cut(s string, shown bool) (before, after string) {
	at := strings.IndexFunc(s, func(r rune) bool { return hidden(r) == shown })
	if at < 0 {
		at = len(s)
	}
	return s[:at], s[at:]
}

// Characters that have a meaning by their place.
const (
	nonJoiner  = '\u200c'
	joiner     = '\u200d'
	vowelBreak = '\u180e' // the Mongolian vowel separator
	textStyle  = '\ufe0e'
	emojiStyle = '\ufe0f'
	keycap     = '\u20e3'
	blackFlag  = '\U0001f3f4'
)

// flags are the tags behind a black flag that are recommended for interchange.
var flags = []string{tags("gbeng"), tags("gbsct"), tags("gbwls")}

func tags(region string) string {
	return strings.Map(func(r rune) rune { return 0xe0000 + r }, region+"\x7f")
}

// needed is what of characters that show nothing changes how those around them show.
func needed(base rune, unseen string, next rune) string {
	if base == blackFlag {
		for _, tags := range flags {
			if strings.HasPrefix(unseen, tags) {
				return tags
			}
		}
	}
	selector := ""
	for _, r := range unseen {
		switch {
		case selector == "" && selects(base, r, next):
			selector = string(r)
		case joins(base, r, next):
			return selector + string(r)
		}
	}
	return selector
}

// selects reports whether r chooses a variant of base.
func selects(base, r, next rune) bool {
	switch {
	case !unicode.Is(unicode.Variation_Selector, r):
		return false
	case r == textStyle, r == emojiStyle:
		return unicode.Is(pictographs, base) || next == keycap && strings.ContainsRune("0123456789#*", base)
	case r > emojiStyle:
		return unicode.Is(unicode.Unified_Ideograph, base)
	}
	return unicode.Is(unicode.Unified_Ideograph, base) || shaped(base)
}

// joins reports whether r changes how base and next join.
func joins(base, r, next rune) bool {
	switch r {
	case joiner:
		return shaped(base) || shaped(next) || unicode.Is(pictographs, base) && unicode.Is(pictographs, next)
	case nonJoiner, vowelBreak:
		return shaped(base) && shaped(next)
	}
	return false
}

// shaped reports whether r is a letter or a mark whose form depends on its neighbours.
func shaped(r rune) bool {
	return unicode.Is(joining, r) && (unicode.IsLetter(r) || unicode.IsMark(r))
}
