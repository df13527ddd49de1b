package term

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Front is the process that a shell has for its job in our place, and stops at a Ctrl-Z: so that
// nothing stops us, and we answer meanwhile. It is what we were: [Begin] starts us anew as its
// child, in its process group, and makes of it a shell that does what watcher says. It hands on the
// signals that it gets, is the guardian of our terminal, and ends as we did when we have ended.
type Front struct {
	pid       int
	lines     *os.File      // what we say to it
	reports   *os.File      // a byte for each SIGTSTP, and each time that it was stopped as we said and goes on; their end is its own
	continued chan struct{} // has room for one
	told      atomic.Bool   // to stop, and has not reported the end of that
	gone      atomic.Bool   // it was killed
	signals   chan os.Signal
}

// ErrFrontGone is that our front had ended before we began.
var ErrFrontGone = errors.New("the process that the shell has for the wrapper has ended")

// killed reports whether somebody has killed the front.
func (f *Front) killed() bool { return f.gone.Load() }

// Run takes the front's reports, and returns when somebody has killed it.
func (f *Front) Run() {
	buf := make([]byte, 1)
	for {
		if _, err := f.reports.Read(buf); err != nil {
			f.gone.Store(true)
			return
		}
		if buf[0] == stopAsked {
			select {
			case f.signals <- syscall.SIGTSTP:
			default: // others wait there to be looked at
			}
			continue
		}
		f.told.Store(false)
		select {
		case f.continued <- struct{}{}:
		default: // nobody waits any more
		}
	}
}

// Ended tells the exit status with which we are about to end. A front that is stopped, or that we
// have told to stop, is continued, or its shell would keep a job that is over.
func (f *Front) Ended(status int) {
	if f == nil {
		return
	}
	fmt.Fprintf(f.lines, "end %d\n", status) // it may be gone
	for end := time.Now().Add(time.Second); !f.killed() && time.Now().Before(end); {
		if f.stopped() {
			unix.Kill(0, unix.SIGCONT) // the front, and what was stopped with it
		}
		if !f.told.Load() {
			return
		}
		select {
		case <-f.continued:
		case <-time.After(10 * time.Millisecond): // it stops without a word
		}
	}
}

// stopAsked is the front's report that somebody, but not it, has sent SIGTSTP. As a signal it could
// reach us when the stop is over that it was of.
const stopAsked = 't'

// What the front may be told to do: to stop our job, or to do so only if the terminal is another's
// by then, for a shell may have given it back since we looked.
const (
	stopNow    = "stop\n"
	stopBehind = "behind\n"
)

// stop has our job stopped, and returns when it is continued, or with an error when that is over.
func (f *Front) stop(ctx context.Context, over <-chan struct{}, how string) error {
	select {
	case <-f.continued: // after a stop that was not waited for to its end
	default:
	}
	f.told.Store(true)
	if _, err := io.WriteString(f.lines, how); err != nil {
		return fmt.Errorf("stop the front: %w", err)
	}
	select {
	case <-f.continued:
		return nil
	case <-over:
		return ErrLeft
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
