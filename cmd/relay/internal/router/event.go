package router

import (
	"fmt"

	"relay-pty/cmd/relay/internal/chain"
	"relay-pty/parser"
	"relay-pty/protocol"
)

// Types of events besides those of wrappers, which keep the names that protocol gives them.
const (
	TypeMessage = "message"    // a message was accepted
	TypeRefused = "refused"    // what an agent wanted to send was not
	TypeUp      = "agent_up"   // a wrapper began to run
	TypeDown    = "agent_down" // a wrapper no longer runs
	TypeKeys    = "keys"       // From had keys pressed in an agent; Error says why not all

	// TypeCancelAsked is that a message is to be taken back which is in the queue of a wrapper that
	// does not run: it is cancelled as soon as one of that name runs again.
	TypeCancelAsked = "cancel_asked"

	// TypeReminder is that somebody wants to be reminded: at DueAt it becomes a message of the same
	// id. A notice that is sent later is announced by no event of its own: the one that delivered
	// the message which it is about says all.
	TypeReminder = "reminder"
)

// EventTypes are the types of all events of the log: those of the router, and those of wrappers
// that it keeps.
func EventTypes() []string {
	return []string{
		TypeMessage, TypeRefused, TypeReminder,
		protocol.TypeInjectResult, protocol.TypeWaiting, protocol.TypeState, protocol.TypeTurnEnd, protocol.TypeMarkerInvalid, protocol.TypeExit,
		TypeUp, TypeDown, TypeMemberJoined, TypeMemberLeft, TypePaused, TypeResumed, TypeChainPaused, TypeChainResumed, TypeChainEnded, TypeKeys, TypeCancelAsked,
		TypeJoined, TypeLeft,
	}
}

// Event is one entry of the log. Which fields count depends on Type: testdata/events.jsonl has
// events of all types, each with all that one of its type can have.
type Event struct {
	EventID   string `json:"event_id"`
	Seq       int64  `json:"seq"`
	Type      string `json:"type"`
	Timestamp int64  `json:"timestamp"` // Unix milliseconds
	// Epoch is that of the log; it is told, and not written.
	Epoch string `json:"epoch,omitzero"`

	Agent  string  `json:"agent,omitzero"`  // whose wrapper told it
	Origin *Origin `json:"origin,omitzero"` // and where it has it

	DueAt int64    `json:"due_at,omitzero"` // when a reminder is to be sent, Unix milliseconds
	Keys  []string `json:"keys,omitzero"`   // those that the agent has read

	// Of an agent's turn that has ended, or wrote a message: what it was given, how many tools it
	// used that do something else than talk, and whether work that it began goes on. Body is what
	// it said last.
	IDs        []string `json:"ids,omitzero"`
	Tools      *int     `json:"tools,omitzero"`
	Background bool     `json:"background,omitzero"`

	Recipients []string `json:"recipients,omitzero"` // who gets a message to a channel or to all

	// Told is, of a refusal and of a marker that is none, that the agent gets a notice of it.
	Told bool `json:"told,omitzero"`

	Message
	Result
	Condition
}

// Origin is where a wrapper has an event: what comes again is known by it.
type Origin struct {
	Epoch string `json:"epoch"`
	Seq   int64  `json:"seq"`
}

// Message is what a sender sent. ID is also the message that a Result is about.
type Message struct {
	ID         string `json:"id,omitzero"`
	ShortID    string `json:"short_id,omitzero"` // what people and models read in place of a longer ID
	From       string `json:"from,omitzero"`
	To         string `json:"to,omitzero"`
	Body       string `json:"body,omitzero"`
	Kind       string `json:"kind,omitzero"`
	Mode       string `json:"mode,omitzero"`
	Priority   int64  `json:"priority,omitzero"`
	TimeoutMS  int64  `json:"timeout_ms,omitzero"`
	Redelivery string `json:"redelivery,omitzero"`
	ReplyTo    string `json:"reply_to,omitzero"`
	Thread     string `json:"thread,omitzero"`
	Source     string `json:"source,omitzero"`
	Redelivers string `json:"redelivers,omitzero"` // the message that it sends again
	Channel    string `json:"channel,omitzero"`    // by which one recipient got it
	Confirmed  bool   `json:"-"`                   // its sender knows that it reaches many
	Ahead      bool   `json:"-"`                   // its sender knows that its recipient may be yet to come
	ReplyBy    int64  `json:"reply_by,omitzero"`   // until when the sender waits for an answer, Unix milliseconds; 0: without end
	About      string `json:"about,omitzero"`      // the message that a notice of the router is about

	chain.Place

	Retry            bool  `json:"retry,omitzero"`              // it is sent again when its turn was refused by the agent's API
	NotifyOnDelivery bool  `json:"notify_on_delivery,omitzero"` // its sender is told when it was delivered
	NotifyAfterMS    int64 `json:"notify_after_ms,omitzero"`    // and so long after that, unless it was answered; 0: not
}

