// Package agents is the list of the agents that are known, each a directory of data, and finds
// the one that a command line comes to run.
package agents

import (
	"slices"

	"relay-pty/inject/agents/claude"
	"relay-pty/inject/agents/generic"
	"relay-pty/inject/agents/shells"
	"relay-pty/inject/profile"
)

// Names lists the profiles' names.
func Names() []string {
	var names []string
	for _, p := range all {
		names = append(names, p.Name)
	}
	return names
}

// Named is the profile of that name, for a command line whose language it may
// have to speak; without one that is the POSIX shell's.
func Named(name string, argv ...string) (*profile.Profile, bool) {
	if name == shells.Profile.Name {
		p, _ := shells.For(append(argv, ""))
		return p, true
	}
	p := first(func(p *profile.Profile) bool { return p.Name == name })
	return p, p != nil
}

// first is the first profile of which that is true; nil: none is.
func first(is func(*profile.Profile) bool) *profile.Profile {
	if at := slices.IndexFunc(all, is); at >= 0 {
		return all[at]
	}
	return nil
}

// For is the profile for a command line: that of the agent which it comes to run, or
// the shell's when the command is one that prompts. Any other program gets generic,
// reserved as one must be with a program that nobody has described.
func For(argv ...string) *profile.Profile {
	if p := agentOf(Open(argv...)); p != nil {
		return p
	}
	if p, prompts := shells.For(argv); prompts {
		return p
	}
	return &generic.Undescribed
}

// Kind is the profile of the agent that a command line starts, if the wrapper's --agent says
// nothing else; nil: none that has a name. plain says that the program is that agent, so that words
// can be added to its line.
func Kind(agent string, argv ...string) (p *profile.Profile, l Line, plain bool) {
	usual, l := For(argv...), Open(argv...)
	if agent == "" || agent == usual.Name {
		return usual, l, true
	}
	p, _ = Named(agent, argv...)
	return p, l, false
}

// Once reports whether a command line does one thing and ends, so that nothing is to be added to
// it. agent is what --agent says, "" if it says nothing. Of a program that is no known agent nobody
// can tell.
func Once(agent string, argv ...string) bool {
	p, l, _ := Kind(agent, argv...)
	return p != nil && p.Usage != nil && p.Usage.Ends(l.Argv[1:])
}

// Hooked is the hook that the words AGENT EVENT name, and what stands behind them. An event alone
// is one of Claude Code's: sessions that an earlier release began call hooks so.
func Hooked(words ...string) (h profile.Hook, behind []string, known bool) {
	p := &claude.Profile
	if len(words) > 0 {
		if named, ok := Named(words[0]); ok {
			p, words = named, words[1:]
		}
	}
	if p.Hooks == nil || len(words) == 0 {
		return h, nil, false
	}
	at := slices.IndexFunc(p.Hooks.Events, func(h profile.Hook) bool { return h.Event == words[0] })
	if at < 0 {
		return h, nil, false
	}
	return p.Hooks.Events[at], words[1:], true
}

// CancelsAll reports whether an MCP client of that name cancels each call at its end.
func CancelsAll(client string) bool {
	return client != "" && first(func(p *profile.Profile) bool { return p.MCP != nil && p.MCP.Ends == client }) != nil
}

// Overlay reads an overlay, whose base is one of the list.
func Overlay(data []byte) (*profile.Profile, error) { return profile.Overlay(data, all) }

// OverlayFile reads an overlay from a file and returns its text, too.
func OverlayFile(path string) (*profile.Profile, []byte, error) {
	return profile.OverlayFile(path, all)
}
