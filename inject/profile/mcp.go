package profile

// MCP is how an agent is given an MCP server of ours, for one run and beside those that its user
// has set: by words of its command line, or by settings in a variable of its environment. In its
// texts %s stands for our program's path, as JSON, which is TOML, too.
type MCP struct {
	Words    []string
	Variable string
	Settings string   // JSON that the variable holds
	Setup    string   // how a user sets it up for all runs
	Ends     string   // the name that its client gives itself, if that ends each call by a cancellation, answered or not
	Not      []string // where one of these files is, it refuses servers that its command line brings
}
