package queue

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"time"

	"relay-pty/protocol"
)

// Message is one message to the agent.
type Message struct {
	ID, From, Body         string
	Mode, Kind, Redelivery string // words of the protocol
	ReplyTo, Thread        string
	Priority               int64         // lower goes first
	Timeout                time.Duration // how long it may wait; 0 = for ever

	// The mailbox fills these.
	QueuedAt  time.Time
	ExpiresAt time.Time // zero = never
	Attempt   int       // attempts begun
}

// FromRequest is the message that a decoded inject asks for.
func FromRequest(r *protocol.Inject) Message {
	return Message{ID: r.ID, From: r.From, Body: r.Body, Mode: r.Mode, Kind: r.Kind, Redelivery: r.Redelivery,
		ReplyTo: r.ReplyTo, Thread: r.Thread, Priority: r.Priority, Timeout: r.Timeout()}
}

type digest [sha256.Size]byte

// digest tells messages apart by what their sender said, long after the body is gone.
func (m *Message) digest() digest {
	var b []byte
	for _, s := range []string{m.ID, m.From, m.Body, m.Mode, m.Kind, m.Redelivery, m.ReplyTo, m.Thread} {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	b = binary.AppendVarint(b, m.Priority)
	return sha256.Sum256(binary.AppendVarint(b, int64(m.Timeout)))
}

// entry is a message and what became of it. Of an ended one msg keeps only ID and Attempt.
type entry struct {
	msg      Message
	digest   digest
	arrival  int64
	status   string
	cancels  int  // who asked for it not to be injected, while it is being injected
	entered  bool // Enter was pressed on it, or is about to be
	evidence string
	fault    *protocol.Fault
	endedAt  time.Time
	stamp    protocol.Stamp // of the last event about it
}

func newEntry(msg Message, arrival int64, now time.Time) *entry {
	msg.QueuedAt, msg.ExpiresAt, msg.Attempt = now, time.Time{}, 0
	if msg.Timeout > 0 {
		msg.ExpiresAt = now.Add(msg.Timeout)
	}
	return &entry{msg: msg, digest: msg.digest(), arrival: arrival, status: protocol.StatusQueued}
}

func (e *entry) event(status string) *protocol.InjectResult {
	return &protocol.InjectResult{ID: e.msg.ID, Status: status, Evidence: e.evidence, Fault: e.fault}
}

// before orders by mode, then priority, then arrival.
func before(a, b *entry) int {
	return cmp.Or(cmp.Compare(rank(a.msg.Mode), rank(b.msg.Mode)), cmp.Compare(a.msg.Priority, b.msg.Priority), cmp.Compare(a.arrival, b.arrival))
}

// rank counts from the most pressing mode; a mode that we do not know yields to all.
func rank(mode string) int {
	order := [...]string{protocol.ModeUrgent, protocol.ModeImportant, protocol.ModeSequential}
	if at := slices.Index(order[:], mode); at >= 0 {
		return at
	}
	return len(order)
}
