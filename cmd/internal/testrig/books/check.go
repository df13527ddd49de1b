package books

import (
	"cmp"
	"fmt"
	"regexp"
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
	c := balance(&r)
	for _, a := range c.agents {
		for _, m := range a.messages {
			c.settle(m, r.Drained)
		}
		c.inOrder(a)
		if d := a.doubts(); d.Turns > a.kills {
			c.found("I4", a.name, "", "%d messages of %d turns were in doubt, after %d kills", d.Messages, d.Turns, a.kills)
		}
	}
	if !r.Drained {
		c.found("I12", "", "", "the queues did not run empty")
	}
	slices.SortStableFunc(c.all, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(len(a.Invariant), len(b.Invariant)), cmp.Compare(a.Invariant, b.Invariant), cmp.Compare(a.Agent, b.Agent))
	})
	return c.all
}

// balance goes through all books.
func balance(r *Run) *checker {
	c := &checker{ids: make(map[string]*message, len(r.Sends)), agents: map[string]*agent{}, counts: map[string]int{}}
	c.enter(r)
	c.hear(r.Events)
	for _, a := range c.agents {
		for _, book := range a.readings {
			c.read(a, book)
		}
	}
	return c
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
	history  string    // each status that was told, behind a blank
	queued   int64     // Seq; 0: never
	attempts []int64   // of each, the Seq of the first event of its turn
	end      *Event    // nil: none
	passages []passage // where it stands, in order
}

// is says how the message ended.
func (m *message) is(status ...string) bool {
	return m.end != nil && slices.Contains(status, m.end.Status)
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
	kills    int
	messages []*message
	seq      int64 // of the last event
	turn     int64 // the first event of the turn of which an attempt was last told; 0: another event came since
	taken    []taking
}

// taking is a message where an agent took it, or where it was typed.
type taking struct {
	*message
	passage
}

func (c *checker) found(invariant, agent, id, format string, args ...any) {
	if c.counts[invariant]++; c.counts[invariant] <= most {
		c.all = append(c.all, Violation{invariant, agent, id, fmt.Sprintf(format, args...)})
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
		a = &agent{name: name, words: map[int][]string{}}
		c.agents[name] = a
	}
	return a
}

// settle holds what became of one message against what was said of it.
func (c *checker) settle(m *message, drained bool) {
	c.ends(m, drained)
	c.once(m)
	n := m.times()
	switch {
	case m.is("delivered") && n == 0:
		c.found("I2", m.Agent, m.ID, "is delivered by %s, and the agent did not take it whole", m.end.Evidence)
	case m.is("failed", "expired", "cancelled") && n > 0:
		c.found("I3", m.Agent, m.ID, "is %s, and the agent took it", m.end.Status)
	}
	switch refused := m.Answer != "" && m.Answer != "queued"; {
	case refused && n > 0:
		c.found("I11", m.Agent, m.ID, "was refused with %s, and the agent took it", m.Answer)
	case refused && m.history != "":
		c.found("I11", m.Agent, m.ID, "was refused with %s, and events tell of it", m.Answer)
	case m.history == "" && n > 0:
		c.found("I11", m.Agent, m.ID, "was taken, and no event tells of it")
	}
}

// legal are the orders of events.
var legal = regexp.MustCompile(`^ queued( injecting)*( failed| expired| cancelled)?$|^ queued( injecting)+ (delivered|unknown)$`)

// ends is I12, and of I1 the order of the events.
func (c *checker) ends(m *message, drained bool) {
	switch {
	case m.history == "" && m.Answer == "queued":
		c.found("I12", m.Agent, m.ID, "was accepted and is lost: no event tells of it")
	case m.history != "" && !legal.MatchString(m.history):
		c.found("I1", m.Agent, m.ID, "its events are in no legal order:%s", m.history)
	case m.history != "" && m.end == nil && drained:
		c.found("I1", m.Agent, m.ID, "has no end")
	case m.history != "" && m.end == nil:
		c.found("I12", m.Agent, m.ID, "has not ended")
	}
}

// times is how often the message was taken.
func (m *message) times() (n int) {
	for _, p := range m.passages {
		if p.taken {
			n++
		}
	}
	return n
}

// once is I5.
func (c *checker) once(m *message) {
	var before, marked, taken int // the lives in which it was typed last, at all and marked, and taken last
	for _, p := range m.passages {
		if p.taken && taken == p.life {
			c.found("I5", m.Agent, m.ID, "was taken twice in life %d", p.life)
		}
		switch {
		case p.back:
			continue
		case p.marked && m.Redelivery != "once":
			c.found("I5", m.Agent, m.ID, "is marked as a redelivery, which its sender did not want")
		case p.marked && (len(m.attempts) < 2 || !c.agent(m.Agent).killedBefore(p.life)):
			c.found("I5", m.Agent, m.ID, "is marked as a redelivery, and there was no attempt that a kill had ended")
		case p.marked && marked != 0 && marked != p.life:
			c.found("I5", m.Agent, m.ID, "is a redelivery in life %d and again in life %d", marked, p.life)
		case !p.marked && before != 0 && before != p.life:
			c.found("I5", m.Agent, m.ID, "is typed in life %d and again in life %d, where it is not marked", before, p.life)
		}
		if before = p.life; p.marked {
			marked = p.life
		}
		if p.taken {
			taken = p.life
		}
	}
}

