package transcript

import "time"

// Format says where an agent keeps its files and how their rows are read.
type Format struct {
	Name string

	All     string // glob of all transcripts
	Row     func(row []byte) ([]Entry, error)
	Rows    func() func(row []byte) ([]Entry, error) // reads those of one file, in order, and says of which turns they are; nil: Row
	Follow  func(f Format, dir string, child int, since time.Time) Source
	Serves  string                                    // the first argument of those of its processes that serve others and have no conversation; "": all are alike
	Endless bool                                      // no row tells that a turn has ended well
	Search  func(dir string, since time.Time) []Entry // nil: the files that All names
}

// Session is what an agent says of itself in its session file.
type Session struct {
	PID        int // of the agent, which may be a descendant of the child
	ID         string
	CWD        string
	Version    string
	By         string    // the agent's word for which of its programs it is; "": it has one
	Status     string    // the agent's word
	WaitingFor string    // what it waits for
	StatusAt   time.Time // when it said so
	Job        string    // the background session that it has become, in another process; "": none
	Transcript string    // path, empty while there is none: agents create it in the first turn
}
