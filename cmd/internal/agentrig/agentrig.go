// Package agentrig is one table of the real agents that tests and the demo run, by inject/agents,
// each against a fake of the model API that it speaks.
package agentrig

import (
	"slices"

	"relay-pty/cmd/internal/fakemodel"
	claude "relay-pty/inject/agents/claude/rig"
	codex "relay-pty/inject/agents/codex/rig"
	gemini "relay-pty/inject/agents/gemini/rig"
	opencode "relay-pty/inject/agents/opencode/rig"
	qwen "relay-pty/inject/agents/qwen/rig"
	"relay-pty/inject/agents/rig"
)

// Agent is one release of one agent.
type Agent struct{ rig.Agent }

// Change alters a home that Prepare made, or the environment.
type Change = rig.Change

// Plain makes a fresh home for any program.
var Plain = rig.Plain

// Vacate waits until no process lives in a home any more, and kills who stays.
var Vacate = rig.Vacate

// ClaudeNow is the release that everything was measured with.
var ClaudeNow = claude.All()[0].Version

// All lists the agents in the order of the reports.
func All() (list []Agent) {
	for _, releases := range rigs {
		for _, a := range releases() {
			list = append(list, Agent{a})
		}
	}
	return list
}

// Profiles are the names of their kinds, in that order.
func Profiles() (names []string) {
	for _, a := range All() {
		if !slices.Contains(names, a.Profile) {
			names = append(names, a.Profile)
		}
	}
	return names
}

// Claude is any release of Claude Code.
func Claude(version string) Agent { return Agent{claude.Release(version)} }

// Codex, Gemini, OpenCode and Qwen are the agents of those names.
func Codex() Agent    { return Agent{codex.All()[0]} }
func Gemini() Agent   { return Agent{gemini.All()[0]} }
func OpenCode() Agent { return Agent{opencode.All()[0]} }
func Qwen() Agent     { return Agent{qwen.All()[0]} }

// For is the newest release in the table of the agent with that profile. The home that it prepares
// does for other releases, too: Claude Code 2.1.329 asks nothing in one for 2.1.100.
func For(profile string) (a Agent, known bool) {
	all := All()
	if at := slices.IndexFunc(all, func(a Agent) bool { return a.Profile == profile }); at >= 0 {
		return all[at], true
	}
	return Agent{}, false
}

var wires = map[string]fakemodel.Wire{
	"messages": fakemodel.Messages, "responses": fakemodel.Responses, "chat": fakemodel.Chat, "gemini": fakemodel.Gemini,
}

// API starts the agent's model API, which the caller closes.
func (a Agent) API() (*fakemodel.Server, error) { return fakemodel.Start(wires[a.Wire]) }

// Received is the user texts of t as the users meant them, joined by newlines:
// what the agent itself adds to them is removed. Compare it with Unwrap of what
// was sent; Turn.Text keeps the raw form.
func (a Agent) Received(t fakemodel.Turn) string { return a.Unwrap(t.UserText()) }

// Unwrap takes off what the agent itself adds to a user's text.
func (a Agent) Unwrap(text string) string {
	if a.Agent.Unwrap != nil {
		text = a.Agent.Unwrap(text)
	}
	if a.Wire == "messages" {
		text = fakemodel.Unwrap(text) // marks of pasted text
	}
	return text
}
