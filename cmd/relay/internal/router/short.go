package router

import (
	"cmp"
	"slices"
	"strings"
)

// shortMost is how many bytes an id has that people and models read. What stands behind a colon is
// not counted: it says to whom a message went, or how often.
const shortMost = 10

// ShownID is the id that people and models read.
func (m Message) ShownID() string { return cmp.Or(m.ShortID, m.ID) }

// Shorten gives an event the short id of the message that it is about, where that has a longer one.
// A new message gets one of newID's.
func (s *State) Shorten(e *Event, newID func() string) {
	if own, _, _ := strings.Cut(e.ID, ":"); len(own) <= shortMost {
		return
	}
	if known := s.look(e.ID); known != nil {
		e.ShortID = known.ShortID
	}
	if e.ShortID == "" && (e.Type == TypeMessage || e.Type == TypeReminder) {
		e.ShortID = s.Fresh(newID)
	}
}

// freshMost is how many ids are looked for at once, which costs little more than for one.
const freshMost = 64

// Fresh is an id of newID's that no message has.
func (s *State) Fresh(newID func() string) (id string) {
	for len(s.fresh) == 0 {
		for range freshMost {
			if id := newID(); s.messages[id] == nil && s.short[id] == "" && !slices.Contains(s.fresh, id) {
				s.fresh = append(s.fresh, id)
			}
		}
		if s.shelf != nil {
			s.fresh = s.shelf.Unused(s.fresh)
		}
	}
	id, s.fresh = s.fresh[0], s.fresh[1:]
	s.absent = id
	return id
}

// behind is the id to be read for one that has something behind the message's own; "" where that
// is short.
func (m *Known) behind(id string) string {
	rest, ok := strings.CutPrefix(id, m.ID)
	if !ok || m.ShortID == "" {
		return ""
	}
	return m.ShortID + rest
}

// know has a message at hand, by both its ids.
func (s *State) know(m *Known) {
	s.messages[m.ID] = m
	s.fresh = slices.DeleteFunc(s.fresh, func(id string) bool { return id == m.ID || id == m.ShortID })
	if s.absent == m.ID || s.absent == m.ShortID {
		s.absent = ""
	}
	if m.ShortID != "" {
		s.short[m.ShortID] = m.ID
	}
}
