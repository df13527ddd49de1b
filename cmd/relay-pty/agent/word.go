package agent

import (
	"sync"
	"time"

	"relay-pty/inject/ready"
)

// Own is what the agent itself last said of its state: in its files, and
// by a signal or a marker. The newer one counts.
type Own struct {
	mu          sync.Mutex
	files, said ready.Word
}

// Set keeps what the agent's files say and tells whether that is news.
func (o *Own) Set(w ready.Word) (changed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	changed = o.files.State != w.State || o.files.Detail != w.Detail
	o.files = w
	return changed
}

// Say keeps what the agent said just now.
func (o *Own) Say(s ready.State, detail string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.said = ready.Word{State: s, Detail: detail, At: time.Now(), Said: true}
}

// get is the word that counts.
func (o *Own) get() ready.Word {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.files.At.After(o.said.At) || o.said.State == "" {
		return o.files
	}
	return o.said
}
