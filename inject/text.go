package inject

import (
	"strings"
	"unicode"

	"relay-pty/inject/profile"
)

// Bracketed paste, as xterm defines it.
const (
	pasteOpen  = "\x1b[200~"
	pasteClose = "\x1b[201~"
)

// Text is the whole message as the agent reads it.
func (m Message) Text() string {
	return m.Header + " " + m.Body + "\n" + m.Footer
}

// pieces is the message in the profile's form, each piece written as a whole.
// paste tells whether the agent takes bracketed paste.
func (m Message) pieces(t profile.Typing, paste bool) []string {
	whole := m.Text()
	switch {
	case !paste:
		return []string{strings.ReplaceAll(whole, "\n", t.Newline)}
	case t.PasteBytes > 0 && len(whole) > t.PasteBytes, t.PasteLines > 0 && strings.Count(whole, "\n") >= t.PasteLines:
		// Newlines at the body's end are typed: a mark that closes on a line of its own would swallow one.
		body := strings.TrimRight(m.Body, "\n")
		end := strings.Repeat(t.Newline, 1+len(m.Body)-len(body)) + m.Footer
		if body == "" {
			return []string{m.Header + " " + end}
		}
		return []string{m.Header + " ", pasteOpen + body + pasteClose, end}
	}
	return []string{pasteOpen + whole + pasteClose}
}

// longestLine is the length in bytes of the longest line, without its newline.
func (m Message) longestLine() int {
	longest := 0
	for line := range strings.SplitSeq(m.Text(), "\n") {
		longest = max(longest, len(line))
	}
	return longest
}

// stands says whether shown holds this message and nothing outside it: it
// starts with the header and ends with the footer, and both carry the id. What
// is between may be the body or the agent's chip for a paste. Blanks are not
// compared, for rows wrap. A box whose top is scrolled out shows the end only.
func (m Message) stands(shown string, top bool) bool {
	s, header, footer := squeeze(shown), squeeze(m.Header), squeeze(m.Footer)
	if !strings.HasSuffix(s, footer) || strings.Count(s, footer) != 1 {
		return false
	}
	if !top {
		return !strings.Contains(s, header)
	}
	return strings.HasPrefix(s, header) && strings.Count(s, header) == 1
}

// left says whether any of this message is still in shown.
func (m Message) left(shown string) bool {
	s := squeeze(shown)
	return strings.Contains(s, squeeze(m.Header)) || strings.Contains(s, squeeze(m.Footer))
}

// squeeze drops white space.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}
