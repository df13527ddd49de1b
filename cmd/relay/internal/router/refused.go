package router

import (
	"fmt"

	"relay-pty/cmd/relay/internal/rate"
	"relay-pty/parser"
	"relay-pty/protocol"
)

// Refuse makes the event that a message was refused, of what an agent wanted to send. Whether the
// agent is told stands in it: seldom ([rate.Tells]), for it may answer each notice with the same
// message; never of one to the router, as an answer to a notice is; and not of what another one has
// sent, whose words a session that was copied has in its log, too.
func (s *State) Refuse(e Event, why *ErrorValue) Event {
	e.Type, e.Error = TypeRefused, why
	was := s.look(e.ID)
	copied := why.Code == string(protocol.DuplicateID) && was != nil && was.From != e.Agent
	e.Told = e.To != Relay && !copied && s.tells(e, why.Code)
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
	a := s.agents[e.Agent]
	return a != nil && a.Wrapped && rate.Tells(a.Refused, rate.Told{At: e.Timestamp, To: e.To, Code: reason})
}

// told keeps that an agent was told.
func (s *State) told(e Event, reason string) {
	a := s.named(e.Agent)
	a.Refused = rate.Tell(a.Refused, rate.Told{At: e.Timestamp, To: e.To, Code: reason})
}

// refused keeps that a message was, and schedules what its writer is told. An answer to that goes
// on in the same chain.
func (s *State) refused(e Event) {
	if asked := s.find(e.ReplyTo); asked != nil {
		asked.note(e.Seq)
	}
	if !e.Told {
		return
	}
	s.told(e, e.Error.Code)
	m := &Known{Message: Message{ID: e.ID, From: e.Agent, Place: s.Link(e.Message, e).Place}}
	s.notify(m, ":refused", e.Timestamp, 0, fmt.Sprintf(
		`[relay] Your message to %s was not sent (%s): "%s"`, e.To, e.Error.Message, parser.Quote(e.Body, quoteMost)))
}

// invalid schedules what an agent is told whose marker is none.
func (s *State) invalid(e Event) {
	if !e.Told {
		return
	}
	s.told(e, e.Reason)
	m := &Known{Message: Message{ID: e.EventID, From: e.Agent}}
	s.notify(m, ":invalid", e.Timestamp, 0, fmt.Sprintf(
		`[relay] Nothing was sent (%s): "%s"`, e.Reason, parser.Quote(e.Raw, quoteMost)))
}
