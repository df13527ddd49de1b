// Package entry is what the logs of agents tell, whichever agent's they are.
package entry

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
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

// Accepted says whether e shows that the message with that id reached a turn: it
// is text that the turn was given, and a line of it starts with the message's
// header. A body cannot forge that, see parser.Envelope.
func Accepted(e Entry, id string) bool {
	if e.Kind != User || id == "" {
		return false
	}
	header := parser.Opening(id)
	return strings.HasPrefix(e.Text, header) || strings.Contains(e.Text, "\n"+header)
}

// Gave says whether e shows that a tool of relay handed the message with that id to a turn, whole:
// agents cut long answers of tools. It proves something only of a message that was pulled.
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

// WakeTitle is parser.WakeTitle.
const WakeTitle = parser.WakeTitle

// Begins says whether a text begins with a message's header.
func Begins(text string) bool {
	first, _, _ := strings.Cut(text, "\n")
	return len(parser.Openings(first)) > 0
}

// Turn is what the present turn was given and what it said, for whoever hands it each entry.
type Turn struct {
	ids   []string // of the messages that it was given
	words string   // its last
	wrote bool     // it has markers, so its words are no answer

	newest time.Time // of its entries
	ended  time.Time // when the last turn did that the log told of
}

// Take notes an entry.
func (t *Turn) Take(e Entry) {
	if e.Time.After(t.newest) {
		t.newest = e.Time
	}
	switch e.Kind {
	case TurnEnd:
		t.ended = e.Time
	case User:
		t.ids, t.words = append(t.ids, parser.Openings(e.Text)...), ""
	case Assistant:
		t.words, t.wrote = e.Text, t.wrote || len(Commands(e)) > 0
		if e.Cut {
			t.words = ""
		}
	}
}

// Over says whether the log told the end of the turn before all that stood in it: Claude Code
// 2.1.197 writes some rows of a session's first turn behind later ones where the machine is loaded.
func (t *Turn) Over() bool {
	return len(t.ids) > 0 && t.words != "" && !t.ended.IsZero() && !t.newest.After(t.ended)
}

// End begins the next turn. It returns the messages that the last one was given, and its last
// words; none where it wrote messages itself, or said nothing.
func (t *Turn) End() (ids []string, words string) {
	ended := *t
	*t = Turn{ended: t.ended}
	if ended.wrote || strings.TrimSpace(ended.words) == "" {
		return nil, ""
	}
	return ended.ids, ended.words
}
