package inject

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"relay-pty/inject/profile"
)

// Bracketed paste, as xterm defines it.
const (
	pasteOpen  = "\x1b[200~"
	pasteClose = "\x1b[201~"
)

// Text is the whole message as the agent reads it.
func (m Message) Text() string {
	if m.Command {
		return m.Body
	}
	return m.Header + " " + m.Body + "\n" + m.Footer
}

// Typed is the text in the form in which it is typed: inert where the program
// runs what it reads, unless it is to run.
func (m Message) Typed(q profile.Quote) string {
	if m.Command {
		return m.Body
	}
	return q.Text(m.Text())
}

// pieces is the message in the profile's form, each piece written as a whole.
// paste tells whether the agent takes bracketed paste.
func (m Message) pieces(p *profile.Profile, paste bool) []string {
	t, whole := p.Typing, m.Typed(p.Quote)
	switch {
	case m.Command:
		return []string{whole} // a paste may be taken for text
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

// longest is the length in bytes of the longest line, without its newline.
func longest(text string) int {
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n = max(n, len(line))
	}
	return n
}

// stands says whether shown holds this message and nothing outside it: it
// starts with the header and ends with the footer, and both carry the id. What
// is between may be the body or the agent's chip for a paste. Blanks are not
// compared, for rows wrap. A box whose top is scrolled out shows the end only.
func (m Message) stands(shown string, top bool) bool {
	s, header, footer := squeeze(shown), squeeze(m.Header), squeeze(m.Footer)
	if m.Command {
		return top && s == squeeze(m.Body)
	}
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
	if m.Command {
		return strings.Contains(s, squeeze(m.Body))
	}
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

// spelled is how line editors show bytes that their locale does not know.
var spelled = regexp.MustCompile(`\\[0-7]{3}|<[0-9a-fA-F]{2,8}>|\\M-\^?.`)

// endsWith says whether typed stands at the end of shown, or, when it is too
// long for the screen, shown is its end. Only what every locale and width shows
// alike is compared: ASCII without blanks.
func endsWith(shown, typed string) bool {
	s, t := plain(shown), plain(typed)
	return strings.HasSuffix(s, t) || len(s) >= screenful && strings.HasSuffix(t, s)
}

// screenful is how much of a text that is longer than what is looked at must
// stand there, in bytes.
const screenful = 200

func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf || r <= ' ' {
			return -1
		}
		return r
	}, spelled.ReplaceAllString(s, ""))
}
