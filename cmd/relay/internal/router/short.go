package router

import (
	"cmp"
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

// Fresh is an id of newID's that no message has.
func (s *State) Fresh(newID func() string) string {
	for {
		if id := newID(); !s.has(id) {
			return id
		}
	}
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
	if s.absent == m.ID || s.absent == m.ShortID {
		s.absent = ""
	}
	if m.ShortID != "" {
		s.short[m.ShortID] = m.ID
	}
}
