package transcript

import (
	"time"

	"relay-pty/parser/transcript/entry"
)

// Format says where an agent keeps its files and how their rows are read.
type Format struct {
	Name string

	sessions    string // glob of session files beneath the agent's directory, for fmt with a pid or *
	transcripts string // glob of a session's transcript, for fmt with its id
	all         string // glob of all transcripts
	session     func(file []byte) (Session, error)
	row         func(row []byte) ([]Entry, error)
	follow      func(f Format, dir string, child int, since time.Time) source
	endless     bool                                      // no row tells that a turn has ended well
	search      func(dir string, since time.Time) []Entry // nil: the files that all names
}

func formats() []Format { return []Format{claude, codex, gemini, ofOpencode} }

// Named is the format of that name.
func Named(name string) (Format, bool) {
	for _, f := range formats() {
		if f.Name == name {
			return f, true
		}
	}
	return Format{}, false
}

// Ends reports whether the log tells when a turn has ended well.
func (f Format) Ends() bool { return !f.endless }

// What logs tell is in package entry, to which these are short names.
type (
	Entry = entry.Entry
	Kind  = entry.Kind
	Found = entry.Found
	Turn  = entry.Turn
)

const (
	Assistant = entry.Assistant
	User      = entry.User
	Handed    = entry.Handed
	TurnEnd   = entry.TurnEnd
)

// Commands is entry.Commands.
func Commands(e Entry) []Found { return entry.Commands(e) }

// Accepted is entry.Accepted.
func Accepted(e Entry, id string) bool { return entry.Accepted(e, id) }

// Gave is entry.Gave.
func Gave(e Entry, id string) bool { return entry.Gave(e, id) }
