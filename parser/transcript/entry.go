package transcript

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
	Tool      Kind = "tool"      // the model called a tool that did something else than talk, see Talk
	Began     Kind = "began"     // work in the background began, which Text names: it may outlast the turn
	Finished  Kind = "finished"  // that work is over
	Reported  Kind = "reported"  // the agent was told in a turn that it is over: such a turn may begin with that
	Failed    Kind = "failed"    // a request to the model failed for good, unless the turn goes on behind it
	TurnEnd   Kind = "turn_end"  // the turn is over; of one that was refused, Text is what the agent said of that
)

// Entry is one thing that a transcript tells. Rows of sub-agents, what other tools than
// ours answered, summaries and the agent's own remarks are no entries.
type Entry struct {
	Kind  Kind
	UUID  string    // of the row
	Index int       // of the block in the row
	Time  time.Time // as logged; for a message that waited in the agent's queue, when it was typed
	Text  string
	Cut   bool // the text was interrupted and may end anywhere
	Opens bool // its turn began with it, so what was said later than it was said in that turn
	Typed bool // the prompt came by a terminal of the process that wrote it, or by its command line

	Ending // of a TurnEnd: none where the turn ended well; of Failed: what the turn then ends with

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
