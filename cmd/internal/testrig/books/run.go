// Package books keeps the books of a run in which many send, a human types and
// faults strike, and checks them: what senders were told against what agents read. It
// knows nothing of how the run was made, and shares the words of the wire with the
// product, but no rule.
//
// Who wrote a byte that an agent read can be told from the byte alone: bodies, ids and
// senders are made of lower-case letters, digits, blanks and punctuation, no body is in
// another one, and a human types upper-case words that are all different.
package books

import (
	"hash/crc32"
	"math/rand/v2"
	"strings"

	"relay-pty/protocol"
)

// Run is the books of one run.
type Run struct {
	Sends    []Send
	Events   []Event   // of each agent in the order of Seq
	Readings []Reading // of each agent in the order of Life
	Typings  []Typing
	Faults   []Fault
	Drained  bool // after the last fault every queue ran empty in time
}

// Send is one message, as its sender wrote it down.
type Send struct {
	Agent string
	protocol.Inject
	// Answer is what the sender was told: "queued", the code of an error, or ""
	// when the connection ended before any answer: it may or may not be accepted.
	Answer string
}

// Event is one event about a message that a wrapper told, over all its lives.
type Event struct {
	Agent string
	protocol.InjectResult
}

// Reading is what one life of an agent read: from the start of its process to its end.
type Reading struct {
	Agent string
	Life  int    // from 1
	Line  bool   // it is a line program, which takes each line; else it is a composer
	Bytes []byte // every byte it read
	// Turns are the texts that a composer submitted, in order.
	Turns []string
	// Killed is whether this life ended by a kill, of the wrapper or the agent: then
	// what was being typed may be cut short.
	Killed bool
}

// Typing is what the human typed during one life of an agent, in order.
type Typing struct {
	Agent string
	Life  int
	Words []string // see Word
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

// Prose is a text of about size bytes in lower-case words, in lines of at most line bytes.
func Prose(rnd *rand.Rand, size, line int) string {
	var b strings.Builder
	for used := 0; b.Len() < size; {
		n := 1 + rnd.IntN(12)
		switch {
		case used > 0 && used+1+n > line:
			b.WriteByte('\n')
			used = 0
		case used > 0:
			b.WriteByte(' ')
			used++
		}
		for range n {
			b.WriteByte("abcdefghijklmnopqrstuvwxyz0123456789"[rnd.IntN(36)])
		}
		used += n
	}
	return b.String()
}

// Word is the n-th word that the human types in a life of an agent. No two are alike,
// and none begins another one.
func Word(agent string, life, n int) string {
	return letters(int(crc32.ChecksumIEEE([]byte(agent)))) + "X" + letters(life) + "Y" + letters(n) + "Z"
}

// letters writes n in upper-case letters, without those that may follow an Esc in a key.
func letters(n int) string {
	const digits = "ABCDEFGHJKLMNQRSTUVW"
	s := digits[n%len(digits) : n%len(digits)+1]
	if n /= len(digits); n > 0 {
		return letters(n) + s
	}
	return s
}
