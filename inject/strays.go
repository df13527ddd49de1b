package inject

import (
	"strings"

	"relay-pty/inject/profile"
)

// strays are characters of messages that were typed, parts of which an agent may leave in its
// composer when the text is gone: see profile.Uncertain. Nobody else may have typed them there.
type strays map[rune]bool

// maxStrays bounds them; all of Chinese as people write it is less.
const maxStrays = 8 << 10

// remember takes the characters of a text that is typed now.
func (s *strays) remember(text string) {
	if *s == nil || len(*s) > maxStrays {
		*s = strays{}
	}
	for _, r := range text {
		if profile.Uncertain(r) {
			(*s)[r] = true
		}
	}
}

// without is the text without strays, but for characters of own.
func (s strays) without(text, own string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if s[r] && !strings.ContainsRune(own, r) || own == "" && r == profile.Covered {
			return -1
		}
		return r
	}, text))
}

// overlook takes strays out of the composer as it is seen, in two cases: they stand among what we
// type now; or the composer holds nothing else, its beginning is in view, and the human has typed
// nothing. What we type begins with a header, so it is gone when only strays are left.
func (in *Injector) overlook(l *Look) {
	if len(in.strays) == 0 || !l.Box.Visible || l.Draft.MayHold() {
		return
	}
	own := ""
	if a := in.typing; a != nil && !a.clears {
		own = a.typed
	}
	if rest := in.strays.without(l.Box.Text, own); own != "" || rest == "" && l.Box.Top {
		l.Box.Text = rest
	}
}
