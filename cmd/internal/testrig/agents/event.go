package agents

import "strings"

// Event is one line of the event log.
type Event struct {
	At   int64  `json:"at"`             // Unix nanoseconds
	Kind string `json:"kind"`           // see the Kind constants
	Text string `json:"text,omitempty"` // the message, line or key
}

// The kinds of events.
const (
	KindStart   = "start"   // ready to be typed at
	KindDraft   = "draft"   // the composer's text changed; Text is all of it
	KindQueued  = "queued"  // Enter while busy
	KindSubmit  = "submit"  // a turn began; Text is what a model would get
	KindSwallow = "swallow" // an Enter did nothing; Text is the draft
	KindCommand = "command" // a line with / or ! was run, not sent: a fault if a message did it
	KindPick    = "pick"    // Enter or Tab chose Text from the picker
	KindReply   = "reply"   // the turn's answer was printed
	KindIdle    = "idle"    // the turn ended
	KindDialog  = "dialog"  // a dialog opened; Text is what it asks about
	KindAnswer  = "answer"  // the dialog was answered "yes", by the key Text; ask: the answer is Text
	KindCancel  = "cancel"  // Esc ended the "dialog", "turn" or "picker"
	KindIgnored = "ignored" // a key the dialog ignored
	KindReturn  = "return"  // an interrupted message came back into the box
	KindLine    = "line"    // a line program read a line
	KindAsk     = "ask"     // a line program asked
	KindFlush   = "flush"   // unread input was dropped
	KindEdit    = "edit"    // a child has the terminal; Text is its pid
	KindBack    = "back"    // the terminal was taken back from it
	KindStop    = "stop"    // about to stop itself
	KindCont    = "cont"    // continued
	KindExit    = "exit"
	KindExec    = "exec" // about to become the program Text
)

// Taken are the texts that Enter took out of a composer, in order, and what happened
// that nobody asked for: commands, choices, answers. Texts that it took while the agent
// was busy come a second time, together, when their turn begins.
func Taken(events []Event) (texts []string, unasked []Event) {
	var queued []string
	for _, e := range events {
		switch e.Kind {
		case KindQueued:
			queued = append(queued, e.Text)
			texts = append(texts, e.Text)
		case KindSubmit:
			if len(queued) > 0 && e.Text == strings.Join(queued, "\n") {
				queued = nil
				continue
			}
			texts = append(texts, e.Text)
		case KindCommand, KindAnswer, KindPick:
			unasked = append(unasked, e)
		}
	}
	return texts, unasked
}
