package main

import (
	"strings"
	"sync"
	"time"

	"relay-pty/inject/ready"
	"relay-pty/parser"
	"relay-pty/protocol"
)

// ownWord is what the agent itself last said of its state: in its files, and
// by a signal or a marker. The newer one counts.
type ownWord struct {
	mu          sync.Mutex
	files, said ready.Word
}

// set keeps what the agent's files say and tells whether that is news.
func (o *ownWord) set(w ready.Word) (changed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	changed = o.files.State != w.State || o.files.Detail != w.Detail
	o.files = w
	return changed
}

// say keeps what the agent said just now.
func (o *ownWord) say(s ready.State, detail string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.said = ready.Word{State: s, Detail: detail, At: time.Now(), Said: true}
}

func (o *ownWord) get() ready.Word {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.files.At.After(o.said.At) || o.said.State == "" {
		return o.files
	}
	return o.said
}

// signal takes the agent's word over the socket and wakes the injector.
func (w *wrapper) signal(r *protocol.Signal) {
	w.agent.own.say(signalled(r.Event), r.Detail)
	select {
	case w.told <- struct{}{}:
	default: // it has not looked yet
	}
}

func signalled(event string) ready.State {
	switch event {
	case protocol.SignalReady, protocol.SignalTurnEnd:
		return ready.Ready
	case protocol.SignalBlocked:
		return ready.Blocked
	}
	return ready.Busy
}

// oneLine is s without control characters, on one line, fit to be shown.
func oneLine(s string) string {
	return strings.TrimSpace(strings.ReplaceAll(parser.Sanitize(s), "\n", " "))
}
