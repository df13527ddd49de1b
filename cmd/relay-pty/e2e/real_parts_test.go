package e2e

import (
	"testing"
	"time"

	"relay-pty/cmd/internal/agentrig"
)

// part is a test that needs nothing of an agent but that it runs. Each has ids of messages of its
// own, for an agent's model gets the whole conversation again with every turn.
type part struct {
	name string
	run  func(t *testing.T, r *realAgent)
}

// TestRealMessagesReachIdleAgents: each agent gets messages of all shapes, when it rests.
func TestRealMessagesReachIdleAgents(t *testing.T) {
	oneByOne(t, []part{
		{"every message once", everyMessageOnce},
		{"one to twelve lines", oneToTwelveLines},
		{"little to see", littleToSee},
		{"like the screen", likeTheScreen},
		{"mostly frame", mostlyFrame},
		{"quoting each other", messagesQuoteEachOther},
	})
}

// TestRealMessagesReachAgentsAtWork: each agent gets messages while it has something else to do.
func TestRealMessagesReachAgentsAtWork(t *testing.T) {
	oneByOne(t, []part{
		{"replies are finished", repliesAreFinished},
		{"the same body", theSameBody},
		{"important", importantCutsNothing},
		{"notice", noticeBeforeTitles},
		{"dialogs stay unanswered", dialogsStayUnanswered},
	}, "--notice", "title", "--draft-timeout", "0")
}

// oneByOne runs the parts on every agent, each part behind the other on the same one, for the start
// of an agent costs seconds of a processor. What failed may have left anything behind, so the next
// part gets a fresh agent.
func oneByOne(t *testing.T, parts []part, flags ...string) {
	eachAgent(t, func(t *testing.T, a agentrig.Agent) {
		var r *realAgent
		for _, p := range parts {
			if r == nil {
				r = startAgent(t, a, flags...)
			}
			passed := t.Run(p.name, func(t *testing.T) {
				r := r.in(t)
				p.run(t, r)
				must(t, r.atRest(2*time.Minute))
			})
			if !passed {
				r = nil
			}
		}
	})
}

// in is the same agent for a subtest.
func (r *realAgent) in(t *testing.T) *realAgent {
	agent, wrapped := *r, *r.wrapped
	wrapped.t, agent.wrapped = t, &wrapped
	return &agent
}
