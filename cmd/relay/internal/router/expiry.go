package router

import (
	"cmp"
	"maps"
	"slices"

	"relay-pty/protocol"
)

// forget leaves out the scripts that nobody has heard of for as long as agents are known, and the
// names for which nothing waits any more. Of an agent an event says so.
func (s *State) forget(now int64) {
	for name, a := range s.agents {
		if name == Human || a.Wrapped || a.Seen > now-knownFor && !a.Awaited || len(s.inboxes[name]) > 0 {
			continue
		}
		s.unknow(name)
	}
}

// unknow forgets a name. It leaves its channels, too.
func (s *State) unknow(name string) {
	s.agent(name)
	delete(s.agents, name)
	for _, channel := range s.Channels() {
		s.sit(Member{channel, name}, false)
	}
}

// Expiring returns the messages that no wrapper has and whose time is over, and when the next one's
// will be, in Unix milliseconds; 0: none.
func (s *State) Expiring(now int64) (over []Known, next int64) {
	for _, m := range s.fleeting() {
		switch end := s.expires(m); {
		case end == 0:
		case end <= now:
			over = append(over, m.Copy())
		default:
			next = Sooner(next, end)
		}
	}
	return over, next
}

// fleeting are the messages that time or their chain may end, as they came. All others wait for
// whoever reads them, and may be very many.
func (s *State) fleeting() (list []*Known) {
	list = slices.Collect(maps.Values(s.watched))
	for name, a := range s.agents {
		if a.absent() {
			list = append(list, s.inboxes[name]...)
		}
	}
	slices.SortFunc(list, func(a, b *Known) int { return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.ID, b.ID)) })
	return slices.Compact(list)
}

// watch has a message looked at if its time or chain may end it, wherever it goes.
func (s *State) watch(m *Known) {
	if delete(s.watched, m.ID); !Ended(m.Status) && (m.TimeoutMS > 0 || m.From == Relay || m.Held != 0) {
		s.watched[m.ID] = m
	}
}

// absent reports whether it is an agent that does not run, or a name that is yet to come.
func (a *Agent) absent() bool { return a != nil && (a.Wrapped && !a.Running || a.Awaited) }

// expires is when a message that no wrapper and no reader has is over, in Unix milliseconds; 0:
// never. One without a timeout of its own waits for its recipient to run, if that is an agent or a
// name that is yet to come: for a while where it was sent to that agent, for as long as the agent
// is known where it was sent to a channel. People and scripts read when they like.
func (s *State) expires(m *Known) int64 {
	a := s.agents[m.To]
	absent := a.absent()
	switch {
	case m.Status != StatusAccepted:
		return 0
	case m.From == Relay && (a == nil || !a.Running):
		return m.Accepted + absentMS
	case m.From == Relay:
		return 0
	case m.TimeoutMS > 0:
		return m.Accepted + m.TimeoutMS
	case absent && m.Channel == "" && s.Rules.DirectExpiryMS > 0:
		return max(m.Accepted, a.DownAt) + s.Rules.DirectExpiryMS
	case absent:
		return a.Seen + knownFor
	}
	return 0
}

// Stale reports whether a message to an agent stood in its wrapper's queue while it did not run,
// and for longer than messages wait for that.
func (s *State) Stale(m *Known) bool {
	a := s.agents[m.To]
	if a == nil || !a.Running || a.DownAt == 0 || m.Status != protocol.StatusQueued {
		return false
	}
	return m.TimeoutMS == 0 && m.Channel == "" && m.From != Relay && s.Rules.DirectExpiryMS > 0 &&
		max(m.Accepted, a.DownAt)+s.Rules.DirectExpiryMS <= a.Started
}
