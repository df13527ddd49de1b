package turn

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"relay-pty/inject/profile"
	"relay-pty/protocol/failpoint"
)

// Message is one message in the three parts that are typed. Of a command the
// body alone is typed, as it is, and runs.
type Message struct {
	ID, Header, Body, Footer string
	Shown                    string // the id that its header has, where that is not ID
	Command                  bool
}

// ShownID is the id by which the agent and its log know the message.
func (m Message) ShownID() string { return cmp.Or(m.Shown, m.ID) }

// String is the whole message as the agent reads it.
func (m Message) String() string {
	if m.Command {
		return m.Body
	}
	return m.Header + " " + m.Body + "\n" + m.Footer
}

// Turn is the messages of one turn, at least one. A command is alone in its turn.
type Turn []Message

// between separates the messages of one turn: a blank line.
const between = "\n\n"

func (t Turn) first() Message { return t[0] }
func (t Turn) last() Message  { return t[len(t)-1] }

// Command reports whether the turn is a command.
func (t Turn) Command() bool { return t.first().Command }

// OneKey reports whether the turn is a command of a single character, which agents take for the
// choice of an option where they ask beside their composer: Claude Code does in its surveys.
func (t Turn) OneKey() bool {
	return t.Command() && utf8.RuneCountInString(strings.TrimSpace(t.first().Body)) == 1
}

// IDs lists the messages' ids.
func (t Turn) IDs() []string {
	var ids []string
	for _, m := range t {
		ids = append(ids, m.ID)
	}
	return ids
}

// Mode is how pressing a message is, in the words of the wire protocol.
type Mode string

// Batch is what is typed as one turn, and how pressing it is.
type Batch struct {
	Mode Mode
	Turn
}

// String is the whole turn as the agent reads it.
func (t Turn) String() string {
	var b strings.Builder
	for i, m := range t {
		if failpoint.Built && failpoint.On(failpoint.FirstAlone) && i > 0 {
			break
		}
		if i > 0 {
			b.WriteString(between)
		}
		b.WriteString(m.String())
	}
	return b.String()
}

// Typed is the text in the form in which it is typed: inert where the program
// runs what it reads, unless it is to run.
func (t Turn) Typed(q profile.Quote) string {
	if t.Command() {
		return t.first().Body
	}
	return q.Text(t.String())
}

// Longest is the length in bytes of the longest line, without its newline.
func Longest(text string) int {
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n = max(n, len(line))
	}
	return n
}

// Stands reports whether shown holds this turn and nothing outside it: it starts
// with the first header and ends with the last footer, with the others between
// in their order; all carry the ids. Between a header and its footer stands the
// body or the agent's chip for it; a body may quote headers and footers, its own, too.
// Blanks are not compared, for rows wrap. A box whose top is, or may be, scrolled out may
// show the end only.
func (t Turn) Stands(shown string, top bool) bool {
	s := squeeze(shown)
	if t.Command() {
		return top && s == squeeze(t.first().Body)
	}
	if t.inOrder(s) || !top && t.endInOrder(s) { // the end: all agents' composers scroll, or leave the screen
		return true
	}
	if !strays(shown) {
		return false
	}
	s = plain(t.uncovered(shown)) // OpenCode 1.18.33, whose rows run over into the next ones
	bare := t.bare()              // Claude Code and Codex, beside flags, emoji and composed letters
	return bare.inOrder(s) || !top && bare.endInOrder(s) || t.strewn(s, top)
}

// strewn reports whether s is the turn, or the end of it, with strays anywhere among it: where rows
// run over, Claude Code 2.1.197 leaves what stood there before in place of any blank. There are
// none before the first header and behind the last footer, where somebody else may have typed.
func (t Turn) strewn(s string, top bool) bool {
	want, most := plain(t.String()), 0
	for _, m := range t {
		most += uncertain(m.Body)
	}
	rest, left := len(want), 0
	for i := len(s) - 1; i >= 0; i-- {
		if rest > 0 && want[rest-1] == s[i] {
			rest--
		} else {
			left++
		}
	}
	begins := rest == 0 && strings.HasPrefix(s, plain(firstWord(t.first().Header)))
	scrolled := !top && len(want)-rest > len(plain(t.last().Footer))
	return left <= most && (begins || scrolled) && strings.HasSuffix(s, plain(lastWord(t.last().Footer)))
}

