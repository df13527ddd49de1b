package router

import "relay-pty/protocol"

// Types of events about who is there. agent_up and agent_down tell of each wrapper at once; these
// tell of the agent, and nothing of a wrapper that is started anew within seconds.
const (
	TypeMemberJoined = "member_joined"
	TypeMemberLeft   = "member_left"
)

// Reasons of TypeDown and TypeMemberLeft.
const (
	ReasonLeft     = "left"     // the agent ended, and its wrapper told so or took its listing back
	ReasonInactive = "inactive" // the wrapper was killed or no longer answers: nobody told of the end
	ReasonGC       = "gc"       // it did not run for 30 days and is forgotten
)

const (
	// debounce is how long an agent may be away without having left, in milliseconds.
	debounce = 5_000
	// knownFor is how long an agent that does not run stays known, in milliseconds.
	knownFor = 30 * 24 * 60 * minute
)

// presence is what the log says of an agent's being there.
type presence struct {
	Member bool   // it has joined and not left
	Reason string // why it does not run; "": it runs, or never did
	Ended  bool   // the last that its wrapper told is how the agent ended
	DownAt int64  // since when it does not run, Unix milliseconds
}

// note keeps what an event of a wrapper says.
func (p *presence) note(e Event) {
	if e.Origin != nil {
		p.Ended = e.Type == protocol.TypeExit
	}
	switch e.Type {
	case TypeUp:
		p.Ended, p.Reason = false, ""
	case TypeDown:
		p.Reason, p.DownAt = e.Reason, e.Timestamp
	}
}

// Ending is why an agent whose wrapper is gone went away. retired says that the wrapper took its
// listing back: one that is killed leaves it.
func (s *State) Ending(name string, retired bool) string {
	if a := s.agents[name]; retired || a != nil && a.Ended {
		return ReasonLeft
	}
	return ReasonInactive
}

// Presence returns the events about who has come and gone that are due now, and when the next one
// may be, in Unix milliseconds; 0: none. Where the clock has gone back behind the end of a wrapper
// nobody can say how long that was ago, and the agent has left.
func (s *State) Presence(now int64) (due []Event, next int64) {
	for _, a := range s.Agents() {
		event := Event{Type: TypeMemberLeft, Agent: a.Name}
		event.Profile, event.Reason = a.Profile, a.Reason
		away := now - a.DownAt
		at := int64(0)
		switch {
		case !a.Wrapped, a.Running && a.Member:
			continue
		case a.Running:
			event.Type, event.Reason = TypeMemberJoined, ""
		case a.Member && away >= 0 && away < debounce:
			at = a.DownAt + debounce
		case a.Member:
		case len(s.inboxes[a.Name]) > 0:
			continue // its messages wait for it
		case away < knownFor:
			at = a.DownAt + knownFor
		default:
			event.Reason = ReasonGC
		}
		if at == 0 {
			due = append(due, event)
		} else if next == 0 || at < next {
			next = at
		}
	}
	return due, next
}

// Settling reports whether it is not decided yet whether some agent has left.
func (s *State) Settling() bool {
	for _, a := range s.agents {
		if a.Member && !a.Running {
			return true
		}
	}
	return false
}

// attendance keeps that an agent joined or left.
func (s *State) attendance(e Event) {
	if e.Reason == ReasonGC {
		s.unknow(e.Agent)
		return
	}
	if a := s.agent(e.Agent); a != nil { // else the log has forgotten it before us
		a.Member = e.Type == TypeMemberJoined
	}
}
