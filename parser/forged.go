package parser

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"relay-pty/protocol"
)

// skeletonMost is how many characters of a line are looked at: what says that the line is a header,
// a footer, a notice or a title stands before them.
const skeletonMost = 240

// forged reports whether a reader may take a line for a header, a footer, a notice of the router's
// or the title of messages, whatever letters, blanks and brackets it is made of. Four blanks before
// it make it plain that it is none.
func forged(line string) bool {
	if strings.HasPrefix(line, "    ") {
		return false
	}
	line = strings.TrimLeftFunc(line, func(r rune) bool { return blank(r) || unicode.IsMark(r) })
	if first, _ := utf8.DecodeRuneInString(line); !strings.ContainsRune("[(=-#*>rm", unicode.ToLower(looks(first))) {
		return false // as nearly all lines are
	}
	s := skeleton(line)
	woken := strings.TrimRight(unblanked(s), ":.)") == wakeTitle
	if woken || strings.HasPrefix(unblanked(strings.TrimLeft(s, "=- #*>")), toolTitle) {
		return true
	}
	rest := strings.TrimLeft(s, "[( ")
	brackets := s[:len(s)-len(rest)]
	if brackets == "" {
		return false
	}
	square := !strings.Contains(brackets, "(")
	if after, is := cutWord(rest, "relay"); is {
		return header(after, square)
	}
	after, is := cutWord(rest, "end")
	return is && footer(after, square, strings.ContainsFunc(line, unicode.IsDigit))
}

// header reports whether that stands behind "[relay" in a header or a notice. Brackets that are not
// square ones, and signs in place of a blank, stand before that word in other texts, too: then all
// that is behind it must look like ours.
func header(after string, square bool) bool {
	if square && (after == "" || strings.ContainsAny(after[:1], " )")) {
		return true
	}
	if says, is := strings.CutPrefix(after, ")"); is {
		first, _, _ := strings.Cut(strings.TrimLeft(says, " "), " ")
		return strings.HasPrefix(says, " ") && strings.Contains(noticeWords, " "+first+" ")
	}
	says := words(after)
	return len(says) > 2 && says[1] == "from"
}

// footer is header for "[end". An id of ours has a digit nearly always.
func footer(after string, square, digits bool) bool {
	if square && (after == "" || after[0] == ' ') {
		return true
	}
	says := words(after)
	if len(says) == 0 {
		return false
	}
	return digits && len(says) == 1 && strings.HasSuffix(says[0], ")") || len(says) > 1 && says[1] == "reply"
}

// words are what stands between blanks and signs behind a first one, which is not of a longer word
// or a path.
func words(after string) []string {
	if first, _ := utf8.DecodeRuneInString(after); after == "" || isLetter(first) || strings.ContainsRune("-/._", first) {
		return nil
	}
	return strings.FieldsFunc(after, func(r rune) bool { return r != ')' && r != '-' && r != '_' && r != '.' && r != '#' && !isLetter(r) })
}

// cutWord cuts a word that s begins with, and the blanks within it.
func cutWord(s, word string) (after string, is bool) {
	for i := range len(word) {
		if i > 0 {
			s = strings.TrimLeft(s, " ")
		}
		if s == "" || s[0] != word[i] {
			return "", false
		}
		s = s[1:]
	}
	return s, true
}

// What the lines begin with, as skeletons.
var (
	wakeTitle   = unblanked(skeleton(WakeTitle))
	toolTitle   = unblanked(strings.TrimLeft(skeleton(strings.TrimRight(ToolTitle, ".")), "= "))
	noticeWords = skeleton(" your nothing message scheduled reminder ")
)

func unblanked(s string) string { return strings.ReplaceAll(s, " ", "") }

// skeleton is how a line looks: in small letters of ASCII, with any blank as one, any square
// bracket as '[', other opening ones as '(', closing ones as ')', and without marks.
func skeleton(line string) string {
	var b strings.Builder
	for _, r := range line {
		if b.Len() >= skeletonMost {
			break
		}
		switch {
		case unicode.IsMark(r) || hidden(r):
		case blank(r):
			b.WriteByte(' ')
		default:
			b.WriteRune(looks(r))
		}
	}
	return protocol.LooksLike(b.String())
}

func blank(r rune) bool { return unicode.IsSpace(r) || r == '\u2800' } // Braille's

// looks is a character as it looks.
func looks(r rune) rune {
	r = letter(r)
	switch {
	case r == '[':
		return '['
	case r < unicode.MaxASCII && r != '(' && r != '{' && r != '<' && r != ')' && r != ']' && r != '}' && r != '>':
		return r
	case r == '(' || r == '{' || r == '<' || strings.ContainsRune("‚„⦅⸨❨⁽₍❬❮❰⟨〈《〈❴⦃⟮︵︷﹙﹛‹«", r):
		return '('
	case unicode.Is(unicode.Ps, r) || strings.ContainsRune("⎡⎢⎣⌜⌞┌┏╔╒╓╭ꓩ⊏⊑⟤", r):
		return '['
	case unicode.Is(unicode.Pe, r) || strings.ContainsRune(">⎤⎥⎦⌝⌟┐┓╗╮›»⊐⊒", r):
		return ')'
	case strings.ContainsRune("═꓿⹀゠⩵﹦⁼₌", r):
		return '='
	}
	for _, l := range lookAlikes {
		if strings.ContainsRune(l.like, r) {
			return rune(l.letter)
		}
	}
	return r
}

// letter is the letter of ASCII, or of Greek, that a character of another alphabet stands for.
func letter(r rune) rune {
	switch {
	case r >= 0xff01 && r <= 0xff5e: // full width
		return r - 0xff01 + '!'
	case r >= 0x1d400 && r < 0x1d6a4: // mathematical
		return alphabet((r - 0x1d400) % 52)
	case r >= 0x1d6a8 && r < 0x1d7ca:
		if r = (r - 0x1d6a8) % 58; r < 26 {
			return 'Α' + r
		}
		return 'α' + r - 26
	case r >= 0x1d7ce && r < 0x1d800:
		return '0' + (r-0x1d7ce)%10
	case r >= 0x24b6 && r < 0x24ea: // circled
		return alphabet(r - 0x24b6)
	case r >= 0x249c && r < 0x24b6: // in parentheses
		return 'a' + r - 0x249c
	case r >= 0x1f110 && r < 0x1f18a && (r-0x1f110)%32 < 26: // in parentheses, squares and circles
		return 'a' + (r-0x1f110)%32
	case r >= 0x1f1e6 && r < 0x1f200: // of flags
		return 'a' + r - 0x1f1e6
	case unicode.IsUpper(r) && r < unicode.MaxASCII:
		return unicode.ToLower(r)
	}
	return r
}

// alphabet is a letter by its number among A to Z and a to z.
func alphabet(n rune) rune { return 'a' + n%26 }

func isLetter(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
