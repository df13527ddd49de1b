package router

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"relay-pty/cmd/relay/internal/near"
	"relay-pty/protocol"
)

// Types of events about channels; Agent is who, To the channel.
const (
	TypeJoined = "channel_joined"
	TypeLeft   = "channel_left"
)

// All is whom a message goes to that is for every agent that runs. An agent that starts later gets
// nothing of it: it would come out of nowhere.
const All = "*"

// room is what talking-stick calls All.
const room = "room"

// Confirm is the code for what reaches more agents than anybody writes to by accident.
const Confirm = "confirm"

// confirmMost is how many agents a message may reach that nobody has confirmed.
const confirmMost = 10

// Group reports whether a message to that goes to several: to a channel or to all.
func Group(to string) bool { return to == All || strings.HasPrefix(to, "#") }

// DeliveryID is the id of what one recipient gets of a message to several.
func DeliveryID(id, to string) string { return id + ":" + to }

// Members returns those of a channel, by name.
func (s *State) Members(channel string) []string {
	return slices.Sorted(maps.Keys(s.channels[channel]))
}

// Channels returns those that have members, by name.
func (s *State) Channels() []string { return slices.Sorted(maps.Keys(s.channels)) }

// ChannelsOf are those that a name is in, and the one of all.
func (s *State) ChannelsOf(name string) []string {
	return append(slices.DeleteFunc(s.Channels(), func(c string) bool { return !s.channels[c][name] }), All)
}

// Membership is the event by which a name joins a channel or leaves it, and false where it has
// already. A refusal is an *ErrorValue.
func (s *State) Membership(name, channel string, joins bool) (e Event, news bool, err error) {
	if err := protocol.ValidTarget(channel); err != nil || !strings.HasPrefix(channel, "#") {
		return e, false, Refusal(protocol.BadField, "%q is no channel: '#' and a name", channel)
	}
	if err := protocol.ValidFrom(name); err != nil || name == Relay {
		return e, false, Refusal(protocol.BadField, "%q is no name of a member", name)
	}
	e = Event{Type: TypeLeft, Agent: name, Message: Message{To: channel}}
	if joins {
		e.Type = TypeJoined
	}
	return e, s.channels[channel][name] != joins, nil
}

// sit puts a name into a channel, or takes it out of it.
func (s *State) sit(m Member, in bool) {
	if s.shelf != nil {
		s.changed.members[m] = in
	}
	if s.channels[m.Channel] == nil {
		s.channels[m.Channel] = map[string]bool{}
	}
	if in {
		s.channels[m.Channel][m.Name] = true
		return
	}
	delete(s.channels[m.Channel], m.Name)
	if len(s.channels[m.Channel]) == 0 {
		delete(s.channels, m.Channel)
	}
}

// FanOut returns the recipients of a message that was admitted: none where it goes to one name.
// A message to several is accepted for all of them or for none. A refusal is an *ErrorValue.
func (s *State) FanOut(m Message, now int64, running func(name string) bool) (list []string, err error) {
	if !Group(m.To) {
		return nil, nil
	}
	if list = s.Members(m.To); m.To == All {
		for _, a := range s.Agents() {
			if a.Wrapped && running(a.Name) {
				list = append(list, a.Name)
			}
		}
	}
	list = slices.DeleteFunc(list, func(name string) bool { return name == m.From })
	const asks = "%s reaches %d agents, and more than %d are to be confirmed: --yes does"
	const marker = "%s reaches %d agents, and a marker at most %d: relay send --yes reaches more"
	switch {
	case len(list) == 0:
		return nil, s.empty(m)
	case len(list) <= confirmMost || m.Confirmed:
	case m.marked():
		return nil, Refusal(Confirm, marker, m.To, len(list), confirmMost)
	default:
		return nil, Refusal(Confirm, asks, m.To, len(list), confirmMost)
	}
	for _, name := range list {
		one := m
		one.ID, one.To = DeliveryID(m.ID, name), name
		if err := s.mayGo(one, now); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// mayGo says why one recipient cannot get a message to several, or one again.
func (s *State) mayGo(m Message, now int64) error {
	if err := protocol.ValidID(m.ID); err != nil {
		return Refusal(protocol.BadField, "id: with what tells deliveries apart behind it, it is too long: %s", m.ID)
	}
	if s.has(m.ID) {
		return Refusal(protocol.DuplicateID, "another message has the id %s", m.ID)
	}
	if err := s.direct(m); err != nil {
		return err
	}
	return s.guard(m, now)
}

// empty says that nobody gets a message to several.
func (s *State) empty(m Message) *ErrorValue {
	switch {
	case m.To == All:
		return Refusal(UnknownAgent, "no agent runs but %s: a message to all reaches those that do", m.From)
	case len(s.channels[m.To]) > 0:
		return Refusal(UnknownAgent, "nobody is in %s but %s", m.To, m.From)
	}
	e := Refusal(UnknownAgent, "nobody is in %s: relay join '%s' --as NAME puts an agent in", m.To, m.To)
	e.Candidates = near.Names(m.To, s.Channels())
	if len(e.Candidates) > 0 {
		e.Message = fmt.Sprintf("nobody is in %s: did you mean %s?", m.To, strings.Join(e.Candidates, " or "))
	}
	return e
}

// fanOut keeps what each recipient gets of a message to several.
func (s *State) fanOut(m *Known, recipients []string) {
	for _, to := range recipients {
		one := &Known{
			Message: m.Message, Result: Result{Status: StatusAccepted}, Accepted: m.Accepted,
			Seq: m.Seq, Events: []int64{m.Seq},
		}
		one.of(m)
		one.ID, one.To, one.Channel = DeliveryID(m.ID, to), to, m.To
		one.ShortID = m.behind(one.ID)
		m.Deliveries = append(m.Deliveries, one)
		s.enter(one)
		s.deliver(one)
	}
}

// note keeps that an event is about a message, and about the message to several that it is of.
func (m *Known) note(seq int64) {
	m.Events = append(m.Events, seq)
	if m.group != nil {
		m.group.Events = append(m.group.Events, seq)
	}
}

// mine is the delivery to name of a message to several, or the message itself.
func (m *Known) mine(name string) *Known {
	for _, one := range m.Deliveries {
		if one.To == name {
			return one
		}
	}
	return m
}

// progress are the statuses of deliveries; a message to several has that of the first in this list:
// of who is furthest behind, then of who did not get it. It is replied when all got it and one has
// answered.
var progress = []string{
	StatusAccepted, protocol.StatusQueued, protocol.StatusInjecting,
	protocol.StatusFailed, protocol.StatusUnknown, protocol.StatusExpired, protocol.StatusCancelled,
	StatusReplied,
}

// together is what became of a message to several.
func together(own Result, list []*Known) Result {
	place := func(m *Known) int {
		if i := slices.Index(progress, m.Status); i >= 0 {
			return i
		}
		return len(progress)
	}
	first := slices.MinFunc(list, func(a, b *Known) int { return cmp.Compare(place(a), place(b)) })
	own.Status, own.WaitingFor, own.Evidence = first.Status, first.WaitingFor, first.Evidence
	for _, m := range list {
		if m.Evidence != own.Evidence {
			own.Evidence = ""
		}
	}
	if own.Error == nil && first.Error != nil {
		own.Error = Refusal(first.Error.Code, "%s: %s", first.To, first.Error.Message)
	}
	return own
}
