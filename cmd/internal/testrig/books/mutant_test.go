package books

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// mutant is one way in which books can be wrong. apply is false when there is nothing in
// them to which it could be done.
type mutant struct {
	name, breaks string
	kills        bool // the books must have some
	apply        func(*cook) bool
}

// cook is who makes the books wrong.
type cook struct {
	*Run
	rnd *rand.Rand
}

// pick is the index of a random one of n for which ok holds, or -1.
func (c *cook) pick(n int, ok func(int) bool) int {
	for _, i := range c.rnd.Perm(n) {
		if ok(i) {
			return i
		}
	}
	return -1
}

// event is a random event of a status, or nil.
func (c *cook) event(status string) *Event {
	i := c.pick(len(c.Events), func(i int) bool { return c.Events[i].Status == status })
	if i < 0 {
		return nil
	}
	return &c.Events[i]
}

func (c *cook) send(id string) *Send {
	return &c.Sends[slices.IndexFunc(c.Sends, func(s Send) bool { return s.ID == id })]
}

// find is the reading in which a message stands once, as its only one, with its place.
func (c *cook) find(id string) (book *Reading, from, to int) {
	for i := range c.Readings {
		text := string(c.Readings[i].Bytes)
		n := strings.Count(text, "[relay "+id+" from") // of m-1 there are more
		if n == 0 {
			continue
		}
		if n > 1 || book != nil {
			return nil, 0, 0
		}
		book, from = &c.Readings[i], strings.Index(text, "[relay "+id+" from")
		end := "\n" + (&simMessage{Send: *c.send(id)}).footer()
		if to = strings.Index(text, end) + len(end); to < len(end) {
			return nil, 0, 0
		}
	}
	return book, from, to
}

// delivered is the event of a message that was delivered and stands in one place alone.
func (c *cook) delivered(line bool) (e *Event, book *Reading, from, to int) {
	i := c.pick(len(c.Events), func(i int) bool {
		if c.Events[i].Status != "delivered" || c.Events[i].Attempt != 1 {
			return false
		}
		book, from, to = c.find(c.Events[i].ID)
		return book != nil && book.Line == line
	})
	if i < 0 {
		return nil, nil, 0, 0
	}
	return &c.Events[i], book, from, to
}

// text changes what was read, and what was taken, at a place that is the same in both.
func (b *Reading) text(at int, cut int, put string) {
	was := string(b.Bytes)
	old := was[max(0, at-12):min(len(was), at+cut+12)]
	changed := was[max(0, at-12):at] + put + was[at+cut:min(len(was), at+cut+12)]
	b.Bytes = []byte(was[:at] + put + was[at+cut:])
	plain := strings.NewReplacer(pasteOpen, "", pasteClose, "")
	for i, turn := range b.Turns {
		b.Turns[i] = strings.Replace(turn, plain.Replace(old), plain.Replace(changed), 1)
	}
	if b.Line {
		b.Turns = nil
	}
}

// human is a word of the human's that came, with its place.
func (c *cook) human(line, killed bool) (book *Reading, word string, at int) {
	i := c.pick(len(c.Typings), func(i int) bool {
		typing := c.Typings[i]
		for j := range c.Readings {
			if b := &c.Readings[j]; b.Agent == typing.Agent && b.Life == typing.Life && b.Line == line && b.Killed == killed {
				book = b
			}
		}
		if len(typing.Words) < 3 || book == nil || book.Life != typing.Life || book.Agent != typing.Agent {
			return false
		}
		word = typing.Words[len(typing.Words)/2]
		at = strings.Index(string(book.Bytes), word)
		return at >= 0 && strings.Contains(string(book.Bytes), typing.Words[len(typing.Words)/2+1])
	})
	if i < 0 {
		return nil, "", 0
	}
	return book, word, at
}

// last is where the last message of a life begins and ends that no kill ended.
func (c *cook) last(line bool) (book *Reading, from, to int) {
	i := c.pick(len(c.Readings), func(i int) bool {
		b := &c.Readings[i]
		from = strings.LastIndex(string(b.Bytes), "\n[end ")
		to = from + strings.Index(string(b.Bytes[max(from, 0):]), "…>>>]") + len("…>>>]")
		if b.Killed || b.Line != line || from <= 0 {
			return false
		}
		rest := strings.TrimPrefix(string(b.Bytes[to:]), pasteClose)
		return rest != "" && (rest[0] == '\r' || rest[0] == '\n')
	})
	if i < 0 {
		return nil, 0, 0
	}
	return &c.Readings[i], from, to
}

