package transcript

import "time"

// Format says where an agent keeps its files and how their rows are read.
type Format struct {
	Name string

	Sessions    string // glob of session files beneath the agent's directory, for fmt with a pid or *
	Transcripts string // glob of a session's transcript, for fmt with its id
	All         string // glob of all transcripts
	Session     func(file []byte) (Session, error)
	Row         func(row []byte) ([]Entry, error)
	Follow      func(f Format, dir string, child int, since time.Time) Source
	Endless     bool                                      // no row tells that a turn has ended well
	Search      func(dir string, since time.Time) []Entry // nil: the files that All names
}
