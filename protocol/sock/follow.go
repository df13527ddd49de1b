package sock

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"relay-pty/protocol"
	"relay-pty/protocol/dirwatch"
)

// FromNow is the cursor of a follower that wants only what happens from now on.
const FromNow = -1

// Gap is what a [Follower] tells, in place of a frame, when events may be missing between the
// one before and the next.
type Gap struct {
	Reason GapReason
	Epoch  string // of the events that follow
}

// GapReason is why events may be missing.
type GapReason string

const (
	// NewEpoch: the wrapper's numbers began anew, for it keeps no journal or has lost it.
	NewEpoch GapReason = "epoch"
	// CursorGone: the events behind the cursor are not kept any more; all that are follow.
	CursorGone GapReason = "cursor_gone"
)

// Type is "gap"; no wrapper sends it.
func (*Gap) Type() string { return "gap" }

// Follower reads the events of the wrapper at one socket, each once and in order, over the end of
// connections and of wrappers: it goes on where it was when a wrapper listens there again. One
// goroutine at a time uses it.
type Follower struct {
	path  string
	types []string
	after int64
	epoch string // empty: not known yet

	ends bool // with the wrapper

	conn  *Client
	gap   *Gap // to be told before anything else
	watch *dirwatch.Dir
	tries int // connections in a row that did not come about
}

// Follow begins to follow the wrapper at path, of which nothing is asked yet: after the event of
// that number in that epoch, 0 for all that are kept, [FromNow] for none of them; of those types,
// none for all. With an empty epoch any will do.
func Follow(path string, after int64, epoch string, types ...string) *Follower {
	return &Follower{path: path, types: types, after: after, epoch: epoch}
}

// ErrNoWrapper is how Next ends for whoever called UntilGone.
var ErrNoWrapper = errors.New("nobody listens there any more")

// UntilGone makes Next end with [ErrNoWrapper], once all that the wrapper told was returned and
// nobody listens at the path any more, where it else waits for the next wrapper.
func (f *Follower) UntilGone() { f.ends = true }

// Cursor is where to go on later: behind what Next returned last.
func (f *Follower) Cursor() (after int64, epoch string) { return f.after, f.epoch }

// Close lets go of the connection and of what watches for the wrapper's return.
func (f *Follower) Close() {
	f.hangUp()
	if f.watch != nil {
		f.watch.Close()
		f.watch = nil
	}
}

func (f *Follower) hangUp() {
	if f.conn != nil {
		f.conn.Close() // nothing is owed
		f.conn = nil
	}
}

// Next returns the next [protocol.Event], of an unknown type too, or *[Gap]. It waits as long as
// nobody listens at the path; it ends with the cause of ctx, or with an error that waiting does
// not mend: a socket that is not ours, or a cursor that the wrapper does not understand.
func (f *Follower) Next(ctx context.Context) (protocol.Frame, error) {
	for {
		if f.conn == nil {
			if err := f.connect(ctx); err != nil {
				return nil, err
			}
		}
		if gap := f.gap; gap != nil {
			f.gap = nil
			return gap, nil
		}
		frame, err := f.conn.Next(ctx)
		if ctx.Err() != nil && err != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			f.hangUp()
			if err := f.wait(ctx, err); err != nil {
				return nil, err
			}
			continue
		}
		// A lagged line repeats a number and ends the connection: what it left out comes by the
		// next.
		ev, ok := frame.(protocol.Event)
		if _, lagged := frame.(*protocol.Lagged); ok && !lagged && ev.Stamped().Seq > f.after {
			f.after, f.tries = ev.Stamped().Seq, 0
			return ev, nil
		}
	}
}

// connect connects and subscribes, as often as that takes.
func (f *Follower) connect(ctx context.Context) error {
	for {
		conn, err := Dial(ctx, f.path)
		if err == nil {
			if err = f.subscribe(ctx, conn); err == nil {
				f.conn = conn
				return nil
			}
			conn.Close() // it is of no use
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !temporary(err):
			return err
		}
		if err := f.wait(ctx, err); err != nil {
			return err
		}
	}
}

// temporary reports whether asking again could help.
func temporary(err error) bool {
	var refused *protocol.Error
	var bad interface{ Hint() string } // a path that cannot be, or is another's
	switch {
	case errors.As(err, &refused):
		return refused.Code != protocol.BadField && refused.Code != protocol.UnknownType
	case errors.As(err, &bad):
		return false
	}
	return true
}

// subscribe asks for the events behind the cursor. Where they are gone, or the numbers began
// anew, it asks for all that are kept and has that told.
func (f *Follower) subscribe(ctx context.Context, conn *Client) error {
	var lost GapReason
	for {
		after := f.after
		r := &protocol.Subscribe{After: &after, Events: f.types}
		if f.after == FromNow {
			r.After = nil
		}
		answer, err := conn.Ask(ctx, r)
		var refused *protocol.Error
		if errors.As(err, &refused) && refused.Code == protocol.CursorGone && f.after != 0 {
			f.after, lost = 0, CursorGone
			continue
		}
		if err != nil {
			return err
		}
		s, ok := answer.(*protocol.Subscribed)
		if !ok {
			return errors.New("subscribe was answered by " + answer.Type())
		}
		anew := f.epoch != "" && f.epoch != s.Epoch
		if anew && f.after > 0 { // this number means another event here
			f.after, f.epoch, lost = 0, s.Epoch, NewEpoch
			continue
		}
		if anew {
			lost = NewEpoch
		}
		f.epoch = s.Epoch
		f.after = max(f.after, 0)
		if r.After == nil {
			f.after = s.Seq
		}
		if lost != "" {
			f.gap = &Gap{Reason: lost, Epoch: s.Epoch}
		}
		return nil
	}
}

// How long to wait for another try, doubled each time; and how often it is tried without a sign
// that somebody listens there again: a socket has its name a moment before it takes connections.
const (
	firstRetry = 10 * time.Millisecond
	lastRetry  = 5 * time.Second
	quickTries = 8
)

// wait waits until another try may succeed. Where nobody listens only the socket's coming tells.
func (f *Follower) wait(ctx context.Context, err error) error {
	if f.ends {
		if _, listens := Listening(f.path); !listens {
			return ErrNoWrapper
		}
	}
	if f.watch == nil {
		dir, name := filepath.Split(f.path)
		f.watch, _ = dirwatch.Watch(filepath.Clean(dir), func(n string) bool { return n == name }) // without one, time tells
	}
	var changed <-chan struct{}
	if f.watch != nil {
		changed = f.watch.Changed()
	}
	var timer <-chan time.Time
	if absent := errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ECONNREFUSED); !absent || changed == nil || f.tries < quickTries {
		timer = time.After(min(firstRetry<<min(f.tries, 16), lastRetry))
	}
	f.tries++
	select {
	case <-timer:
	case <-changed:
		f.tries = 0
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}
