package slot

import (
	"relay-pty/cmd/internal/testrig/agents"
	"relay-pty/cmd/internal/testrig/books"
)

// Books adds to a run what is known of this agent, when all is over. With whole, every
// end that a sender was told must stand in the events.
func (s *Slot) Books(run *books.Run, whole bool) error {
	if err := s.Hub.differs(); err != nil && whole {
		return err
	}
	run.Events = append(run.Events, s.Hub.events...)
	for _, l := range s.past {
		r, err := s.reading(l)
		if err != nil {
			return err
		}
		run.Readings = append(run.Readings, r)
		if len(l.Words) > 0 {
			run.Typings = append(run.Typings, books.Typing{Agent: s.Name, Life: l.N, Words: l.Words})
		}
	}
	return nil
}

func (s *Slot) reading(l *Life) (r books.Reading, err error) {
	r = books.Reading{Agent: s.Name, Life: l.N, Line: s.Line, Killed: l.Killed()}
	if r.Bytes, err = l.Agent.Read(); err != nil || r.Line {
		return r, err
	}
	events, err := l.Agent.EventLog()
	r.Turns = taken(events)
	return r, err
}

// taken are the texts that Enter took out of a composer, and what nobody asked for.
func taken(events []agents.Event) []string {
	texts, unasked := agents.Taken(events)
	for _, e := range unasked {
		texts = append(texts, e.Kind+": "+e.Text)
	}
	return texts
}
