// Package rate counts what is bound to so much in a time: messages from one sender to one
// recipient, and refusals that an agent is told of. Times are Unix milliseconds, of whoever asks.
package rate

import "slices"

// Minute is how far back messages count.
const Minute = 60_000

// Sent is a message.
type Sent struct {
	At       int64
	From, To string
}

// Sending is the messages of the last minute, and how many of them are of each pair: there may be a
// hundred thousand, and each sender asks.
type Sending struct {
	list  []Sent // the oldest first
	pairs map[[2]string]int
}

// Of is Sending with those messages, the oldest first.
func Of(list []Sent) (r Sending) {
	for _, o := range list {
		r.add(o)
	}
	return r
}

func (r *Sending) add(o Sent) {
	if r.pairs == nil {
		r.pairs = map[[2]string]int{}
	}
	r.list = append(r.list, o)
	r.pairs[[2]string{o.From, o.To}]++
}

// drop forgets the oldest.
func (r *Sending) drop() {
	o := r.list[0]
	r.list = r.list[1:]
	if pair := [2]string{o.From, o.To}; r.pairs[pair] > 1 {
		r.pairs[pair]--
	} else {
		delete(r.pairs, pair)
	}
}

// ahead reports whether the clock was set back since, so that nothing tells how long ago they were
// sent.
func (r *Sending) ahead(now int64) bool {
	return len(r.list) > 0 && r.list[len(r.list)-1].At > now+Minute
}

// Recent counts those of the minute before now from one to another.
func (r *Sending) Recent(from, to string, now int64) (n int) {
	if r.ahead(now) {
		return 0
	}
	n = r.pairs[[2]string{from, to}]
	for _, o := range r.list {
		if o.At > now-Minute {
			break // those behind it came later
		}
		if o.From == from && o.To == to {
			n--
		}
	}
	return n
}

// Count adds a message.
func (r *Sending) Count(o Sent) {
	for r.ahead(o.At) || len(r.list) > 0 && r.list[0].At <= o.At-Minute {
		r.drop()
	}
	r.add(o)
}

const (
	toldMost = 5
	toldSpan = 60 * Minute
)

// Told is a refusal that an agent was told of.
type Told struct {
	At       int64
	To, Code string
}

// Tells reports whether an agent that was told of a list is told of one more: of one code and
// recipient once an hour, of five an hour in all.
func Tells(list []Told, more Told) bool {
	lately := 0
	for _, o := range list {
		if o.At <= more.At-toldSpan {
			continue
		}
		if lately++; o.To == more.To && o.Code == more.Code {
			return false
		}
	}
	return lately < toldMost
}

// Tell adds one to a list, and leaves out what is too old to count. The list stays as it was.
func Tell(list []Told, more Told) []Told {
	old := func(o Told) bool { return o.At <= more.At-toldSpan }
	return append(slices.DeleteFunc(slices.Clone(list), old), more)
}
