package inject

import (
	"context"
	"time"

	"relay-pty/inject/draft"
	"relay-pty/inject/ready"
	"relay-pty/inject/sight"
)

// Look is everything that can be seen of the agent at one moment.
type Look struct {
	sight.Sight
	Facts       ready.Facts // the loop adds WasReady, LastBusy, LastInput and Submitted
	Draft       draft.State
	DialogAfter time.Duration // after which what may be a dialog is one; 0: nothing may be, or it is
	ReadPlace   string        // where a line program waits in a read for more; "": in none, or nothing tells
	Echo        bool          // the terminal echoes what is typed
	Unread      int           // bytes typed that the agent has not read; -1: not known
	Flushed     time.Time     // when the agent last threw away what it had not read; zero: never
	Brought     time.Time     // when keys that had been kept were last typed; zero: never
	Again       time.Duration // when to look again if nothing changes; 0: never
}

// Agent is the wrapped program and its terminal.
type Agent interface {
	// Look gathers what can be seen now. It must be quick.
	Look() Look
	// Begin makes the caller the only writer until End.
	Begin(ctx context.Context) (Tx, error)
	// Changed wakes whoever waits: look again.
	Changed() <-chan struct{}
}

// Tx is a transaction on the terminal's input. The human's keys of its time are
// kept and follow when it ends.
type Tx interface {
	Write(ctx context.Context, p []byte) (int, error)
	// Pass types what the human's terminal has answered to the agent's queries.
	Pass(ctx context.Context) error
	// Held tells how many bytes of the human's wait, and since when.
	Held() (n int, since time.Time)
	// TakeBack takes back what the agent has not read, up to n bytes, and tells
	// how many those were.
	TakeBack(n int) (got int, err error)
	End() error
}
