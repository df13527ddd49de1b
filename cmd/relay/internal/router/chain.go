package router

import (
	"maps"
	"slices"

	"relay-pty/cmd/relay/internal/chain"
	"relay-pty/protocol"
)

// Types of events about chains, which ID began.
const (
	TypeChainPaused  = "chain_paused"  // its messages wait; Reason says why
	TypeChainResumed = "chain_resumed" // they go on, as far again
	TypeChainEnded   = "chain_ended"   // they are cancelled, those under way and those to come
)

// first is the message that has the course of a message's chain: the one that began it, or itself
// where that is no longer kept.
func (s *State) first(m *Known) *Known {
	if o := s.look(m.Chain); o != nil {
		return o.root()
	}
	return m.root()
}

// Link puts a message that was admitted into its chain. e is the event by which a wrapper told of
// it. Where that tells no turn, the messages count that the agent has by now. What re= says counts
// where nothing was given or it is of that, and where the agent has part in it: nobody's chain is
// used up by others.
func (s *State) Link(m Message, e Event) Message {
	m.Place = chain.Place{Chain: m.ID}
	a := s.agents[m.From]
	if a == nil || !a.Wrapped {
		return m
	}
	ids := e.IDs
	if e.Tools == nil {
		ids = a.Turn.Has()
	}
	var given []*Known
	for _, id := range ids {
		if o := s.look(id); o != nil && o.mine(m.From).To == m.From {
			given = append(given, o.mine(m.From))
		}
	}
	if o := s.look(m.ReplyTo); o != nil && (o.To == m.From || o.From == m.From) &&
		(len(given) == 0 || slices.ContainsFunc(given, func(g *Known) bool { return g.ID == o.ID })) {
		given = append(given, o)
	}
	if len(given) == 0 {
		return m
	}
	first := s.first(given[len(given)-1])
	m.Chain = first.ID
	if e.Tools != nil && *e.Tools > 0 {
		return m
	}
	m.Blind = e.Tools == nil && !a.Turn.Logs
	for _, o := range given {
		switch {
		case o.Worked || s.first(o).ID != m.Chain:
		case o.Seq <= first.Course.Since:
			m.Place = m.After(chain.Place{})
		default:
			m.Place = m.After(o.Place)
		}
	}
	return m
}

// count counts a message that goes to one recipient in its chain, and holds it where the chain may
// go no further. The human reads when he likes, and what nobody's turn brought about is not held.
func (s *State) count(m *Known) {
	if m.From == Relay || m.To == Human {
		return
	}
	if first := s.find(m.Chain); first != nil && first != m.root() {
		m.Held = first.Course.Add(m.Place, m.Seq, s.Rules.Chains, m.From, m.To)
	}
}

// given keeps that an agent has a message, or does not get it after all.
func (s *State) given(m *Known, e Event) {
	a := s.agent(m.To)
	switch {
	case a == nil || m.Turned:
	case e.Status == protocol.StatusInjecting || e.Status == protocol.StatusDelivered:
		a.Turn.Gets(m.ID)
		a.Turn.Logs = a.Turn.Logs || e.Evidence == protocol.EvidenceTurn
	case protocol.Terminal(e.Status):
		a.Turn.Loses(m.ID)
	}
}

// wrote keeps that a turn wrote a message, which is judged with it.
func (s *State) wrote(a *Agent, m *Known, e Event) {
	a.Turn.Logs = a.Turn.Logs || e.Tools != nil
	if m.Hops > 0 && (e.Tools != nil || len(a.Turn.Given) > 0) {
		a.Turn.Writes(m.ID)
	}
}

// judge keeps that a turn ended. With one that worked a new row of hops begins, in what it wrote
// and in what is written about what it was given; what waited for that goes on, unless its chain is
// paused or has too many messages.
func (s *State) judge(a *Agent, e Event) {
	worked := e.Tools != nil && *e.Tools > 0
	for _, id := range a.Turn.Wrote {
		if m := s.find(id); m != nil && worked {
			for _, one := range append(slices.Clone(m.Deliveries), m) {
				s.touch(one)
				far := s.Rules.Chains.Far(one.Place)
				if one.Hops, one.Blind = 0, false; far && one.Held == chain.Yet {
					s.free(one)
				}
			}
		}
	}
	a.Turn.Wrote, a.Turn.Logs = nil, a.Turn.Logs || e.Tools != nil
	for _, id := range e.IDs {
		if m := s.find(id); m != nil && m.To == a.Name && !e.Background {
			m.Turned, m.Worked = true, m.Worked || worked
			a.Turn.Loses(m.ID)
		}
	}
}

