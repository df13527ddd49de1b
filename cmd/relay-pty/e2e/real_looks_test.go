package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/testrig/realagent"
	"relay-pty/inject/agents/rig"
)

// look is a way to start an agent in which it looks otherwise.
type look struct {
	name       string
	agent      agentrig.Agent
	args       []string // behind its own
	env        []string
	rows, cols int // 0: the usual
}

// TestRealAgentsLookOtherwise: names, modes and terminals change the frame, the prompt and the
// colours of composers. Each agent is ready all the same, gets a message, and keeps a draft.
func TestRealAgentsLookOtherwise(t *testing.T) {
	looksOtherwise(t, []look{
		{name: "a long name, TERM=linux", agent: agentrig.Claude(agentrig.ClaudeNow), args: []string{"-n", "My very long session name that goes on and on"},
			env: []string{"TERM=linux"}, cols: 60, rows: 24},
		{name: "asks nothing, no colours", agent: agentrig.Gemini(), args: []string{"--yolo"}, env: []string{"NO_COLOR=1"}},
	})
}

// TestProveLooks has the other looks of all agents.
func TestProveLooks(t *testing.T) {
	var looks []look
	for _, a := range agentrig.All() {
		for _, env := range []string{"NO_COLOR=1", "FORCE_COLOR=0", "LANG=C", "COLORTERM=", "COLORTERM=truecolor", "TERM=vt100", "TERM=screen", "TERM=linux"} {
			looks = append(looks, look{name: env, agent: a, env: []string{env}})
		}
	}
	looksOtherwise(t, looks)
}

func looksOtherwise(t *testing.T, looks []look) {
	var tried []agentrig.Agent
	for _, l := range looks {
		if !slices.ContainsFunc(tried, func(a agentrig.Agent) bool { return a.Name() == l.agent.Name() }) {
			tried = append(tried, l.agent)
		}
	}
	each(t, realagent.Tried(tried...), func(t *testing.T, a agentrig.Agent) {
		for _, l := range looks {
			if l.agent.Name() == a.Name() {
				t.Run(l.name, l.holds)
			}
		}
	})
}

// holds checks that the agent, with this look, is one that messages can be sent to.
func (l look) holds(t *testing.T) {
	l.agent.Args = append(slices.Clone(l.agent.Args), l.args...)
	set := func(_ rig.Home, env []string) ([]string, error) { return append(env, l.env...), nil }
	r := beginSized(t, l.agent, l.rows, l.cols, []agentrig.Change{set})
	r.stateBy(bounded(t, 5*time.Minute, "its start"), "ready")
	r.inject("m1", "hello")
	end := r.delivers("m1", "submitted", "turn")
	r.turn("m1", "hello")
	r.rests(end)
	must(t, r.Type("half a draft"))
	r.shows("half a draft")
	r.inject("m2", strings.Repeat("many lines\n", 10))
	r.held("m2", "draft", 2*humanPause)
	r.enter()
	r.turnWith("half a draft")
	r.rests(r.delivers("m2", "submitted", "turn"))
	r.once([]string{"m1", "m2"})
}
