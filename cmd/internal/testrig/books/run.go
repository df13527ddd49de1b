// Package books keeps the books of a run in which many send, a human types and
// faults strike, and checks them: what senders were told against what agents read. It
// knows nothing of how the run was made.
//
// Who wrote a byte that an agent read can be told from the byte alone: bodies are made
// of lower-case letters, digits and blanks and carry their own sum, a human types
// upper-case words that are all different.
package books

// Run is the books of one run.
type Run struct {
	Sends    []Send
	Events   []Event   // of each agent in the order of Seq
	Readings []Reading // of each agent in the order of Life
	Typings  []Typing
	Faults   []Fault
	Drained  bool // after the last fault every queue ran empty in time
}

// Send is one message, as its sender wrote it down. N counts a sender's messages
// to one agent from 1.
type Send struct {
	Agent, ID, From string
	N               int
	Priority        int
	Mode            string // sequential, important, urgent
	Redelivery      string // never, once
	Timeout         int64  // ms; 0 is none
	Body            string // see Body
	// Answer is what the sender was told: "queued", the code of an error, or ""
	// when the connection ended before any answer: it may or may not be accepted.
	Answer string
}

// Event is one event about a message that a wrapper told, over all its lives.
type Event struct {
	Agent    string
	Seq      int64
	ID       string
	Status   string // queued, injecting, delivered, failed, expired, cancelled, unknown
	Attempt  int
	Evidence string
	Code     string // of the error
}

// Reading is what one life of an agent read: from the start of its process to its end.
type Reading struct {
	Agent string
	Life  int // from 1
	// Line is whether it is a line program; else it is a composer.
	Line bool
	// Bytes is every byte it read.
	Bytes []byte
	// Turns is what it took, in order: of a line program each line, of a composer each
	// text that was submitted.
	Turns []string
	// Killed is whether this life ended by a kill, of the wrapper or the agent: then
	// what was being typed may be cut short.
	Killed bool
}

// Typing is what the human typed during one life of an agent, in order.
type Typing struct {
	Agent string
	Life  int
	Words []string // each upper case, and all different
}

// Fault is one thing that was done to a wrapper or an agent.
type Fault struct {
	Agent string
	Life  int    // in which it struck
	Kind  string // kill-wrapper, kill-agent, stop, disk-full, sync-error, slow-terminal, resize, flood
}

// Violation is one breach of an invariant.
type Violation struct {
	Invariant string // I1 … I12
	Agent, ID string
	What      string
}
