package profile

// Hooks is how an agent is made to run a program of ours at moments of its own, for one run and
// beside what its user has set.
type Hooks struct {
	Flag   string // of its command line, which takes settings as JSON, or a file of them
	Since  [3]int // the release from which one that waits does not keep the agent
	Events []Hook
}

// Hook is what happens at one moment of an agent's.
type Hook struct {
	Event  string   // the agent's name for it
	Kind   string   // only if the moment is of this kind, by the agent's name; "": all are
	Signal string   // what it says of the agent's state, in the words of the wire protocol; "": nothing
	Modes  []string // messages of these modes are handed over with the answer; nil: none are …
	Bytes  int      // … and at most so many bytes of them
	Waits  []string // messages of these are waited for beside the agent's work, and wake it; nil: none
}
