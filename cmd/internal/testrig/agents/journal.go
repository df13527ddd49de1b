package agents

import (
	"encoding/json"
	"os"
	"sync"
	"time"
)

// Event is one line of the event log.
type Event struct {
	At   int64  `json:"at"`             // Unix nanoseconds
	Kind string `json:"kind"`           // see the Kind constants
	Text string `json:"text,omitempty"` // the message, line or key
}

// The kinds of events.
const (
	KindStart   = "start"   // ready to be typed at
	KindDraft   = "draft"   // the composer's text changed; Text is all of it
	KindQueued  = "queued"  // Enter while busy
	KindSubmit  = "submit"  // a turn began; Text is what a model would get
	KindCommand = "command" // a line with / or ! was run, not sent: a fault if a message did it
	KindReply   = "reply"   // the turn's answer was printed
	KindIdle    = "idle"    // the turn ended
	KindDialog  = "dialog"  // a dialog opened
	KindAnswer  = "answer"  // the dialog was answered "yes"; Text is the key
	KindCancel  = "cancel"  // the dialog or turn was ended with Esc
	KindIgnored = "ignored" // a key the dialog ignored
	KindLine    = "line"    // the line agent read a line
	KindExit    = "exit"
)

// journal is the byte log and the event log; either file may be absent.
type journal struct {
	raw, events *os.File

	mu     sync.Mutex
	counts map[string]int
	change chan struct{} // closed and replaced at every event
}

func openJournal(raw, events string) (*journal, error) {
	j := &journal{counts: map[string]int{}, change: make(chan struct{})}
	for path, f := range map[string]**os.File{raw: &j.raw, events: &j.events} {
		if path == "" {
			continue
		}
		var err error
		if *f, err = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
			return nil, err
		}
	}
	return j, nil
}

// A log that cannot be written makes the test that reads it fail, which is
// all that could be done about it here; so the errors below are dropped.

func (j *journal) read(p []byte) {
	if j.raw != nil {
		j.raw.Write(p)
	}
}

func (j *journal) event(kind, text string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	line, err := json.Marshal(Event{At: time.Now().UnixNano(), Kind: kind, Text: text})
	if err == nil && j.events != nil {
		j.events.Write(append(line, '\n'))
	}
	j.counts[kind]++
	close(j.change)
	j.change = make(chan struct{})
}

// wait returns once n events of a kind were logged.
func (j *journal) wait(kind string, n int) {
	for {
		j.mu.Lock()
		have, changed := j.counts[kind], j.change
		j.mu.Unlock()
		if have >= n {
			return
		}
		<-changed
	}
}

func (j *journal) close() {
	for _, f := range []*os.File{j.raw, j.events} {
		if f != nil {
			f.Close()
		}
	}
}
