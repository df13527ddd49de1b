package router

import (
	"fmt"
	"slices"
)

// An agent hears, once, of a message that it wrote and that was refused. It may answer whatever it
// hears with the same message, so the notice is what a loop could be made of: of one reason and
// recipient it is told once an hour, of five refusals an hour in all, and never of one that was to
// go to the router itself, as an answer to a notice is.
const (
	refusalsMost = 5
	refusalsSpan = 60 * minute
)

// refusal is one that an agent was told of.
type refusal struct {
	At       int64 // Unix milliseconds
	To, Code string
}

// Refuse makes the event that a message was refused, of what an agent wanted to send. Whether the
// agent is told stands in it: a program that reads the log later may have other bounds.
func (s *State) Refuse(e Event, why *ErrorValue) Event {
	e.Type, e.Error = TypeRefused, why
	e.Told = e.To != Relay && s.tells(e, why.Code)
	return e
}

// Invalid completes the event of a marker that is none, in the words of an agent, which hears of it
// as of a refusal.
func (s *State) Invalid(e Event) Event {
	e.Told = s.tells(e, e.Reason)
	return e
}

// tells reports whether an agent is told of a refusal for that reason.
func (s *State) tells(e Event, reason string) bool {
	lately, again := 0, false
	a := s.agents[e.Agent]
	if a == nil || !a.Wrapped {
		return false
	}
	for _, r := range a.Refused {
		if r.At > e.Timestamp-refusalsSpan {
			lately++
			again = again || r.To == e.To && r.Code == reason
		}
	}
	return lately < refusalsMost && !again
}

// told keeps that an agent was told.
func (s *State) told(e Event, reason string) {
	old := func(r refusal) bool { return r.At <= e.Timestamp-refusalsSpan }
	a := s.named(e.Agent)
	lately := slices.DeleteFunc(slices.Clone(a.Refused), old)
	a.Refused = append(lately, refusal{e.Timestamp, e.To, reason})
}

// refused keeps that a message was, and schedules what its writer is told. An answer to that goes
// on in the same chain.
func (s *State) refused(e Event) {
	asked := s.find(e.ReplyTo)
	if asked != nil {
		asked.note(e.Seq)
	}
	if !e.Told {
		return
	}
	s.told(e, e.Error.Code)
	m := &Known{Message: Message{ID: e.ID, From: e.Agent}}
	id := s.notify(m, ":refused", e.Timestamp, 0, fmt.Sprintf(
		`[relay] Your message to %s was not sent (%s): "%s"`, e.To, e.Error.Message, quote(e.Body)))
	if asked != nil {
		n := s.find(id)
		n.Chain, n.Hops = asked.Chain, asked.Hops+1
	}
}

// invalid schedules what an agent is told whose marker is none.
func (s *State) invalid(e Event) {
	if !e.Told {
		return
	}
	s.told(e, e.Reason)
	m := &Known{Message: Message{ID: e.EventID, From: e.Agent}}
	s.notify(m, ":invalid", e.Timestamp, 0, fmt.Sprintf(
		`[relay] Nothing was sent (%s): "%s"`, e.Reason, quote(e.Raw)))
}