// Result is what became of a message.
type Result struct {
	Status        string      `json:"status,omitzero"`
	Evidence      string      `json:"evidence,omitzero"`
	Attempt       int         `json:"attempt,omitzero"`
	Via           string      `json:"via,omitzero"` // of an attempt: by what the agent gets the message, if it is not typed
	QueuePosition int         `json:"queue_position,omitzero"`
	WaitingFor    string      `json:"waiting_for,omitzero"`
	Error         *ErrorValue `json:"error,omitzero"`

	// How the turn ended that took the message, where that was without an answer: silent,
	// interrupted, refused. Refusal is why, with the agent's own words; at RetryAt (Unix
	// milliseconds) its API takes requests again, where it says so.
	Outcome string      `json:"outcome,omitzero"`
	Refusal *ErrorValue `json:"refusal,omitzero"`
	RetryAt int64       `json:"retry_at,omitzero"`
}

// ErrorValue says why a message did not arrive, or was not taken.
type ErrorValue struct {
	Code       string   `json:"code"`
	Message    string   `json:"message"`
	Candidates []string `json:"candidates,omitempty"` // names that may have been meant
}

func (e *ErrorValue) Error() string { return e.Message }

// Condition is how an agent is.
type Condition struct {
	State      string `json:"state,omitzero"`
	Confidence string `json:"confidence,omitzero"`
	BlockedBy  string `json:"blocked_by,omitzero"`
	Profile    string `json:"profile,omitzero"`
	PID        int    `json:"pid,omitzero"`
	StartedAt  int64  `json:"started_at,omitzero"` // of the wrapper, Unix milliseconds
	Code       *int   `json:"code,omitzero"`       // exit status
	Raw        string `json:"raw,omitzero"`        // of a marker that is none
	Until      int64  `json:"until,omitzero"`      // of a pause that ends by itself, Unix milliseconds
	Reason     string `json:"reason,omitzero"`     // why it is none, why an agent went away, or why its API refused a turn
}

// unheard reports whether an event about a recipient says nothing of its being there: the router
// alone ended the message.
func (e *Event) unheard() bool {
	return e.Type == protocol.TypeInjectResult && e.Origin == nil && e.Status != protocol.StatusDelivered
}

// Words of "status" that the router adds to those of wrappers.
const (
	StatusAccepted = "accepted" // it is in the log, and not yet in a wrapper's queue
	StatusReplied  = "replied"  // its recipient has answered it

	// StatusScheduled is that of a message which is accepted only when its time has come.
	StatusScheduled = "scheduled"
)

// TurnEnded says how a turn of an agent's ended without an answer, in words.
func TurnEnded(agent, outcome string, why *ErrorValue) string {
	switch {
	case outcome == protocol.OutcomeSilent:
		return agent + " ended its turn without a word"
	case outcome == protocol.OutcomeInterrupted:
		return agent + " was interrupted in its turn"
	case outcome != protocol.OutcomeRefused:
		return ""
	case why == nil:
		return fmt.Sprintf("the API of %s refused its turn", agent)
	}
	return fmt.Sprintf("the API of %s refused its turn (%s): %s", agent, why.Code, parser.OneLine(why.Message))
}

// Ended reports whether nothing more is to be done about a message of that status.
func Ended(status string) bool { return status == StatusReplied || protocol.Terminal(status) }