func (s *State) free(m *Known) {
	m.Held, s.freed = 0, append(s.freed, m.To)
	s.watch(m)
}

// Freed returns the recipients of messages that no longer wait for their chain since the last call.
func (s *State) Freed() (names []string) {
	names, s.freed = s.freed, nil
	return names
}

// Overrun returns the events about messages that may go no further: they pause chains whose last
// turn has ended, or of which nobody tells, and cancel what comes of one that was ended.
func (s *State) Overrun() (list []Event) {
	told := map[string]bool{}
	for _, m := range s.fleeting() {
		from := s.agents[m.From]
		switch {
		case m.Held == chain.Ended && m.Status == StatusAccepted:
			list = append(list, m.Outcome(Result{Status: protocol.StatusCancelled}))
		case m.Held == chain.Yet && !told[m.Chain] && !(from != nil && from.Turn.Judges(m.root().ID)):
			told[m.Chain] = true
			list = append(list, s.chainEvent(TypeChainPaused, s.first(m)))
			list[len(list)-1].Reason = s.Rules.Chains.Why(m.Place)
		}
	}
	return list
}

func (s *State) chainEvent(kind string, first *Known) Event {
	return Event{Type: kind, Message: Message{ID: first.ID, ShortID: first.ShortID}}
}

// Chain returns the message that began the chain of one, and those of it that are under way. as, an
// agent, must have part in it; "" is a person. A refusal is an *ErrorValue.
func (s *State) Chain(id, as string) (first Known, open []string, err error) {
	m := s.look(id)
	if m == nil {
		return first, nil, NoMessage(id)
	}
	f := s.first(m)
	if as != "" && as != f.From && as != f.mine(as).To && as != m.From && as != m.mine(as).To && !slices.Contains(f.Course.Names, as) {
		return first, nil, Refusal(protocol.NotAuthorized, "%s has no part in the chain of %s", as, f.ShownID())
	}
	all := slices.Clone(s.later)
	for _, name := range slices.Sorted(maps.Keys(s.inboxes)) {
		all = append(all, s.inboxes[name]...)
	}
	for _, o := range all {
		if s.first(o).ID == f.ID && (o.ID == f.ID || o.To != Human && o.From != Relay) {
			open = append(open, o.ID)
		}
	}
	return f.Copy(), open, nil
}

// Steers is the event that lets the chain go on which a message began, or ends it; news is false
// where that is so already. A refusal is an *ErrorValue.
func (s *State) Steers(first Known, on bool) (e Event, news bool, err error) {
	switch is := first.Course.Held; {
	case !on:
		return s.chainEvent(TypeChainEnded, &first), is != chain.Ended, nil
	case is == chain.Ended:
		return e, false, Refusal(protocol.TooLate, "the chain of %s was ended", first.ShownID())
	default:
		return s.chainEvent(TypeChainResumed, &first), is == chain.Paused, nil
	}
}

// course keeps that a chain was paused or ended, or goes on.
func (s *State) course(e Event) {
	first := s.find(e.ID)
	if first == nil {
		return
	}
	first.note(e.Seq)
	c := &first.Course
	c.Last, c.Held = e.Seq, map[string]chain.Held{TypeChainPaused: chain.Paused, TypeChainEnded: chain.Ended}[e.Type]
	if c.Held == 0 {
		c.From, c.Since = c.Count, e.Seq
	}
	for _, inbox := range s.inboxes {
		for _, m := range inbox {
			if m.Chain != e.ID || m.From == Relay || m.root() == first || m.To == Human || m.Held == c.Held {
				continue
			}
			if s.touch(m); c.Held == 0 {
				s.free(m)
			} else {
				m.Held = c.Held
				s.watch(m)
			}
		}
	}
}
