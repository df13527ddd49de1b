package router

import (
	"encoding/json"
	"fmt"
	"slices"

	"relay-pty/cmd/relay/internal/rate"
)

// Shelf has what was kept of a State, by its [Rows]; *store.Store is one. Of messages that have
// ended all is only there.
type Shelf interface {
	// Find returns what was kept of the message of that id, or short id, nil for nothing.
	Find(id string) []byte
	// Unused returns those of the ids that no message has, as its id or as its short one.
	Unused(ids []string) []string
	// Load returns the rest, and what was kept of the messages that have not ended.
	Load() (Loaded, error)
	// Newest calls f with what was kept of the messages that were sent, the newest first, until f
	// has enough.
	Newest(f func(message []byte) (more bool)) error
}

// Loaded is what was kept.
type Loaded struct {
	Last    int64 // number of the newest event
	Agents  [][]byte
	Members []Member
	Open    [][]byte // as they came
}

// Member is a name in a channel.
type Member struct{ Channel, Name string }

// Rows are what has changed since the last were taken. Whoever keeps them does so as a whole,
// together with the events that changed them, or not at all.
type Rows struct {
	Messages []Row
	Agents   map[string][]byte // nil: it is forgotten
	Members  map[Member]bool   // false: it has left

	known []*Known
}

// Row is a message as it is kept, with what it is looked for by.
type Row struct {
	ID, ShortID string
	Root        string // id of the message to several that it is of; "": of none
	Seq         int64  // of the event that accepted it, or set it for later
	From, To    string
	Status      string
	Sent        bool  // it was accepted, and is no more for later
	Part        bool  // one of several got it: whoever asks for no recipient is shown the message to all
	Open        bool  // it has not ended
	Dead        bool  // it did not arrive, or may not have, and was not sent again
	Last        int64 // number of the newest event about it
	Data        []byte
	New         bool // it is not kept yet, or at another place among the others
}

// root is the message to several that a message is of, or itself: those are put away and forgotten
// together.
func (m *Known) root() *Known {
	if m.group != nil {
		return m.group
	}
	return m
}

// of makes a message one of those that belong to a message to several.
func (m *Known) of(group *Known) {
	m.group = group
	group.kin = append(group.kin, m)
}

// open reports whether anything is still to be done about a message.
func (m *Known) open() bool {
	if len(m.Deliveries) > 0 {
		return slices.ContainsFunc(m.Deliveries, (*Known).open)
	}
	return !Ended(m.Status)
}

// find is the message of that id, for whoever is about to change it: what is only kept is at hand
// from then on. nil where no message has the id.
func (s *State) find(id string) *Known {
	m := s.near(id, true)
	s.touch(m)
	return m
}

// has reports whether a message has that id, or short id.
func (s *State) has(id string) bool { return s.look(id) != nil }

// look is a message that nobody changes.
func (s *State) look(id string) *Known { return s.near(id, false) }

// near is a message that is at hand, or is fetched. stays: it is at hand from then on.
func (s *State) near(id string, stays bool) *Known {
	if long := s.short[id]; long != "" {
		id = long
	}
	if m := s.messages[id]; m != nil {
		return m
	}
	if s.shelf == nil || id == "" || id == s.absent {
		return nil
	}
	m := s.read(s.shelf.Find(id), stays)
	if m == nil {
		s.absent = id
	}
	return m
}

// touch notes that a message changes.
func (s *State) touch(m *Known) {
	if m == nil || s.shelf == nil {
		return
	}
	for _, one := range []*Known{m.root(), m} {
		if s.changed.messages[one.ID] == nil {
			s.changed.messages[one.ID] = one
			s.changed.order = append(s.changed.order, one)
		}
	}
}

// read reads what was kept of a message, and fetches those that belong to it. stays: they are at
// hand from then on. nil where it is not kept, or not by us.
func (s *State) read(data []byte, stays bool) *Known {
	m := &Known{}
	if data == nil || json.Unmarshal(data, m) != nil {
		return nil
	}
	if there := s.messages[m.ID]; there != nil {
		return there // it was fetched together with another one
	}
	m.at = m.Seq
	if stays {
		s.know(m)
		if group := s.near(m.Group, true); group != nil {
			m.of(group)
		}
	}
	for _, id := range m.Copies {
		if one := s.near(id, stays); one != nil {
			m.Deliveries = append(m.Deliveries, one)
		}
	}
	return m
}

