// Package awkward makes messages of the shapes that agents and their screens have trouble with,
// each from a seed and a number, and says what of it an agent must read. It shares no code with
// the wrapper: what becomes of a text is known by how the text was made, piece by piece.
package awkward

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Where is where messages go to, as far as their shapes depend on it.
type Where struct {
	Rows, Cols int
	Bytes      int    // how long a paste may be before the agent hides it; 0: not known
	Lines      int    // how many newlines it may have
	Canary     string // the file that text would make if it ran
}

// Item is one message, or several that are sent at once.
type Item struct {
	Kind     string
	Messages []Message
}

// Message is a body as it is sent and as it must be read. One that answers another message quotes
// that in its header.
type Message struct {
	ID, Sent, Read string
	Asked, Quoted  string // the text that it answers, and what is read of that; "": it answers none
}

// Asks is the id of the message that is answered.
const Asks = "q-1"

// Header is how the message begins that the agent must read, as far as no quote is in it.
func (m Message) Header() string { return fmt.Sprintf("[relay %s from bob", m.ID) }

// Text is the message as the agent must read it.
func (m Message) Text() string {
	answers := ""
	if m.Asked != "" {
		answers = fmt.Sprintf(" · re %s \"%s\"", Asks, m.Quoted)
	}
	return fmt.Sprintf("%s%s] %s\n[end %s · reply: ->relay:bob [re=%s] <<<…>>>]", m.Header(), answers, m.Read, m.ID, m.ID)
}

// Decomposed is a text with its letters and accents apart, as items have them: for agents that make
// one character of some (NFC).
func Decomposed(text string) string { return apart.Replace(text) }

var apart = strings.NewReplacer("\u00e9", "e\u0301", "\u1ea1", "a\u0323", "\u1ec7", "e\u0323\u0302", "\u00f1", "n\u0303")

// Size is how many bytes the agent reads.
func (i Item) Size() (n int) {
	for _, m := range i.Messages {
		n += len(m.Text())
	}
	return n
}

// Each is how many items of each kind make a whole sweep.
const Each = 12

// Count is how many items make a whole sweep.
func Count() int { return Each * len(kinds) }

// Share is a part of the numbers of a whole sweep, each shape as likely as any other.
func Share(seed uint64, part int) []int {
	return rand.New(rand.NewPCG(seed, 1)).Perm(Count())[:max(1, Count()/part)]
}

// Make is the item of that number.
func Make(seed uint64, n int, w Where) Item {
	k := kinds[n%len(kinds)]
	g := &maker{rand.New(rand.NewPCG(seed, uint64(n))), fmt.Sprintf("s%d", n), w}
	item := Item{Kind: k.name}
	if k.batch != nil {
		for i, p := range k.batch(g) {
			item.Messages = append(item.Messages, Message{ID: fmt.Sprintf("%s-%d", g.id, i), Sent: p.sent, Read: p.read})
		}
	} else {
		p := k.one(g)
		item.Messages = []Message{{ID: g.id, Sent: p.sent, Read: p.read}}
	}
	for i := range item.Messages {
		if nth := n/len(kinds) + n + i; nth%2 == 0 {
			q := asked[nth/2%len(asked)]
			item.Messages[i].Asked, item.Messages[i].Quoted = q.sent, q.read
		}
	}
	return item
}

// asked are texts that messages answer.
var asked = []piece{
	same("Shall I push?"),
	{"  look at\n\n\t@main.go, \"then\" [run] /help", "look at @main.go, 'then' (run) /help"},
	same("日本語で書かれた質問です。はい、いいえ？"),
	{strings.Repeat("a long question ", 10), strings.Repeat("a long question ", 4)[:60] + "…"},
	{"\x1b[31mred\x1b[0m ->relay:eve <<<x>>> » “so” « 🙂 ok", "(31mred(0m ->relay:eve <<<x>>> ' 'so' ' 🙂 ok"},
	same("$(touch canary); `ls` !! \\"),
}

// maker makes the texts of one item.
type maker struct {
	*rand.Rand
	id string // of the first message
	Where
}

// piece is a text as it is sent and as it is read.
type piece struct{ sent, read string }

func same(s string) piece { return piece{s, s} }

func (p piece) and(more ...piece) piece {
	for _, m := range more {
		p.sent, p.read = p.sent+m.sent, p.read+m.read
	}
	return p
}

// join is the pieces with the same text between them.
func join(pieces []piece, between string) (p piece) {
	for i, one := range pieces {
		if i > 0 {
			p = p.and(same(between))
		}
		p = p.and(one)
	}
	return p
}

// pick is one of the texts.
func (g *maker) pick(from []string) string { return from[g.IntN(len(from))] }

// from is least, or up to most.
func (g *maker) from(least, most int) int { return least + g.IntN(most-least+1) }

// some are from one to most of the texts.
func (g *maker) some(from []string, most int) (texts []string) {
	for range g.from(1, most) {
		texts = append(texts, g.pick(from))
	}
	return texts
}

var words = strings.Fields("please look at the build log and tell me which test is slow so we can mend it before noon with care I guess nothing else")

// prose is words of n bytes, and no blank at the ends.
func (g *maker) prose(n int) string {
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(g.pick(words) + " ")
	}
	return strings.TrimRight(b.String()[:n], " ") + strings.Repeat("x", n-len(strings.TrimRight(b.String()[:n], " ")))
}

// size is a length at which something may change: of a row, a screen, a paste, a buffer.
func (g *maker) size() int {
	frame := len(Message{ID: g.id}.Text())
	at := []int{1, g.Cols, g.Cols * g.Rows, 150, 500, 800, 1000, 1024, 2048, 4096, 8192, 10 << 10, 16 << 10, 32 << 10}
	if g.Bytes > 0 {
		at = append(at, g.Bytes, g.Bytes)
	}
	n := at[g.IntN(len(at))] + g.from(-3, 3)
	if g.IntN(2) == 0 {
		n -= frame // the turn, not the body, has that length
	}
	return min(max(n, 1), most)
}

// most is the longest body that is accepted, in bytes.
const most = 64 << 10

// lines are how many newlines may be one too many.
func (g *maker) lines() int {
	at := []int{1, 2, 3, 5, 6, 8, 12, 30, g.Rows - 4, g.Rows, 100}
	if g.Lines > 0 {
		at = append(at, g.Lines, g.Lines)
	}
	return max(1, at[g.IntN(len(at))]+g.from(-1, 1))
}
