package queue

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"time"

	"relay-pty/protocol"
	"relay-pty/protocol/failpoint"
)

// Message is one message to the agent.
type Message struct {
	ID, From, Body         string
	Mode, Kind, Redelivery string // words of the protocol
	ReplyTo, Thread        string
	ShortID                string        `json:",omitzero"` // what the agent reads in place of ID; "" = ID
	ReplyShortID           string        `json:",omitzero"` // and in place of ReplyTo
	ReplyQuote             string        `json:",omitzero"` // how the message begins that is answered
	Priority               int64         // lower goes first
	Timeout                time.Duration // how long it may wait; 0 = for ever

	// The mailbox fills these.
	QueuedAt  time.Time
	ExpiresAt time.Time // zero = never
	Attempt   int       // attempts begun
	Again     bool      // an attempt left it in doubt, and its sender wants it once more
	Pulled    bool      `json:",omitzero"` // the last attempt was a consumer's, which pulled it
}

// FromRequest is the message that a decoded inject asks for.
func FromRequest(r *protocol.Inject) Message {
	return Message{ID: r.ID, From: r.From, Body: r.Body, Mode: r.Mode, Kind: r.Kind, Redelivery: r.Redelivery,
		ReplyTo: r.ReplyTo, Thread: r.Thread, ShortID: r.ShortID,
		ReplyShortID: r.ReplyShortID, ReplyQuote: r.ReplyQuote, Priority: r.Priority, Timeout: r.Timeout()}
}

// ShownID is the id that the agent reads.
func (m *Message) ShownID() string { return cmp.Or(m.ShortID, m.ID) }

// digest tells messages apart by what their sender said, long after the body is gone.
func (m *Message) digest() []byte {
	var b []byte
	for _, s := range []string{m.ID, m.From, m.Body, m.Mode, m.Kind, m.Redelivery, m.ReplyTo, m.Thread} {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	b = binary.AppendVarint(b, m.Priority)
	sum := sha256.Sum256(binary.AppendVarint(b, int64(m.Timeout)))
	return sum[:]
}

// Record is a message and what became of it, as it is kept on disk. Of an ended one
// Message keeps only its ids and Attempt.
type Record struct {
	Message
	Digest   []byte // of what the sender said
	Arrival  int64  // counts the accepted messages
	Status   string
	Evidence string          `json:",omitzero"`
	Fault    *protocol.Fault `json:",omitzero"`
	EndedAt  time.Time       `json:",omitzero"`
	Stamp    protocol.Stamp  // of the last event about it
}

// item is a message in the mailbox.
type item struct {
	Record
	fresh   bool      // its acceptance is not on disk yet, or its acknowledgement
	cancels int       // who asked for it not to be injected, while it is being injected
	entered bool      // Enter was pressed on it, or is about to be, or it was leased
	lent    time.Time // when it was leased to a consumer; zero: it is not
}

func newItem(msg Message, arrival int64, now time.Time) *item {
	msg.QueuedAt, msg.ExpiresAt, msg.Attempt, msg.Again, msg.Pulled = now, time.Time{}, 0, false, false
	if msg.Timeout > 0 {
		msg.ExpiresAt = now.Add(msg.Timeout)
	}
	return &item{Record: Record{Message: msg, Digest: msg.digest(), Arrival: arrival, Status: protocol.StatusQueued}}
}

// Live reports whether the message has not ended.
func (r *Record) Live() bool { return !protocol.Terminal(r.Status) }

// result tells how the message stands.
func (r *Record) result() *protocol.InjectResult {
	res := &protocol.InjectResult{Stamp: r.Stamp, ID: r.ID, Status: r.Status, Attempt: r.Attempt, Evidence: r.Evidence, Fault: r.Fault}
	if r.Pulled && r.Status == protocol.StatusInjecting {
		res.Via = protocol.ViaPull
	}
	return res
}

// before orders by mode, then priority, then arrival.
func before(a, b *item) int {
	if failpoint.Built && failpoint.On(failpoint.LastFirst) {
		a, b = b, a
	}
	return cmp.Or(cmp.Compare(rank(a.Mode), rank(b.Mode)), cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Arrival, b.Arrival))
}

// rank counts from the most pressing mode; a mode that we do not know yields to all.
func rank(mode string) int {
	order := [...]string{protocol.ModeUrgent, protocol.ModeImportant, protocol.ModeSequential}
	if at := slices.Index(order[:], mode); at >= 0 {
		return at
	}
	return len(order)
}