func firstWord(text string) string { word, _, _ := strings.Cut(text, " "); return word }

func lastWord(text string) string { return text[strings.LastIndexByte(text, ' ')+1:] }

// strays reports whether the text may have characters in it that an agent has typed over: where it
// draws a flag, an emoji or a syllable in fewer columns than the terminal takes for it, a part of
// that may stay in what it takes for a blank.
func strays(shown string) bool { return uncertain(shown) > 0 }

// The marks that compose with letters of ASCII.
const firstCombining, lastCombining = 0x300, 0x36f

// bare is the turn in what every screen shows alike, which tells ids apart.
func (t Turn) bare() (bare Turn) {
	for _, m := range t {
		bare = append(bare, Message{ID: m.ID, Header: plain(m.Header), Body: plain(m.Body), Footer: plain(m.Footer)})
	}
	return bare
}

// inOrder reports whether s is every header, body and footer, each after the one before it.
func (t Turn) inOrder(s string) bool {
	for _, m := range t {
		body, found := strings.CutPrefix(s, squeeze(m.Header))
		if !found {
			return false
		}
		if s, found = m.after(body); !found {
			return false
		}
	}
	return s == ""
}

// after is what stands behind the message in s, which begins with its body. A body that is
// shown in full shows the footers that it quotes, too; one behind a chip shows none.
func (m Message) after(s string) (rest string, found bool) {
	body, footer := squeeze(m.Body), squeeze(m.Footer)
	quotes := strings.Count(body, footer)
	if shown, rest, found := cutNth(s, footer, quotes); found && (body == "" || isText(shown, body)) {
		return rest, true
	}
	shown, rest, found := strings.Cut(s, footer)
	begun := quotes > 0 && strings.HasPrefix(body, shown) // the body, up to its first quote
	return rest, found && isChip(shown) && !begun
}

// endInOrder reports whether s is the end of the turn, from the last footer back to where it is
// scrolled out of view.
func (t Turn) endInOrder(s string) bool {
	for i, m := range slices.Backward(t) {
		rest, found := strings.CutSuffix(s, squeeze(m.Footer))
		if !found {
			return i < len(t)-1 && !t.framed(s)
		}
		if s, found = t.before(m, rest); !found {
			return m.within(rest) || !t.framed(rest)
		}
	}
	return false // all of it is in view, and not in order
}

// before is what stands before the message in s, which ends with its body.
func (t Turn) before(m Message, s string) (rest string, found bool) {
	header, body := squeeze(m.Header), squeeze(m.Body)
	quotes := strings.Count(body, header)
	if rest, shown, found := cutNthLast(s, header, quotes); found && isText(shown, body) {
		return rest, true
	}
	if quotes > 0 && m.within(s) {
		return "", false
	}
	rest, shown, found := cutNthLast(s, header, 0)
	return rest, found && !t.framed(shown)
}

// within reports whether s is the end of the message up to its footer. Only what every screen
// shows alike is compared.
func (m Message) within(s string) bool {
	return strings.HasSuffix(plain(m.Header+m.Body), plain(s))
}

// cutNth cuts s around the occurrence of sep before which there are n.
func cutNth(s, sep string, n int) (before, after string, found bool) {
	at := 0
	for ; ; n-- {
		i := strings.Index(s[at:], sep)
		switch {
		case i < 0:
			return s, "", false
		case n == 0:
			return s[:at+i], s[at+i+len(sep):], true
		}
		at += i + len(sep)
	}
}

// cutNthLast cuts s around the occurrence of sep behind which there are n.
func cutNthLast(s, sep string, n int) (before, after string, found bool) {
	at := len(s)
	for ; ; n-- {
		i := strings.LastIndex(s[:at], sep)
		switch {
		case i < 0:
			return s, "", false
		case n == 0:
			return s[:i], s[i+len(sep):], true
		}
		at = i
	}
}

// isText reports whether shown is a body. Only what every screen shows alike is compared, and each
// character on whose columns programs differ may have left a stray.
func isText(shown, body string) bool {
	rest, left := plain(body), 0
	for _, c := range []byte(plain(shown)) {
		if rest != "" && rest[0] == c {
			rest = rest[1:]
		} else {
			left++
		}
	}
	return shown != "" && rest == "" && left <= uncertain(body)
}

