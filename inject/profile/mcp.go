package profile

// MCP is how an agent is given an MCP server of ours, for one run and beside those that its user
// has set: by words of its command line, or by settings in a variable of its environment. In its
// texts %s stands for our program's path, as JSON, which is TOML, too.
type MCP struct {
	Words    []string
	Variable string
	Settings string   // JSON that the variable holds
	Setup    string   // how a user sets it up for all runs
	Not      []string // where one of these files is, it refuses servers that its command line brings
}

// Kind is the profile of the agent that a command line starts, if the wrapper's --agent says
// nothing else; nil: none that has a name. plain says that the program is that agent, so that words
// can be added to its line.
func Kind(agent string, argv ...string) (p *Profile, l Line, plain bool) {
	usual, l := For(argv...), Open(argv...)
	if agent == "" || agent == usual.Name {
		return usual, l, true
	}
	p, _ = Named(agent, argv...)
	return p, l, false
}
