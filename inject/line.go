package inject

import (
	"context"
	"errors"
	"strings"
	"time"
)

// readTwice is how far apart the two looks lie that must find all bytes read.
const readTwice = 5 * time.Millisecond

// runCooked delivers to a program in line mode, where every newline submits: all
// in one write, so that the terminal's echo of it is not cut by what the program
// answers to its first line.
func (a *attempt) runCooked(ctx context.Context) *Result {
	t := a.in.Profile.Typing
	a.enter = time.Now()
	if r := a.write(ctx, []string{strings.Join(a.pieces(t, false), "") + t.Submit}); r != nil {
		return r
	}
	return a.awaitRead(ctx)
}

// runLine delivers to a raw-mode program whose composer we do not know: its echo
// is waited for, if it has one, then Enter, then that it has read every byte.
func (a *attempt) runLine(ctx context.Context) *Result {
	err := a.in.until(ctx, a.in.Profile.Typing.Echo, func(l Look) (bool, time.Duration) {
		a.shown = a.echoed(l)
		over, again := a.impatient(l.Facts.Now)
		return a.shown || over || l.Facts.Exited || l.Dialog != "", again
	})
	if err != nil && ctx.Err() != nil {
		return &Result{Doubtful, "", "shutting_down", "the wrapper ended while the message was being typed"}
	}
	look := a.in.look()
	if look.Facts.Exited {
		return &Result{Failed, "", "agent_exited", "the agent ended before the message was submitted"}
	}
	if look.Dialog != "" {
		return &Result{Doubtful, "", "dialog", "the program asks a question where the message was typed; Enter would answer it"}
	}
	if !a.shown && look.Unread > 0 {
		return &Result{Doubtful, "", "no_consume", "the agent does not read what is typed; it may do so later"}
	}
	if r := a.pressEnter(ctx); r != nil {
		return r
	}
	return a.awaitRead(ctx)
}

// echoed says whether the end of the message stands before the cursor.
func (a *attempt) echoed(l Look) bool {
	return strings.HasSuffix(squeeze(l.Before), squeeze(a.Footer))
}

// awaitRead waits until the program has read the message and its Enter.
func (a *attempt) awaitRead(ctx context.Context) *Result {
	var read time.Time
	var end Look
	err := a.in.until(ctx, a.in.Profile.Typing.Confirm, func(l Look) (bool, time.Duration) {
		end = l
		if over, _ := a.impatient(l.Facts.Now); over {
			a.release()
		}
		moved := l.Unread == 0 && !(a.shown && l.Facts.Raw && a.echoed(l))
		read = since(read, moved, l.Facts.Now)
		return l.Facts.Exited || moved && l.Facts.Now.Sub(read) >= readTwice, readTwice
	})
	switch {
	case end.Facts.Exited:
		return &Result{Doubtful, "", "agent_exited", "the agent ended right after Enter"}
	case err == nil && a.shown:
		return &Result{Status: Delivered, Evidence: Echoed}
	case err == nil:
		return &Result{Status: Delivered, Evidence: Consumed}
	case !errors.Is(err, errDue):
		return &Result{Doubtful, "", "shutting_down", "the wrapper ended before the message was confirmed"}
	}
	return &Result{Doubtful, "", "no_consume", "the agent has not read the message yet; it may do so later"}
}
