// Package api is the router's HTTP interface on a Unix socket: what is asked and answered, the
// server, and the client that the command line uses.
package api

import (
	"cmp"
	"time"

	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

// Send asks for a message to be sent. From counts only where no token says who asks.
type Send struct {
	To         string `json:"to"`
	Body       string `json:"body"`
	From       string `json:"from,omitzero"`
	ID         string `json:"id,omitzero"`
	Kind       string `json:"kind,omitzero"`
	Mode       string `json:"mode,omitzero"`
	Priority   int64  `json:"priority,omitzero"`
	TimeoutMS  int64  `json:"timeout_ms,omitzero"`
	Redelivery string `json:"redelivery,omitzero"`
	ReplyTo    string `json:"reply_to,omitzero"`
	Thread     string `json:"thread,omitzero"`
	Yes        bool   `json:"yes,omitzero"` // it may reach more than ten agents
	// Ahead lets it wait for a name that nobody knows yet, as for an agent that does not run.
	Ahead bool `json:"ahead,omitzero"`
	// Retry has it sent again when its turn was refused by the agent's API, until its timeout.
	Retry bool `json:"retry,omitzero"`
	// NotifyOnDelivery and NotifyAfterMS ask for notices to the sender: when it was delivered, and
	// so long after that, unless it was answered.
	NotifyOnDelivery bool  `json:"notify_on_delivery,omitzero"`
	NotifyAfterMS    int64 `json:"notify_after_ms,omitzero"`
	// ReplyWithinMS is how long the sender waits for an answer; a later one says so. 0: without
	// end.
	ReplyWithinMS int64 `json:"reply_within_ms,omitzero"`
	// Until and WaitMS ask for the answer to wait until the message has come that far, so long at
	// most.
	Until  string `json:"until,omitzero"`
	WaitMS int64  `json:"wait_ms,omitzero"`
}

// Answer asks for an answer to be sent to whoever sent a message.
type Answer struct {
	Body   string `json:"body"`
	From   string `json:"from,omitzero"`
	ID     string `json:"id,omitzero"`
	Mode   string `json:"mode,omitzero"`
	Until  string `json:"until,omitzero"`
	WaitMS int64  `json:"wait_ms,omitzero"`
}

// Remind asks for a message to whoever asks, later. From counts only where no token says who asks.
type Remind struct {
	DelayMS int64  `json:"delay_ms"`
	Message string `json:"message"`
	From    string `json:"from,omitzero"`
	ID      string `json:"id,omitzero"`
}

// Reminder is a message that is sent later; with its id it can be shown and cancelled as any other.
type Reminder struct {
	ID     string `json:"id"`
	Status string `json:"status"` // scheduled, or what became of the message
	To     string `json:"to"`
	Body   string `json:"body"`
	About  string `json:"about,omitzero"` // the message that it is a notice about
	SetAt  int64  `json:"set_at"`         // Unix milliseconds
	DueAt  int64  `json:"due_at"`
}

// Reminders are what is to be sent later, the next one first.
type Reminders struct {
	Reminders []Reminder `json:"reminders"`
}

// Pull asks for messages to a name that no wrapper types for; they are to be acknowledged.
type Pull struct {
	Max    int   `json:"max,omitzero"` // 0: 100, which are the most
	WaitMS int64 `json:"wait_ms,omitzero"`
}

// PullAck says that messages have been read.
type PullAck struct {
	IDs []string `json:"ids"`
}

// Message is what became of a message. Those of a list tell of all their recipients together, and
// no answers.
type Message struct {
	router.Standing
	ShortID       string         `json:"short_id,omitzero"` // what people and models read in place of a longer ID
	QueuePosition int            `json:"queue_position"`
	Mode          string         `json:"mode"`
	Interrupted   bool           `json:"interrupted"`
	From          string         `json:"from"`
	Body          string         `json:"body"`
	Priority      int64          `json:"priority"`
	TimeoutMS     int64          `json:"timeout_ms"`
	ReplyTo       string         `json:"reply_to,omitzero"`
	Thread        string         `json:"thread,omitzero"`
	About         string         `json:"about,omitzero"` // the message that a notice is about
	Attempt       int            `json:"attempt,omitzero"`
	AcceptedAt    int64          `json:"accepted_at"`           // Unix milliseconds
	DueAt         int64          `json:"due_at,omitzero"`       // when what is scheduled is sent, Unix milliseconds
	Seq           int64          `json:"seq"`                   // of its first event
	CancelAsked   bool           `json:"cancel_asked,omitzero"` // it is cancelled as soon as its recipient runs
	Redelivers    string         `json:"redelivers,omitzero"`   // the message that it sends again
	Redeliveries  []string       `json:"redeliveries,omitzero"` // those that sent it again
	Channel       string         `json:"channel,omitzero"`      // by which its recipient got it
	Life          []router.Event `json:"life,omitzero"`         // its events, where they were asked for
}

// ShownID is the id that people and models read.
func (m Message) ShownID() string { return cmp.Or(m.ShortID, m.ID) }

// Chain is what became of a chain. ID is the message that began it.
type Chain struct {
	ID        string   `json:"id"`
	ShortID   string   `json:"short_id,omitzero"`
	Changed   bool     `json:"changed"`            // else it was so before
	Cancelled []string `json:"cancelled,omitzero"` // its messages that were taken back
}

// ShownID is the id that people and models read.
func (c Chain) ShownID() string { return cmp.Or(c.ShortID, c.ID) }

// Messages are the newest messages of a kind, as they came, and how many older ones there are.
type Messages struct {
	Messages []Message `json:"messages"`
	Older    int       `json:"older"`
	Cursor   int64     `json:"cursor_event_seq"` // all that came later has a greater number
}

// Agent is what is known of an agent.
type Agent struct {
	Name    string `json:"name"`
	Running bool   `json:"running"`
	State   string `json:"state"` // empty where it is not known
	// BlockedBy is what stands in the way of messages, as its wrapper said last; empty: nothing.
	BlockedBy string `json:"blocked_by,omitzero"`

	Profile string `json:"profile"`
	Waiting int    `json:"waiting"` // messages that have not ended
	SeenAt  int64  `json:"seen_at"` // Unix milliseconds
	// Reason is why it does not run: left, it ended by itself; inactive, it was killed or stopped
	// answering.
	Reason string `json:"reason,omitzero"`
	Paused bool   `json:"paused"` // nothing is typed into it
	// WrapperStopped is that its wrapper is stopped (SIGSTOP): nobody knows how the agent is, and
	// nothing is typed.
	WrapperStopped bool `json:"wrapper_stopped,omitzero"`
	// PausedUntil is when that ends by itself, Unix milliseconds; 0: it does not.
	PausedUntil int64 `json:"paused_until,omitzero"`
}

// Keys asks for keys to be pressed, by their names. From counts only where no token says who asks.
type Keys struct {
	Keys []string `json:"keys"`
	From string   `json:"from,omitzero"`
}

// Pressed says how many keys the agent has read, from the first on, and why not all.
type Pressed struct {
	Pressed int                `json:"pressed"`
	Error   *router.ErrorValue `json:"error,omitzero"`
}

// Pause asks that nothing is typed into an agent for so long.
type Pause struct {
	ForMS int64 `json:"for_ms,omitzero"` // 0: until a resume
}

// AgentStatus is what is known of an agent, and what its wrapper says when it runs.
type AgentStatus struct {
	Agent
	Wrapper *protocol.StatusAnswer `json:"wrapper,omitzero"`
}

// Agents answers a look at all of them.
type Agents struct {
	Agents []Agent `json:"agents"`
}

// Events answers a look at the log. Cursor is where the next look goes on.
type Events struct {
	Events []router.Event `json:"events"`
	Cursor int64          `json:"cursor_event_seq"`
}

// AcceptWait is how long a wrapper may take to take a message, which takes milliseconds.
const AcceptWait = time.Second

// Health says that the router is well.
type Health struct {
	OK  bool `json:"ok"`
	PID int  `json:"pid"`
	// Version is that of the program.
	Version  string `json:"version"`
	Degraded bool   `json:"degraded"` // the log takes no more for now: sending is refused
	// Problem is why.
	Problem string `json:"problem,omitzero"`
	// Damaged is what of the log and the state is not as it was written, or missing.
	Damaged []string `json:"damaged,omitzero"`
}