func (c *cook) without(id string) {
	c.Events = slices.DeleteFunc(c.Events, func(e Event) bool { return e.ID == id })
}

// status changes the end of delivered messages.
func status(to string) func(*cook) bool {
	return func(c *cook) bool {
		e, _, _, _ := c.delivered(c.rnd.IntN(2) == 0)
		if e == nil {
			return false
		}
		e.Status, e.Evidence, e.Code = to, "", "stranded"
		return true
	}
}

// inText changes a delivered text at a random place of its body.
func inText(line bool, cut int, put string) func(*cook) bool {
	return func(c *cook) bool {
		e, book, from, to := c.delivered(line)
		if e == nil {
			return false
		}
		begins := e.ID + " " + c.send(e.ID).From // of the body
		book.text(from+strings.Index(string(book.Bytes[from:to]), begins)+len(e.ID), cut, put)
		return true
	}
}

// turn is a random turn of messages that a composer took.
func (c *cook) turn() (book *Reading, at int) {
	i := c.pick(len(c.Readings), func(i int) bool {
		at = slices.IndexFunc(c.Readings[i].Turns, func(s string) bool { return strings.HasPrefix(s, "[relay ") })
		return at >= 0 && !c.Readings[i].Line && !c.Readings[i].Killed
	})
	return &c.Readings[i], at
}

// tried is the number of a message's first attempt.
func (c *cook) tried(id string) int64 {
	i := slices.IndexFunc(c.Events, func(e Event) bool { return e.ID == id && e.Status == "injecting" })
	return c.Events[i].Seq
}

// event changes an event of a status.
func event(status string, change func(*Event)) func(*cook) bool {
	return func(c *cook) bool {
		e := c.event(status)
		if e != nil {
			change(e)
		}
		return e != nil
	}
}

// more adds an event behind all others of the agent.
func more(of string, change func(*Event)) func(*cook) bool {
	return func(c *cook) bool {
		e := c.event(of)
		if e == nil {
			return false
		}
		added := *e
		for _, other := range c.Events {
			if other.Agent == e.Agent {
				added.Seq = max(added.Seq, other.Seq+5)
			}
		}
		change(&added)
		c.Events = append(c.Events, added)
		return true
	}
}

// swap exchanges the messages of two events of an agent.
func swap(status string, fit func(c *cook, a, b *Event) bool) func(*cook) bool {
	return func(c *cook) bool {
		for range 2000 {
			a, b := c.event(status), c.event(status)
			if a != nil && a.Agent == b.Agent && a.Seq < b.Seq && fit(c, a, b) {
				a.ID, b.ID = b.ID, a.ID
				return true
			}
		}
		return false
	}
}

// once says whether a message was typed once and delivered.
func (c *cook) once(id string) bool {
	book, _, _ := c.find(id)
	i := slices.IndexFunc(c.Events, func(e Event) bool { return e.ID == id && terminal(e.Status) })
	return book != nil && i >= 0 && c.Events[i].Status == "delivered" && c.Events[i].Attempt == 1
}

func TestEveryMutantIsCaught(t *testing.T) {
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			applied := 0
			for seed := range uint64(runs(6, 12)) {
				s := &sim{rnd: rand.New(rand.NewPCG(seed, 0)), size: 300}
				if m.kills {
					s.kills = 60
				}
				r := s.books(4, 300)
				if v := Check(*r); len(v) > 0 {
					t.Fatalf("seed %d: the books are not clean to begin with: %v", seed, v[0])
				}
				if !m.apply(&cook{r, rand.New(rand.NewPCG(seed, 1))}) {
					continue
				}
				applied++
				v := Check(*r)
				if !slices.ContainsFunc(v, func(v Violation) bool { return v.Invariant == m.breaks }) {
					t.Errorf("seed %d: %s is not broken, but %v", seed, m.breaks, v[:min(3, len(v))])
				}
			}
			if applied < 2 {
				t.Errorf("applied to %d books", applied)
			}
		})
	}
	t.Logf("%d mutants", len(mutants))
}
