package books

import (
	"cmp"
	"fmt"
	"slices"
)

// most is how many breaches of one invariant Check lists.
const most = 200

// Check returns the breaches of the invariants, at most 200 of each; none when the books
// are in order.
//
//	I1  of each accepted message the events tell that it was queued, the attempts, and one end, in a legal order
//	I2  delivered: its whole text stands where its agent took it, in a turn of its own or of a batch, and is told in that order
//	I3  failed, expired, cancelled: no agent took it
//	I4  no more turns are in doubt than there were kills, and no more messages than those turns may hold
//	I5  no message is taken twice, but one that is to be redelivered, once, marked, after a kill
//	I6  messages of one mode and priority are taken in the order in which they were accepted
//	I7  an agent reads nothing but messages that were sent and the human's keys
//	I8  no key of the human is in a message, between it and its Enter, or submitted with it
//	I9  the human's words all come, in order; of a killed life the beginning
//	I10 each message is typed to its end and submitted, but the last one of a killed life
//	I11 what was refused is never taken, what was not answered only if the events tell of it
//	I12 what was accepted has ended when the run has
func Check(r Run) []Violation {
	c := newChecker(&r)
	c.balance(&r)
	for _, a := range c.agents {
		for _, m := range a.messages {
			c.settle(m, r.Drained)
		}
		c.inOrder(a)
		c.inDoubt(a)
	}
	if !r.Drained {
		c.found("I12", "", "", "the queues did not run empty")
	}
	slices.SortStableFunc(c.all, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(len(a.Invariant), len(b.Invariant)), cmp.Compare(a.Invariant, b.Invariant), cmp.Compare(a.Agent, b.Agent))
	})
	return c.all
}

func newChecker(r *Run) *checker {
	return &checker{ids: make(map[string]*message, len(r.Sends)), agents: map[string]*agent{}, counts: map[string]int{}}
}

// checker holds the books by message and by agent.
type checker struct {
	ids    map[string]*message
	agents map[string]*agent
	all    []Violation
	counts map[string]int // of breaches, by invariant
}

// message is what was sent, and what became of it.
type message struct {
	*Send
	events   int
	queued   int64   // Seq; 0: never
	attempts []int64 // of each, the Seq of the first event of its turn
	trying   bool    // an attempt was the last that was told
	status   string  // its end; "": none
	ended    int64   // Seq
	evidence string
	passages []passage // where it stands, in order
}

// passage is a place where a message stands in what an agent read.
type passage struct {
	life   int
	marked bool // as a redelivery
	whole  bool
	taken  bool // the agent took it: a line program read it and its Enter, a composer submitted it
	back   bool // it was taken back before it was submitted
}

// agent is one agent over its lives.
type agent struct {
	name     string
	readings []*Reading
	words    map[int][]string // the human's, by life
	killed   map[int]bool     // lives
	kills    int
	messages []*message
	seq      int64 // of the last event
	turn     int64 // the first event of the turn of which an attempt was last told; 0: another event came since
	taken    []taking
}

// taking is a message that an agent took.
type taking struct {
	*message
	passage
}

func (c *checker) found(invariant, agent, id, format string, args ...any) {
	if c.counts[invariant]++; c.counts[invariant] <= most {
		c.all = append(c.all, Violation{invariant, agent, id, fmt.Sprintf(format, args...)})
	}
}

// balance goes through all books.
func (c *checker) balance(r *Run) {
	c.enter(r)
	c.hear(r.Events)
	for _, a := range c.agents {
		for _, book := range a.readings {
			c.read(a, book)
		}
	}
}

// enter takes over what was sent, read, typed and done.
func (c *checker) enter(r *Run) {
	for i := range r.Sends {
		s := &r.Sends[i]
		if c.ids[s.ID] != nil {
			c.found("I11", s.Agent, s.ID, "the books have two messages of this id")
			continue
		}
		m := &message{Send: s}
		c.ids[s.ID] = m
		c.agent(s.Agent).messages = append(c.agent(s.Agent).messages, m)
	}
	for i := range r.Readings {
		book := &r.Readings[i]
		a := c.agent(book.Agent)
		a.readings = append(a.readings, book)
		a.killed[book.Life] = book.Killed
	}
	for _, t := range r.Typings {
		a := c.agent(t.Agent)
		a.words[t.Life] = append(a.words[t.Life], t.Words...)
	}
	for _, f := range r.Faults {
		if f.Kind == "kill-wrapper" || f.Kind == "kill-agent" {
			c.agent(f.Agent).kills++
		}
	}
	for _, a := range c.agents {
		slices.SortStableFunc(a.readings, func(x, y *Reading) int { return cmp.Compare(x.Life, y.Life) })
	}
}

