package parser

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"relay-pty/protocol/failpoint"
)

// staleAge is the age from which a header tells it.
const staleAge = 10 * time.Minute

// Envelope is a message in the form in which an agent reads it:
//
//	[relay msg-abc123 from Alice] first line
//	more lines
//	[end msg-abc123 · reply: ->relay:Alice [re=msg-abc123] <<<…>>>]
//
// The header of an answer says to what, and that of a message in a thread says in which:
//
//	[relay msg-abc123 from Alice · re m-7wzk03fa "Shall I push?" · thread auth] yes
//
// Where nobody reads markers, the footer names the command that answers:
//
//	[end msg-abc123 · reply: relay reply msg-abc123 …]
//
// Header and footer both carry the id, so they prove what stands in a composer.
// The header starts with '[', which no agent takes for a command, and the
// footer makes a backslash or an @name at the body's end harmless.
type Envelope struct {
	ID, From   string
	Body       string
	ReplyTo    string        // id of the message that it answers; "": of none
	Quote      string        // that one's text, of which the first [QuoteMost] characters are told
	Thread     string        // "": none
	Notice     bool          // nobody waits for a reply
	Unread     bool          // nobody reads the agent's markers
	Redelivery bool          // the agent may have seen it before
	Age        time.Duration // since it was accepted; told when over ten minutes
}

// Opening is what the header of the message with that id begins with, whoever sent it.
func Opening(id string) string { return opening + field(id) + " from " }

// Openings are the ids of the messages whose headers begin lines of text.
func Openings(text string) (ids []string) {
	for line := range strings.Lines(text) {
		rest, isHeader := strings.CutPrefix(line, opening)
		if id, _, ok := strings.Cut(rest, " from "); isHeader && ok && id == field(id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// WakeTitle is what an agent shows of messages that wake it beside its composer, and by which its
// log tells them from what its tools print.
const WakeTitle = "Messages by relay"

// ToolTitle begins the text of messages that go with the answer of a tool. By it an agent's log
// tells them from the answer, and from what other tools print.
const ToolTitle = "=== Messages to you, which came meanwhile."

// Whole reports whether a text holds the message with that id from its header to its footer, as
// lines of its own. A body cannot forge that, see [Envelope.Content].
func Whole(text, id string) bool {
	_, rest, begun := strings.Cut("\n"+text, "\n"+Opening(id))
	_, rest, ended := strings.Cut(rest, "\n"+ending+field(id))
	return begun && ended && (strings.HasPrefix(rest, "]") || strings.HasPrefix(rest, " ·"))
}

// What a header and a footer begin with.
const (
	opening = "[relay "
	ending  = "[end "
)

// The router's name as a sender, and what its notices begin with.
const (
	relayName     = "relay"
	noticeOpening = "[relay] "
)

// Header is what stands before the body.
func (e Envelope) Header() string {
	var b strings.Builder
	b.WriteString(Opening(e.ID) + field(e.From))
	if e.ReplyTo != "" {
		b.WriteString(" · re " + field(e.ReplyTo))
		if said := quoted(e.Quote); said != "" {
			b.WriteString(quoteMark + said + `"`)
		}
	}
	if e.Thread != "" {
		b.WriteString(" · thread " + field(e.Thread))
	}
	if e.Redelivery {
		b.WriteString(" · redelivery")
	}
	if e.Age > staleAge {
		fmt.Fprintf(&b, " · %s old", age(e.Age))
	}
	b.WriteByte(']')
	return b.String()
}

// Typed is the message in the parts of which each shows in another way: a header and a footer show
// exactly as they are typed, for they are plain; what comes between, words of others, may be
// wrapped, hidden or drawn otherwise. So what a header quotes goes with the body.
func (e Envelope) Typed() (header, body, footer string) {
	header, quote, quotes := strings.Cut(e.Header(), quoteMark)
	if body = e.Content(); quotes {
		body = quoteMark[1:] + quote + " " + body
	}
	return header, body, e.Footer()
}

// Footer is the last line.
func (e Envelope) Footer() string {
	id, from := field(e.ID), field(e.From)
	switch {
	case e.Notice:
		return ending + id + "]"
	case e.Unread:
		return fmt.Sprintf("%s%s · reply: relay reply %s …]", ending, id, id)
	}
	return fmt.Sprintf("%s%s · reply: %s%s [re=%s] <<<…>>>]", ending, id, relayPrefix, from, id)
}

// Content is the sanitised body. A line of it that could pass for a header, a footer, a notice or a
// title is indented by four blanks more; Content of a Content is the same. What the router itself
// says begins as a notice.
func (e Envelope) Content() string {
	body := Sanitize(e.Body)
	if failpoint.Built && failpoint.On(failpoint.FooterForged) {
		return body
	}
	var b strings.Builder
	for line := range strings.Lines(body) {
		ours := b.Len() == 0 && e.From == relayName && strings.HasPrefix(line, noticeOpening)
		if !ours && forged(line) {
			b.WriteString("    ")
		}
		b.WriteString(line)
	}
	return b.String()
}

// Text is the whole message, without a newline at its end.
func (e Envelope) Text() string {
	return e.Header() + " " + e.Content() + "\n" + e.Footer()
}

// QuoteMost is how many characters a header quotes of what is answered.
const QuoteMost = 60

// quoteMark begins the quote in a header; nothing before it holds one.
const quoteMark = ` "`

// quoted is the beginning of a text, without what could end the quote, or the header.
func quoted(text string) string {
	said := strings.Join(strings.Fields(Quote(text, QuoteMost)), " ")
	return strings.Map(func(r rune) rune {
		switch l := looks(r); {
		case r == '"' || r == '＂' || r == '″' || unicode.In(r, unicode.Pi, unicode.Pf):
			return '\''
		case l == '[':
			return '('
		case l == ')' && r != '>' && r != '}':
			return ')'
		}
		return r
	}, said)
}

// field is a sanitised field of a header, on one line.
func field(s string) string {
	return strings.ReplaceAll(Sanitize(s), "\n", " ")
}

func age(d time.Duration) string {
	switch {
	case d < 2*time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/(24*time.Hour))
}