func (a *agent) killedBefore(life int) bool {
	return slices.ContainsFunc(a.readings, func(r *Reading) bool { return r.Killed && r.Life < life })
}

// hear goes through the events: I1.
func (c *checker) hear(events []Event) {
	for i := range events {
		e := &events[i]
		a := c.agent(e.Agent)
		if e.Seq <= a.seq {
			c.found("I1", e.Agent, e.ID, "event %d, %s, comes behind event %d", e.Seq, e.Status, a.seq)
		}
		switch {
		case e.Status != "injecting":
			a.turn = 0
		case e.Seq != a.seq+1 || a.turn == 0:
			a.turn = e.Seq
		}
		a.seq = e.Seq
		if m := c.ids[e.ID]; m != nil && m.Agent == e.Agent {
			c.told(m, e, a.turn)
			continue
		}
		c.found("I1", e.Agent, e.ID, "event %d, %s, is about a message that was not sent there", e.Seq, e.Status)
	}
}

// told is one event of a message; turn is the first event of the turn that begins.
func (c *checker) told(m *message, e *Event, turn int64) {
	m.history += " " + e.Status
	switch e.Status {
	case "queued":
		m.queued = e.Seq
		return
	case "injecting":
		m.attempts = append(m.attempts, turn)
	default:
		m.end = e
	}
	switch {
	case e.Attempt != len(m.attempts):
		c.found("I1", m.Agent, m.ID, "event %d: %s at attempt %d, want %d", e.Seq, e.Status, e.Attempt, len(m.attempts))
	case m.is("delivered") && !slices.Contains([]string{"turn", "submitted", "pulled", "echo", "consumed"}, e.Evidence):
		c.found("I1", m.Agent, m.ID, "event %d: delivered by %q, which is no evidence", e.Seq, e.Evidence)
	case m.is("failed", "unknown") && (e.Fault == nil || e.Fault.Code == ""):
		c.found("I1", m.Agent, m.ID, "event %d: %s without a code", e.Seq, e.Status)
	}
}

// inOrder is I6, and of I2 that deliveries are told in the order in which the agent took
// the messages.
func (c *checker) inOrder(a *agent) {
	type lane struct {
		priority int64
		mode     string
	}
	var told *message
	last, later := map[lane]*message{}, map[*message]int{}
	for i, t := range a.taken {
		later[t.message] = i // of those taken more than once, the last counts
	}
	seen := map[*message]bool{}
	for i, t := range a.taken {
		m := t.message
		if m.Agent != a.name || m.queued == 0 {
			continue
		}
		if l := (lane{m.Priority, m.Mode}); !seen[m] && !t.marked {
			if before := last[l]; before != nil && before.queued > m.queued {
				c.found("I6", a.name, m.ID, "comes behind %s, which was accepted later", before.ID)
			} else {
				last[l] = m
			}
		}
		seen[m] = true
		if !m.is("delivered") || m.end.Evidence == "turn" || later[m] != i {
			continue
		}
		if told != nil && told.end.Seq > m.end.Seq {
			c.found("I2", a.name, m.ID, "is told as delivered before %s, which the agent took before it", told.ID)
		} else {
			told = m
		}
	}
}

// Doubt is how much was in doubt: ended as unknown, or was marked as a redelivery.
type Doubt struct{ Messages, Turns, Kills int }

// Doubts counts over all agents.
func Doubts(r Run) (all Doubt) {
	for _, a := range balance(&r).agents {
		d := a.doubts()
		all = Doubt{all.Messages + d.Messages, all.Turns + d.Turns, all.Kills + d.Kills}
	}
	return all
}

// doubts counts the turns, each known by its first event. Which attempt of a redelivered
// message was the one in doubt is not told, so the fewest turns that explain all count.
func (a *agent) doubts() Doubt {
	d := Doubt{Kills: a.kills}
	turns := map[int64]bool{}
	var unexplained [][]int64 // of each redelivered message, the turns that may be the one
	for _, m := range a.messages {
		n := len(m.attempts)
		marked := n > 1 && slices.ContainsFunc(m.passages, func(p passage) bool { return p.marked })
		if marked {
			unexplained = append(unexplained, m.attempts[:n-1])
		}
		if m.is("unknown") && n > 0 {
			turns[m.attempts[n-1]] = true
		}
		if marked || m.is("unknown") {
			d.Messages++
		}
	}
	explained := func(may []int64) bool {
		return slices.ContainsFunc(may, func(turn int64) bool { return turns[turn] })
	}
	for {
		unexplained = slices.DeleteFunc(unexplained, explained)
		if len(unexplained) == 0 {
			d.Turns = len(turns)
			return d
		}
		turns[commonest(slices.Concat(unexplained...))] = true
	}
}

// commonest is the turn that is there most often; of several the first.
func commonest(turns []int64) (best int64) {
	counts := map[int64]int{}
	for _, turn := range turns {
		counts[turn]++
	}
	for turn, n := range counts {
		if n > counts[best] || n == counts[best] && turn < best {
			best = turn
		}
	}
	return best
}