// uncertain is how many characters a text has on whose columns programs differ.
func uncertain(text string) (n int) {
	for _, r := range text {
		if profile.Uncertain(r) {
			n++
		}
	}
	return n
}

// isChip reports whether shown may be what an agent shows in place of a paste.
func isChip(shown string) bool { return chip.MatchString(shown) }

// chip is a chip without its white space. Codex numbers those of pastes that are equally long.
var chip = regexp.MustCompile(`^\[.*\](#\d+)?$`)

// Hidden reports whether a chip that begins with sign has taken more of this turn than bodies: it
// stands before all else, or it is one too many and stands at the end. Bodies may quote chips.
func (t Turn) Hidden(shown string, top bool, sign string) bool {
	s, sign := squeeze(shown), squeeze(sign)
	if sign == "" || t.Command() {
		return false
	}
	most := len(t)
	for _, m := range t {
		most += strings.Count(squeeze(m.Body), sign)
	}
	return top && strings.HasPrefix(s, sign) ||
		strings.Count(s, sign) > most && chip.MatchString(s[strings.LastIndex(s, sign):])
}

// Begun reports whether shown is the beginning of this turn, or all of it.
func (t Turn) Begun(shown string) bool {
	s := squeeze(shown)
	return s != "" && strings.HasPrefix(squeeze(t.String()), s)
}

// Starts reports whether shown begins with the turn's first header.
func (t Turn) Starts(shown string) bool {
	return strings.HasPrefix(squeeze(shown), squeeze(t.first().Header))
}

// Left reports whether any of this turn is still in shown. A footer is known by its beginning: an
// agent that completes what stands before the cursor alters its end.
func (t Turn) Left(shown string) bool {
	s := squeeze(shown)
	return t.framed(s) || !t.Command() && slices.ContainsFunc(t, func(m Message) bool {
		beginning, _, more := strings.Cut(m.Footer, "·")
		return more && strings.Contains(s, squeeze(beginning)+"·")
	})
}

// framed reports whether s holds a header or a footer of this turn, or is the command.
func (t Turn) framed(s string) bool {
	if t.Command() {
		return strings.Contains(s, squeeze(t.first().Body))
	}
	return slices.ContainsFunc(t, func(m Message) bool {
		return strings.Contains(s, squeeze(m.Header)) || strings.Contains(s, squeeze(m.Footer))
	})
}

// EndsAt reports whether the turn's last footer ends what stands before the cursor.
func (t Turn) EndsAt(before string) bool {
	return strings.HasSuffix(squeeze(before), squeeze(t.last().Footer))
}

// EndsRow reports whether the end of the turn's last footer ends the row up to the cursor.
func (t Turn) EndsRow(row string) bool {
	footer := squeeze(t.last().Footer)
	return strings.HasSuffix(squeeze(row), footer[max(0, len(footer)-rowEnd):])
}

// rowEnd is how much of a footer stands in one row of any screen, in bytes.
const rowEnd = 8

// Same reports whether two texts differ in white space alone, as rows that wrap do.
func Same(a, b string) bool { return squeeze(a) == squeeze(b) }

// Within reports whether a part stands in a text, white space aside.
func Within(part, text string) bool { return strings.Contains(squeeze(text), squeeze(part)) }

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

// EndsWith reports whether typed stands at the end of shown, or, when it is too
// long for the screen, shown is its end. Only what every locale and width shows
// alike is compared: ASCII without blanks.
func EndsWith(shown, typed string) bool {
	s, t := plain(shown), plain(typed)
	return strings.HasSuffix(s, t) || len(s) >= screenful && strings.HasSuffix(t, s)
}

// screenful is how much of a text that is longer than what is looked at must
// stand there, in bytes.
const screenful = 200

// plain is what every screen shows alike: characters of ASCII, without blanks, and without those
// that carry a mark, for an agent may compose the two into a character of another kind.
func plain(s string) string {
	var b []byte
	ascii := false // the last character
	for _, r := range spelled.ReplaceAllString(s, "") {
		if ascii && r >= firstCombining && r <= lastCombining {
			b = b[:len(b)-1]
		}
		if ascii = r < utf8.RuneSelf && r > ' '; ascii {
			b = append(b, byte(r))
		}
	}
	return string(b)
}
