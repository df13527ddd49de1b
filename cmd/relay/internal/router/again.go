package router

import (
	"fmt"
	"slices"

	"relay-pty/protocol"
)

// dead reports whether a message with that status did not arrive, or may not have.
func dead(status string) bool {
	return slices.Contains([]string{protocol.StatusFailed, protocol.StatusExpired, protocol.StatusUnknown}, status)
}

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
// have, nor did those by which it was sent again before. A refusal is an *ErrorValue.
func (s *State) Redelivery(id string, now int64) (again Message, err error) {
	m := s.look(id)
	if m == nil {
		return again, refuse(string(protocol.UnknownID), "no message has the id %s", id)
	}
	first, last := s.tries(m)
	switch {
	case last == nil:
		return again, refuse(string(protocol.TooLate), "%s was sent again, and the log no longer has what became of that", first.ID)
	case dead(last.Status):
	case Ended(last.Status):
		const only = "%s is %s, and only what failed, expired or is unknown is sent again"
		return again, refuse(string(protocol.TooLate), only, last.ID, last.Status)
	default:
		return again, refuse(string(protocol.TooLate), "%s is %s: it may arrive yet", last.ID, last.Status)
	}
	if !s.met(first.To) {
		return again, s.Unknown(first.To)
	}
	again = first.Message
	again.ID = fmt.Sprintf("%s:r%d", first.ID, len(first.Redeliveries)+1)
	again.ShortID = first.behind(again.ID)
	again.Redelivers, again.ReplyBy = first.ID, 0
	return again, s.mayGo(again, now)
}

// sentAgain notes that a message was sent again. For one to several the new delivery counts.
func (s *State) sentAgain(m *Known) {
	first := s.find(m.Redelivers)
	if first == nil {
		return // it is no longer kept
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
	first.note(m.Seq)
}
