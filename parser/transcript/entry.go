package transcript

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"relay-pty/parser"
)

// ErrNoSession says that an agent has no session, perhaps not yet.
var ErrNoSession = errors.New("no session")

// Kind is what an entry is.
type Kind string

const (
	Assistant Kind = "assistant" // one block of text that the agent's model wrote
	User      Kind = "user"      // one block of text that the turn was given
	Handed    Kind = "handed"    // what a tool of relay gave the turn beside its answer: messages
	TurnEnd   Kind = "turn_end"  // the turn is over, also by an interrupt or an error
)

// Entry is one thing that a transcript tells. Rows of sub-agents, tool calls, what
// other tools than ours answered, summaries and the agent's own remarks are no entries.
type Entry struct {
	Kind  Kind
	UUID  string    // of the row
	Index int       // of the block in the row
	Time  time.Time // as logged; for a message that waited in the agent's queue, when it was typed
	Text  string
	Cut   bool // the text was interrupted and may end anywhere
	Opens bool // its turn began with it, so what was said later than it was said in that turn
	Typed bool // the prompt came by a terminal of the process that wrote it, or by its command line

	// Turn names the turn that it is of: two processes may write turns of one conversation at once.
	// Empty where the log does not tell.
	Turn string
}

// Found is a marker in what an agent said.
type Found struct {
	ID   string // the same whenever the same row is read
	Item parser.Item
}

// Commands returns the markers of e, none unless the agent's model wrote it. A
// message that ends where the text was cut is Invalid.
func Commands(e Entry) []Found {
	if e.Kind != Assistant {
		return nil
	}
	items := parser.Text(e.Text)
	found := make([]Found, len(items))
	for i, item := range items {
		found[i] = Found{ID: stableID(e, i), Item: item}
	}
	if n := len(found) - 1; n >= 0 && e.Cut {
		c, ok := found[n].Item.(parser.Command)
		if ok && strings.HasSuffix(strings.TrimRight(e.Text, " \t\r"), c.Raw) {
			first, _, _ := strings.Cut(c.Raw, "\n")
			found[n].Item = parser.Invalid{Reason: "the reply was cut off", Raw: clip(first)}
		}
	}
	return found
}

// clip is the start of s, of at most 200 bytes and whole characters.
func clip(s string) string {
	if len(s) > 200 {
		s = strings.ToValidUTF8(s[:200], "")
	}
	return s
}

func stableID(e Entry, item int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d/%d", e.UUID, e.Index, item))
	return hex.EncodeToString(sum[:16])
}

// Accepted reports whether e shows that the message with that id reached a turn: it
// is text that the turn was given, and a line of it starts with the message's
// header. A body cannot forge that, see parser.Envelope.
func Accepted(e Entry, id string) bool {
	if e.Kind != User || id == "" {
		return false
	}
	header := parser.Opening(id)
	return strings.HasPrefix(e.Text, header) || strings.Contains(e.Text, "\n"+header)
}

// Gave reports whether e shows that a tool of relay handed the message with that id to a turn,
// whole: agents cut long answers of tools. It proves something only of a message that was pulled.
func Gave(e Entry, id string) bool { return e.Kind == Handed && id != "" && parser.Whole(e.Text, id) }

// FromTool is the messages in what a tool answered, "" when there are none. They begin a line, for
// some agents join the parts of an answer.
func FromTool(answer string) string {
	_, messages, found := strings.Cut("\n"+answer, "\n"+parser.ToolTitle)
	if !found {
		return ""
	}
	return parser.ToolTitle + messages
}

// Begins reports whether a text begins with a message's header.
func Begins(text string) bool {
	first, _, _ := strings.Cut(text, "\n")
	return len(parser.Openings(first)) > 0
}

// Turn is what the present turn was given and what it said, for whoever hands it each entry.
//
// Claude Code 2.1.197 writes the rows of a session's first turn in any order where the machine is
// loaded: the end before what it ends, an answer before what was asked (15 of 27 starts beside
// other work). So an end that comes before its answer, or before what was asked, is no end yet:
// what is known is kept, with the entries behind it that carry no later time, until the next end.
type Turn struct {
	present, left words
	ended         time.Time // when the last turn did that the log told of
}

// words are what a turn was given, and said.
type words struct {
	ids    []string  // of the messages that it was given
	last   string    // what it said last …
	said   time.Time // … and when
	wrote  bool      // it has markers, so what it said is no answer
	newest time.Time // of its entries
}

// Take notes an entry.
func (t *Turn) Take(e Entry) {
	if e.Kind == TurnEnd {
		t.ended = e.Time
		return
	}
	if e.Opens && !t.present.newest.After(t.ended) {
		t.present = words{} // all of it was the last turn's
	}
	if t.present.take(e); !e.Time.After(t.ended) {
		t.left.take(e)
	}
}

func (w *words) take(e Entry) {
	if e.Time.After(w.newest) {
		w.newest = e.Time
	}
	switch e.Kind {
	case User:
		w.ids = append(w.ids, parser.Openings(e.Text)...)
		if !e.Opens || !e.Time.Before(w.said) {
			w.last = ""
		}
	case Assistant:
		w.last, w.said, w.wrote = e.Text, e.Time, w.wrote || len(Commands(e)) > 0
		if e.Cut {
			w.last = ""
		}
	}
}

// whole reports whether something was asked, and answered.
func (w *words) whole() bool { return len(w.ids) > 0 && w.last != "" }

// answer is the messages that were given and the last words; none where messages were written
// instead, or nothing was said.
func (w *words) answer() (ids []string, last string) {
	if w.wrote || strings.TrimSpace(w.last) == "" {
		return nil, ""
	}
	return w.ids, w.last
}

// End begins the next turn. It returns the messages that the last one was given, and its last
// words; none where it wrote messages itself, or said nothing.
func (t *Turn) End() (ids []string, last string) {
	ended := t.present
	t.present, t.left = words{}, words{}
	if !ended.whole() {
		t.left = ended
	}
	return ended.answer()
}

// EndLate is as End, of an agent at rest: of a turn of which some came behind its end. That is no
// part of the next turn then.
func (t *Turn) EndLate() (ids []string, last string) {
	late := t.left
	if t.present.said.Equal(late.said) {
		t.present.last, t.present.wrote = "", false
	}
	if !late.whole() {
		return nil, ""
	}
	t.left = words{}
	t.present.ids = slices.DeleteFunc(t.present.ids, func(id string) bool { return slices.Contains(late.ids, id) })
	return late.answer()
}
