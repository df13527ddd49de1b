package turn

import (
	"strings"

	"relay-pty/inject/profile"
)

// Strays are characters of messages that were typed, parts of which an agent may leave in its
// composer when the text is gone: see profile.Uncertain. Nobody else may have typed them there.
type Strays map[rune]bool

// maxStrays bounds them; all of Chinese as people write it is less.
const maxStrays = 8 << 10

// Remember takes the characters of a text that is typed now.
func (s *Strays) Remember(text string) {
	if *s == nil || len(*s) > maxStrays {
		*s = Strays{}
	}
	for _, r := range text {
		if profile.Uncertain(r) {
			(*s)[r] = true
		}
	}
}

// Without is the text without strays, but for characters of own.
func (s Strays) Without(text, own string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if s[r] && !strings.ContainsRune(own, r) || own == "" && r == profile.Covered {
			return -1
		}
		return r
	}, text))
}