func (c *checker) agent(name string) *agent {
	a := c.agents[name]
	if a == nil {
		a = &agent{name: name, words: map[int][]string{}, killed: map[int]bool{}}
		c.agents[name] = a
	}
	return a
}

// settle holds what became of one message against what was said of it.
func (c *checker) settle(m *message, drained bool) {
	c.ends(m, drained)
	c.stands(m)
	c.once(m)
	c.promised(m)
}

// ends is I12, and of I1 that there is an end.
func (c *checker) ends(m *message, drained bool) {
	switch {
	case m.events == 0 && m.accepted():
		c.found("I12", m.Agent, m.ID, "was accepted and is lost: no event tells of it")
	case m.events > 0 && m.status == "" && drained:
		c.found("I1", m.Agent, m.ID, "has no end")
	case m.events > 0 && m.status == "":
		c.found("I12", m.Agent, m.ID, "has not ended")
	}
}

// accepted says whether the sender was told so; any status is as good as queued.
func (m *message) accepted() bool {
	return m.Answer == "queued" || m.Answer == "injecting" || terminal(m.Answer)
}

func (m *message) refused() bool { return m.Answer != "" && !m.accepted() }

// times is how often the message was taken.
func (m *message) times() int {
	n := 0
	for _, p := range m.passages {
		if p.taken {
			n++
		}
	}
	return n
}

// stands is I3, and of I2 that the text is there.
func (c *checker) stands(m *message) {
	switch n := m.times(); m.status {
	case "delivered":
		if n == 0 {
			c.found("I2", m.Agent, m.ID, "is delivered by %s, and the agent did not take it whole", m.evidence)
		}
	case "failed", "expired", "cancelled":
		if n > 0 {
			c.found("I3", m.Agent, m.ID, "is %s, and the agent took it", m.status)
		}
	}
}

// once is I5.
func (c *checker) once(m *message) {
	a := c.agent(m.Agent)
	before, marked := 0, 0 // the lives in which it was typed last, at all and marked
	for _, p := range m.passages {
		switch {
		case p.back:
			continue
		case p.marked && m.Redelivery != "once":
			c.found("I5", m.Agent, m.ID, "is marked as a redelivery, which its sender did not want")
		case p.marked && (len(m.attempts) < 2 || !a.killedBefore(p.life)):
			c.found("I5", m.Agent, m.ID, "is marked as a redelivery, and there was no attempt that a kill had ended")
		case p.marked && marked != 0 && marked != p.life:
			c.found("I5", m.Agent, m.ID, "is a redelivery in life %d and again in life %d", marked, p.life)
		case !p.marked && before != 0 && before != p.life:
			c.found("I5", m.Agent, m.ID, "is typed in life %d and again in life %d, where it is not marked", before, p.life)
		}
		if before = p.life; p.marked {
			marked = p.life
		}
	}
	lives := map[int]bool{}
	for _, p := range m.passages {
		if p.taken && lives[p.life] {
			c.found("I5", m.Agent, m.ID, "was taken twice in life %d", p.life)
		}
		lives[p.life] = lives[p.life] || p.taken
	}
}

func (a *agent) killedBefore(life int) bool {
	for l := range a.killed {
		if l < life && a.killed[l] {
			return true
		}
	}
	return false
}

// promised is I11.
func (c *checker) promised(m *message) {
	switch n := m.times(); {
	case m.refused() && n > 0:
		c.found("I11", m.Agent, m.ID, "was refused with %s, and the agent took it", m.Answer)
	case m.refused() && m.events > 0:
		c.found("I11", m.Agent, m.ID, "was refused with %s, and events tell of it", m.Answer)
	case m.events == 0 && n > 0:
		c.found("I11", m.Agent, m.ID, "was taken, and no event tells of it")
	}
}
