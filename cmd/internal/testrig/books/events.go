package books

import "slices"

// hear goes through the events: I1.
func (c *checker) hear(events []Event) {
	for i := range events {
		e := &events[i]
		a := c.agent(e.Agent)
		if e.Seq <= a.seq {
			c.found("I1", e.Agent, e.ID, "event %d, %s, comes behind event %d", e.Seq, e.Status, a.seq)
		}
		follows := e.Seq == a.seq+1
		a.seq = e.Seq
		m := c.ids[e.ID]
		if m == nil || m.Agent != e.Agent {
			c.found("I1", e.Agent, e.ID, "event %d, %s, is about a message that was not sent there", e.Seq, e.Status)
			continue
		}
		if e.Status != "injecting" || !follows || a.turn == 0 {
			a.turn = e.Seq
		}
		c.told(m, e, a.turn)
		if e.Status != "injecting" {
			a.turn = 0
		}
	}
}

// told is one event of a message; turn is the first event of the turn that begins.
func (c *checker) told(m *message, e *Event, turn int64) {
	if m.status != "" {
		c.found("I1", m.Agent, m.ID, "event %d, %s, comes after its end, %s", e.Seq, e.Status, m.status)
		return
	}
	m.events++
	switch {
	case e.Status == "queued":
		if m.events > 1 {
			c.found("I1", m.Agent, m.ID, "event %d: queued again", e.Seq)
		}
		m.queued = e.Seq
		return
	case m.queued == 0:
		c.found("I1", m.Agent, m.ID, "event %d, %s: never queued", e.Seq, e.Status)
	}
	switch {
	case e.Status == "injecting":
		m.attempts, m.trying = append(m.attempts, turn), true
		if e.Attempt != len(m.attempts) {
			c.found("I1", m.Agent, m.ID, "event %d: attempt %d, want %d", e.Seq, e.Attempt, len(m.attempts))
		}
	case terminal(e.Status):
		c.toldEnd(m, e)
	default:
		c.found("I1", m.Agent, m.ID, "event %d: there is no status %q", e.Seq, e.Status)
	}
}

func (c *checker) toldEnd(m *message, e *Event) {
	m.status, m.ended, m.evidence = e.Status, e.Seq, e.Evidence
	tried := e.Status == "delivered" || e.Status == "unknown"
	switch {
	case tried && !m.trying:
		c.found("I1", m.Agent, m.ID, "event %d: %s without an attempt", e.Seq, e.Status)
	case e.Attempt != len(m.attempts):
		c.found("I1", m.Agent, m.ID, "event %d: %s at attempt %d, want %d", e.Seq, e.Status, e.Attempt, len(m.attempts))
	case e.Status == "delivered" && !slices.Contains([]string{"turn", "submitted", "pulled", "echo", "consumed"}, e.Evidence):
		c.found("I1", m.Agent, m.ID, "event %d: delivered by %q, which is no evidence", e.Seq, e.Evidence)
	case (e.Status == "failed" || e.Status == "unknown") && e.Code == "":
		c.found("I1", m.Agent, m.ID, "event %d: %s without a code", e.Seq, e.Status)
	}
}

func terminal(status string) bool {
	return slices.Contains([]string{"delivered", "failed", "expired", "cancelled", "unknown"}, status)
}

// inOrder is I6, and of I2 that deliveries are told in the order in which the agent took
// the messages.
func (c *checker) inOrder(a *agent) {
	type lane struct {
		priority int
		mode     string
	}
	var told *message
	last := map[lane]*message{}
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
		if m.status != "delivered" || m.evidence == "turn" || m.again(a.taken[i+1:]) {
			continue
		}
		if told != nil && told.ended > m.ended {
			c.found("I2", a.name, m.ID, "is told as delivered before %s, which the agent took before it", told.ID)
		} else {
			told = m
		}
	}
}

// again says whether the message is taken once more later on.
func (m *message) again(later []taking) bool {
	if m.times() < 2 {
		return false
	}
	return slices.ContainsFunc(later, func(t taking) bool { return t.message == m })
}

// inDoubt is I4.
func (c *checker) inDoubt(a *agent) {
	if d := a.doubts(); d.Turns > a.kills {
		c.found("I4", a.name, "", "%d messages of %d turns were in doubt, after %d kills", d.Messages, d.Turns, a.kills)
	}
}

// Doubt is how much was in doubt: ended as unknown, or was marked as a redelivery.
type Doubt struct{ Messages, Turns, Kills int }

// Doubts counts over all agents.
func Doubts(r Run) Doubt {
	c := newChecker(&r)
	c.balance(&r)
	var all Doubt
	for _, a := range c.agents {
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
	var open [][]int64 // of each redelivered message, the turns that may be the one
	for _, m := range a.messages {
		n := len(m.attempts)
		marked := n > 1 && slices.ContainsFunc(m.passages, func(p passage) bool { return p.marked })
		if marked {
			open = append(open, m.attempts[:n-1])
		}
		if m.status == "unknown" && n > 0 {
			turns[m.attempts[n-1]] = true
		}
		if marked || m.status == "unknown" {
			d.Messages++
		}
	}
	explained := func(may []int64) bool {
		return slices.ContainsFunc(may, func(turn int64) bool { return turns[turn] })
	}
	for open = slices.DeleteFunc(open, explained); len(open) > 0; open = slices.DeleteFunc(open, explained) {
		turns[commonest(open)] = true
	}
	d.Turns = len(turns)
	return d
}

// commonest is the turn that is in most of the lists; of several the first.
func commonest(lists [][]int64) int64 {
	counts := map[int64]int{}
	var best int64
	for _, list := range lists {
		for _, turn := range list {
			counts[turn]++
			if n := counts[turn] - counts[best]; n > 0 || n == 0 && turn < best {
				best = turn
			}
		}
	}
	return best
}
