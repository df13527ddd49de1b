package router

// Types of events about pauses.
const (
	TypePaused  = "agent_paused"  // nothing is typed into the agent, until Until or a resume
	TypeResumed = "agent_resumed" // its messages are typed again
)

// ReasonOver is why a pause ended by itself.
const ReasonOver = "over"

// Pause reports whether nothing is typed into an agent.
type Pause struct {
	On        bool
	Ever      bool   // the router has paused it, so the wrapper may still be as it was told
	By        string // the agent that did it; "": a person
	At, Until int64  // Unix milliseconds; Until 0: until it is resumed
}

// paused keeps that an agent was paused or resumed.
func (s *State) paused(e Event) {
	if a := s.agent(e.Agent); a != nil {
		a.Pause = Pause{On: e.Type == TypePaused, Ever: true, By: e.From, At: e.Timestamp, Until: e.Until}
	}
}
