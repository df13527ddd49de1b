package router

import (
	"fmt"
	"slices"

	"relay-pty/protocol"
)

// NoMessage refuses an id.
func NoMessage(id string) *ErrorValue {
	return Refusal(protocol.UnknownID, "no message has the id %s", id)
}

// dead reports whether a message with that status did not arrive, or may not have.
func dead(status string) bool {
	return slices.Contains([]string{protocol.StatusFailed, protocol.StatusExpired, protocol.StatusUnknown}, status)
}

// refused reports whether the last turn that took the message was, by the agent's API.
func (k *Known) refused() bool { return k.Result.Outcome == protocol.OutcomeRefused }

// tries are the message that was sent first, and the last by which it was sent again, or itself;
// last is nil when the log has lost that one.
func (s *State) tries(m *Known) (first, last *Known) {
	if first = s.look(m.Redelivers); first == nil {
		first = m // or that one is no longer kept
	}
	if n := len(first.Redeliveries); n > 0 {
		return first, s.look(first.Redeliveries[n-1])
	}
	return first, first
}

// Redelivery is the message by which another one is sent again. That one did not arrive, or may not
// have, or its turn was refused, and so it was with those by which it was sent again before. A
// refusal is an *ErrorValue.
func (s *State) Redelivery(id string, now int64) (again Message, err error) {
	m := s.look(id)
	if m == nil {
		return again, NoMessage(id)
	}
	first, last := s.tries(m)
	switch {
	case last == nil:
		return again, Refusal(protocol.TooLate, "%s was sent again, and the log no longer has what became of that", first.ID)
	case dead(last.Status), last.refused():
	case Ended(last.Status):
		const only = "%s is %s, and only what failed, expired, is unknown or was refused is sent again"
		return again, Refusal(protocol.TooLate, only, last.ID, last.Status)
	default:
		return again, Refusal(protocol.TooLate, "%s is %s: it may arrive yet", last.ID, last.Status)
	}
	if !s.met(first.To) {
		return again, s.Unknown(first.To)
	}
	again = s.again(first)
	return again, s.mayGo(again, now)
}

// again is the next message by which one is sent again. An id that somebody took is passed over.
func (s *State) again(k *Known) Message {
	m := k.Message
	for n := len(k.Redeliveries) + 1; m.ID == k.ID || s.has(m.ID); n++ {
		m.ID = fmt.Sprintf("%s:r%d", k.ID, n)
	}
	m.ShortID = k.behind(m.ID)
	m.Redelivers, m.ReplyBy = k.ID, 0
	return m
}

// retry schedules that a message is sent again whose turn was just refused, for when the agent's
// API takes requests again. Where the agent does not say when, its wrapper has the message wait.
func (s *State) retry(m *Known, e Event) {
	first, last := s.tries(m)
	over := first.TimeoutMS > 0 && max(e.Timestamp, e.RetryAt) >= first.Accepted+first.TimeoutMS
	if !first.Retry || last == nil || last.ID != m.ID || !m.refused() || e.Background || over {
		return
	}
	k := Known{Message: s.again(first), SetAt: e.Timestamp, DueAt: max(e.Timestamp, e.RetryAt), Seq: s.Last}
	s.schedule(k)
	s.sentAgain(s.find(k.ID))
}

// settled takes back that a message is sent again, which has been answered by now.
func (s *State) settled(m *Known) {
	if _, last := s.tries(m); last != nil && last != m {
		s.takeBack(last.ID)
	}
}

// sentAgain notes that a message is sent again. For one to several the new delivery counts.
func (s *State) sentAgain(m *Known) {
	first := s.find(m.Redelivers)
	if first == nil {
		return // it is no longer kept
	}
	if m.Sent {
		first.note(m.Seq)
	}
	if slices.Contains(first.Redeliveries, m.ID) {
		return // it knows since this one was scheduled
	}
	if _, last := s.tries(first); last != nil {
		s.find(last.ID).Again = true
	}
	if group := first.group; group != nil {
		m.of(group)
		for i, one := range group.Deliveries {
			if one.To == m.To {
				group.Deliveries[i] = m
			}
		}
	}
	first.Redeliveries = append(first.Redeliveries, m.ID)
}