// newest is the number of the newest event about a message.
func (m *Known) newest() int64 {
	last := max(m.Seq, m.Course.Last)
	for _, seq := range m.Events {
		last = max(last, seq)
	}
	return last
}

// row is a message as it is kept.
func (m *Known) row() (Row, error) {
	m.Copies = nil
	for _, one := range m.Deliveries {
		m.Copies = append(m.Copies, one.ID)
	}
	r := Row{
		ID: m.ID, ShortID: m.ShortID, Seq: m.Seq, From: m.From, To: m.To, Status: m.Status,
		Sent: m.Sent, Open: m.open(), Last: m.newest(), New: m.at != m.Seq,
	}
	if m.group != nil {
		m.Group, r.Root = m.group.ID, m.group.ID
	}
	r.Part = m.Channel != "" && m.Redelivers == ""
	r.Dead = m.Sent && dead(m.Status) && !m.Again
	var err error
	r.Data, err = json.Marshal(m)
	return r, err
}

// Take returns what has changed since the last time. Once it is kept, [State.Saved] is to be told.
// Where it is not, the state is no longer of use.
func (s *State) Take() (v Rows, err error) {
	v = Rows{Agents: map[string][]byte{}, Members: s.changed.members, known: s.changed.order}
	for _, m := range v.known {
		r, err := m.row()
		if err != nil {
			return v, fmt.Errorf("write message %s: %w", m.ID, err)
		}
		m.at = m.Seq
		v.Messages = append(v.Messages, r)
	}
	for name := range s.changed.agents {
		var data []byte
		if a := s.agents[name]; a != nil {
			if data, err = json.Marshal(a); err != nil {
				return v, fmt.Errorf("write agent %s: %w", name, err)
			}
		}
		v.Agents[name] = data
	}
	s.changed = noChanges()
	return v, nil
}

// Saved says that what Take returned is kept: what has ended, and has not changed since, is no
// longer needed at hand.
func (s *State) Saved(v Rows) {
	for _, m := range v.known {
		root := m.root()
		if s.changed.messages[root.ID] != nil || root.open() {
			continue
		}
		for _, one := range slices.Concat(root.kin, []*Known{root}) {
			delete(s.messages, one.ID)
			delete(s.short, one.ShortID)
		}
	}
}

// Resume is the state that was kept; that of an empty log where there is none.
func Resume(shelf Shelf) (*State, error) {
	s := NewState()
	s.shelf = shelf
	v, err := shelf.Load()
	if err != nil {
		return nil, err
	}
	s.Last = v.Last
	for _, data := range v.Agents {
		var a Agent
		if err := json.Unmarshal(data, &a); err != nil {
			return nil, fmt.Errorf("an agent that is kept: %w", err)
		}
		s.agents[a.Name] = &a
	}
	for _, m := range v.Members {
		s.sit(m, true)
	}
	for _, data := range v.Open {
		m := s.read(data, true)
		switch {
		case m == nil || len(m.Deliveries) > 0:
		case m.Sent:
			s.await(m)
		default:
			s.wait(m)
		}
	}
	s.changed = noChanges()
	return s, s.recall(shelf)
}

// recallMost is how many of the newest messages count for the rates after a start, so that it does
// not take longer the more was sent.
const recallMost = 1000

// recall counts the messages of the last minute.
func (s *State) recall(shelf Shelf) error {
	var list []rate.Sent
	err := shelf.Newest(func(data []byte) bool {
		var m Known
		if json.Unmarshal(data, &m) != nil {
			return true
		}
		if len(list) > 0 && m.Accepted <= list[0].At-minute {
			return false
		}
		if !Group(m.To) {
			list = append(list, rate.Sent{At: m.Accepted, From: m.From, To: m.To})
		}
		return len(list) < recallMost
	})
	slices.Reverse(list)
	s.rates = rate.Of(list)
	return err
}
