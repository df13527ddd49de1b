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

// TestRealAgentsInEverySituation: each agent gets messages at rest, at work, behind a dialog and
// behind a draft, and one that interrupts it, also when others are in its own queue; one session
// after the other, in one terminal.
func TestRealAgentsInEverySituation(t *testing.T) {
	oneByOne(t, []part{
		{"idle", everyMessageOnce},
		{"busy", repliesAreFinished},
		{"important", importantCutsNothing},
		{"dialog", dialogsStayUnanswered},
		{"question", questionsStayUnanswered},
		{"draft", draftsSurvive},
		{"urgent", urgentCutsReplies},
		{"urgent behind queued ones", urgentBehindQueued},
		{"Esc behind queued ones", escBehindQueued},
	}, "--draft-timeout", "1500")
}

// TestProveMessagesOfAllShapes: each agent gets at rest what is hard to type or to see.
func TestProveMessagesOfAllShapes(t *testing.T) {
	oneByOne(t, []part{
		{"one to twelve lines", oneToTwelveLines},
		{"little to see", littleToSee},
		{"like the screen", likeTheScreen},
		{"mostly frame", mostlyFrame},
		{"quoting each other", messagesQuoteEachOther},
	})
}

// TestProveMessagesBehindWorkAndDrafts: messages that wait together, and the notice of one.
func TestProveMessagesBehindWorkAndDrafts(t *testing.T) {
	oneByOne(t, []part{
		{"the same body", theSameBody},
		{"notice", noticeBeforeTitles},
	}, "--notice", "title", "--draft-timeout", "0")
}

// oneByOne runs the parts on every agent, each part behind the other on the same one, for the
// start of an agent costs seconds of a processor. Every other part it has while its terminal has
// no focus, which is how most agents run that get messages; which ones, differs by agent. What
// failed may have left anything behind, so the next part gets a fresh agent.
func oneByOne(t *testing.T, parts []part, flags ...string) {
	eachAgent(t, func(t *testing.T, a agentrig.Agent) {
		var r *realAgent
		for i, p := range parts {
			if r == nil {
				r = startAgent(t, a, flags...)
			}
			passed := t.Run(p.name, func(t *testing.T) {
				r := r.in(t)
				must(t, r.Focus((i+len(a.Profile))%2 == 0))
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
