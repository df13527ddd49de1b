// Package chain counts how far agents have gone on with each other since somebody began it. It
// knows no messages and no agents, only their ids, and keeps nothing itself.
//
// A message is of the chain of what the turn was given that wrote it, with or without re=; one
// that a human, a script or a clock began starts a new one. Each turn that did nothing but talk is
// a hop; one that used a tool begins a new row of hops. That is known when the turn ends, so the
// message behind the last hop waits for it. Where no log tells, turns count as talk, and the row
// may be longer. What somebody else wrote before a turn was judged keeps its count.
package chain

import (
	"cmp"
	"fmt"
	"slices"
)

const (
	hopsMost    = 8
	blindMost   = 20 // at least, where the log of an agent among them does not tell
	countMost   = 500
	rememberMay = 64 // ids of a turn
)

// Rules are what the user decides.
type Rules struct {
	Hops  int // in a row, after which a chain is paused; 0: 8
	Count int // messages that agents wrote in it, after which it is; 0: 500
}

// Place is where a message stands in its chain.
type Place struct {
	Chain string `json:"chain,omitzero"` // the id of the message that began it
	Hops  int    `json:"hops,omitzero"`  // how many turns in a row have passed it on and did nothing but talk
	Blind bool   `json:"blind,omitzero"` // of one of those no log tells what it did
}

// After is the place of what a turn writes that is at p and was given a message, too, that is at o.
func (p Place) After(o Place) Place {
	p.Hops, p.Blind = max(p.Hops, o.Hops+1), p.Blind || o.Blind
	return p
}

// Far reports whether a message is farther away from work than it may be.
func (r Rules) Far(p Place) bool { return p.Hops > r.hops(p.Blind) }

func (r Rules) hops(blind bool) int {
	most := cmp.Or(r.Hops, hopsMost)
	if blind {
		most = max(most, blindMost)
	}
	return most
}

// Why says why the chain of a message is paused.
func (r Rules) Why(p Place) string {
	if r.Far(p) {
		return fmt.Sprintf("%d hops of nothing but talk", r.hops(p.Blind))
	}
	return fmt.Sprintf("%d messages", cmp.Or(r.Count, countMost))
}

// Held is why a message waits for its chain; 0: it does not.
type Held int

const (
	Yet    Held = iota + 1 // the turn that wrote it is not judged yet
	Paused                 // its chain is paused
	Ended                  // its chain was ended, so it is to be cancelled
)

// Course is how far a chain has come.
type Course struct {
	Count, From int      // messages that agents wrote in it; those at the last resume
	Since       int64    // number of the event that resumed it: earlier messages are at its beginning
	Last        int64    // number of its newest event
	Held        Held     // what becomes of its messages: [Paused], [Ended] or 0
	Names       []string // who has written or got a message of it
}

// Add counts a message that an agent wrote, which the event of that number sends. It returns why
// the message waits for its chain; 0: it does not.
func (c *Course) Add(p Place, seq int64, r Rules, names ...string) Held {
	c.Count, c.Last = c.Count+1, seq
	for _, name := range names {
		if !slices.Contains(c.Names, name) {
			c.Names = append(c.Names, name)
		}
	}
	switch {
	case c.Held != 0:
		return c.Held
	case r.Far(p) || c.Count-c.From > cmp.Or(r.Count, countMost):
		return Yet
	}
	return 0
}

// Turn is what the present turn of an agent was given and wrote.
type Turn struct {
	Given []string // messages that it has, the newest last
	Wrote []string // messages that are judged when it ends
	Logs  bool     // the agent keeps a log, so that ends of turns are told
}

func add(list []string, id string) []string {
	list = append(without(list, id), id)
	return list[max(0, len(list)-rememberMay):]
}

func without(list []string, id string) []string {
	return slices.DeleteFunc(list, func(o string) bool { return o == id })
}

// Gets notes that the agent has a message.
func (t *Turn) Gets(id string) { t.Given = add(t.Given, id) }

// Loses notes that the agent does not have it, or its turn is over.
func (t *Turn) Loses(id string) { t.Given = without(t.Given, id) }

// Has returns what the turn was given. Where nobody tells when turns end, the newest message began
// one.
func (t *Turn) Has() []string {
	if n := len(t.Given); !t.Logs && n > 1 {
		return t.Given[n-1:]
	}
	return t.Given
}

// Writes notes a message that the turn wrote.
func (t *Turn) Writes(id string) { t.Wrote = add(t.Wrote, id) }

// Judges reports whether the end of the turn is to be awaited that wrote a message.
func (t *Turn) Judges(id string) bool { return t.Logs && slices.Contains(t.Wrote, id) }
