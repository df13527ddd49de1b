package fakeagent

import (
	"encoding/json"
	"os"
	"sync"
	"time"

	"relay-pty/cmd/internal/testrig/agents"
)

// Journal is the byte log and the event log; either file may be absent.
type Journal struct {
	raw, events *os.File

	mu     sync.Mutex
	counts map[string]int
	bytes  int           // read so far
	change chan struct{} // closed and replaced at every event and read
}

func openJournal(raw, events string) (*Journal, error) {
	j := &Journal{counts: map[string]int{}, change: make(chan struct{})}
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

// Read logs bytes that were read.
func (j *Journal) Read(p []byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.raw != nil {
		j.raw.Write(p)
	}
	j.bytes += len(p)
	j.changed()
}

// Event logs an event.
func (j *Journal) Event(kind, text string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	line, err := json.Marshal(agents.Event{At: time.Now().UnixNano(), Kind: kind, Text: text})
	if err == nil && j.events != nil {
		j.events.Write(append(line, '\n'))
	}
	j.counts[kind]++
	j.changed()
}

func (j *Journal) changed() {
	close(j.change)
	j.change = make(chan struct{})
}

// wait returns once n events of a kind were logged.
func (j *Journal) wait(kind string, n int) {
	j.until(func() bool { return j.counts[kind] >= n })
}

// waitBytes returns once n bytes were read.
func (j *Journal) waitBytes(n int) {
	j.until(func() bool { return j.bytes >= n })
}

func (j *Journal) until(ok func() bool) {
	for {
		j.mu.Lock()
		met, changed := ok(), j.change
		j.mu.Unlock()
		if met {
			return
		}
		<-changed
	}
}

func (j *Journal) total() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.bytes
}

func (j *Journal) close() {
	for _, f := range []*os.File{j.raw, j.events} {
		if f != nil {
			f.Close()
		}
	}
}
