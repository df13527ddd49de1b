package router

import "relay-pty/protocol"

// Counts are numbers of messages and agents.
type Counts struct {
	Messages map[string]int // that were sent, by status
	Waiting  map[string]int // those that have not ended, by what they wait for
	Agents   map[string]int // by state; those that do not run are gone
}

// What a message waits for besides the words of wrappers.
const (
	WaitsForAgent  = "agent"  // its recipient does not run
	WaitsForReader = "reader" // its recipient has no wrapper, and did not read it yet
	WaitsForRouter = "router" // it is about to be handed to a wrapper
	WaitsForNone   = "none"   // its wrapper has it, and nothing stands in the way
)

// Gone is the state of an agent that does not run.
const Gone = "gone"

// Count counts the agents, and the messages that have not ended.
func (s *State) Count(running func(name string) bool) Counts {
	c := Counts{Messages: map[string]int{}, Waiting: map[string]int{}, Agents: map[string]int{}}
	for _, m := range s.messages {
		if m.Sent && m.open() {
			c.Messages[m.Status]++
		}
	}
	for name, inbox := range s.inboxes {
		for _, m := range inbox {
			c.Waiting[s.reason(m, running(name))]++
		}
	}
	for _, a := range s.agents {
		switch {
		case !a.Wrapped:
		case !running(a.Name):
			c.Agents[Gone]++
		case a.State == "":
			c.Agents[protocol.StateUnknown]++
		default:
			c.Agents[a.State]++
		}
	}
	return c
}

// WaitsFor is what keeps a message from being typed now, "" for nothing that a wrapper or a pause
// tells. What its own result tells is of when the wrapper took the message.
func (s *State) WaitsFor(m *Known, running bool) string {
	a := s.agents[m.To]
	switch {
	case len(m.Deliveries) > 0:
		return m.WaitingFor // of who is furthest behind
	case m.Held != 0 && m.Status == StatusAccepted:
		return protocol.WaitsForPaused
	case a == nil:
		return ""
	case m.Status == StatusAccepted && a.Pause.On:
		return protocol.WaitsForPaused
	case m.Status == protocol.StatusQueued && running:
		return a.Waits
	}
	return ""
}

// reason is what a message waits for.
func (s *State) reason(m *Known, running bool) string {
	a, waits := s.agents[m.To], s.WaitsFor(m, running)
	switch {
	case waits != "":
		return waits
	case a == nil || !a.Wrapped && !a.Awaited:
		return WaitsForReader
	case !running:
		return WaitsForAgent
	case m.Status == StatusAccepted:
		return WaitsForRouter
	}
	return WaitsForNone
}
