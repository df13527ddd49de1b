package transcript

import (
	"time"

	"relay-pty/parser/transcript/opencode"
)

// ofOpencode is OpenCode, see package opencode.
var ofOpencode = Format{Name: "opencode", follow: followOpencode, search: opencode.Search}

type opencodeLog struct{ *opencode.Log }

func followOpencode(_ Format, _ string, child int, since time.Time) source {
	return opencodeLog{opencode.Follow(child, since)}
}

func (o opencodeLog) look() (Session, []news, error) {
	p, all, err := o.Look()
	found := make([]news, len(all))
	for i, n := range all {
		found[i] = news{of: n.Session, born: n.Born, changed: time.Now(), entries: n.Entries}
	}
	return Session{PID: p.PID, ID: p.Session, CWD: p.CWD, Transcript: p.Path}, found, err
}
