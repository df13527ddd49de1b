package profile

// Modal is an agent's composer with modes as vim's, which the human may have chosen. A paste must
// be text in each of them.
type Modal struct {
	Insert pattern // a row beneath the composer while keys are text
	Select pattern // the same while Enter does not submit, as with a selection
	Leave  string  // the key that leads from there to the mode in which keys are commands, and nothing tells of it
	Back   string  // the key that leads back to Insert, at the start of the text …
	Append string  // … or at its end
}

// vim is the vim mode of Claude Code.
var vim = &Modal{
	Insert: rx(`^\s*-- INSERT --`), Select: rx(`^\s*-- VISUAL( LINE)? --`),
	Leave: "\x1b", Back: "i", Append: "a",
}
