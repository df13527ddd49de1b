package inject

import (
	"context"
	"errors"
	"time"
)

// terminal is what an attempt has of the agent's terminal, and what it has typed there.
type terminal struct {
	tx     Tx     // nil once the human has the terminal back
	keys   string // what the terminal has yet to take
	sent   int    // bytes written of the message
	broken bool   // the last write failed, and not because the agent does not read
}

// How long a key that is not read may keep us from looking again, how long the agent's terminal may
// have no room for what is typed, and how long one write waits for that.
const (
	openWait   = time.Second
	writeWait  = time.Second
	writeSlice = 100 * time.Millisecond
)

// open takes the terminal, and reports whether it has it.
func (a *attempt) open(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, openWait)
	defer cancel()
	tx, err := a.in.Agent.Begin(ctx)
	if err != nil {
		return false
	}
	a.term.tx = tx
	return true
}

// release gives the terminal back to the human.
func (a *attempt) release() {
	if a.term.tx != nil {
		a.term.tx.End() // a terminal that is gone has no keys to bring back
		a.term.tx = nil
	}
}

// press types keys. What the agent's terminal has no room for is typed while the loop goes on.
func (a *attempt) press(ctx context.Context, keys string) {
	if a.term.keys = keys; !a.term.write(ctx) {
		a.timer.due = time.Now().Add(writeWait)
	}
}

// flush types what is left of the keys, until the terminal has taken nothing of it for a while in
// which the agent ran. It reports whether that is so.
func (a *attempt) flush(ctx context.Context, s step) (stuck bool) {
	t, before := &a.term, len(a.term.keys)
	switch {
	case t.broken:
	case s.halted, t.write(ctx), !t.broken && len(t.keys) < before:
		a.within(a.timer.limit)
		return false
	case t.broken:
	case a.timer.due.After(s.Facts.Now):
		return false
	}
	t.keys = ""
	a.within(a.timer.limit)
	return true
}

// within sets how long what is waited for may take from now on, or from when the keys are typed
// that have yet to be.
func (a *attempt) within(limit time.Duration) {
	a.timer = timer{limit, time.Now().Add(limit)}
	if a.term.keys != "" {
		a.timer.due = time.Now().Add(writeWait)
	}
}

// write types what the agent's terminal takes soon, and reports whether that is all.
func (t *terminal) write(ctx context.Context) bool {
	slice, cancel := context.WithTimeout(ctx, writeSlice)
	defer cancel()
	n, err := t.tx.Write(slice, []byte(t.keys))
	t.keys = t.keys[n:]
	t.sent += n
	t.broken = err != nil && (!errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil)
	return err == nil
}

// pass lets the agent have the terminal's answers to its queries when it has read all that was
// typed: it may show nothing before it has them.
func (in *Injector) pass(ctx context.Context, s step) {
	if a := in.typing(); a != nil && a.term.tx != nil && a.term.keys == "" && s.Unread <= 0 {
		a.term.tx.Pass(ctx) // a terminal that is gone shows by itself
	}
}
