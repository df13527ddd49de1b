package agent

import (
	"sync"
	"time"

	"relay-pty/inject/ready"
	"relay-pty/inject/sight"
	"relay-pty/protocol"
)

// Own is what the agent itself last said of its state: in its files, by a signal
// or a marker, and through the terminal. The newest one counts.
type Own struct {
	mu                 sync.Mutex
	files, said, shown ready.Word
	last               sight.Said // what shown was made of
}

// Set keeps what the agent's files say and tells whether that is news.
func (o *Own) Set(w ready.Word) (changed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	changed = o.files.State != w.State || o.files.Detail != w.Detail || o.files.Job != w.Job
	w.From = protocol.SignSession
	o.files = w
	return changed
}

// Say keeps what the agent said just now.
func (o *Own) Say(s ready.State, detail string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.said = ready.Word{State: s, Detail: detail, At: time.Now(), Said: true, From: protocol.SignHook}
}

// show keeps what the agent says through the terminal, seen at a time: the
// first time that it is seen is when it was said.
func (o *Own) show(s sight.Said, at time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if s != o.last {
		o.last, o.shown = s, ready.Word{State: s.State, Detail: s.Detail, At: at, Said: s.Once, From: protocol.SignOSC}
		if s.Serial == 0 {
			o.shown.From = protocol.SignTitle
		}
	}
}

// hear is the word that counts, and those from which it was chosen.
func (o *Own) hear() (newest ready.Word, heard [3]ready.Word) {
	o.mu.Lock()
	defer o.mu.Unlock()
	heard = [...]ready.Word{o.said, o.shown, o.files}
	for _, w := range heard {
		if w.State != "" && (newest.State == "" || w.At.After(newest.At)) {
			newest = w
		}
	}
	newest.Job = o.files.Job
	return newest, heard
}
