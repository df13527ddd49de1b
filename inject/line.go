package inject

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"relay-pty/inject/ready"
	"relay-pty/inject/turn"
	"relay-pty/protocol"
)

// readTwice is how far apart the two looks lie that must find all bytes read.
const readTwice = 5 * time.Millisecond

// runCooked delivers to a program in line mode, where every newline submits.
func (a *attempt) runCooked(ctx context.Context) *Result {
	if !a.in.Mailbox.Entering(a.Turn) {
		return &Result{Withdrawn, "", byRequest, "cancelled before anything was typed"}
	}
	a.enter = time.Now()
	keys := strings.ReplaceAll(a.typed, "\n", a.in.Profile.Typing.Newline) + a.in.Profile.Typing.Submit
	if r := a.write(ctx, keys); r != nil {
		return r
	}
	return a.awaitRead(ctx)
}

// runLine delivers to a raw-mode program whose composer we do not know: its echo
// is waited for, if it has one, then Enter, then that it has read every byte.
func (a *attempt) runLine(ctx context.Context) *Result {
	if r := a.awaitEcho(ctx); r != nil {
		return r
	}
	if !a.in.Mailbox.Entering(a.Turn) {
		return a.withdraw(ctx, byRequest, "cancelled before Enter")
	}
	if r := a.pressEnter(ctx, a.in.look()); r != nil {
		return r
	}
	return a.awaitRead(ctx)
}

// runLines delivers line by line to a line editor that takes no pastes: each
// newline submits there, and each line is inert by itself.
func (a *attempt) runLines(ctx context.Context) *Result {
	lines := strings.Split(a.typed, "\n")
	for i, line := range lines {
		a.line = line
		r := a.write(ctx, line)
		if r == nil {
			r = a.awaitEcho(ctx)
		}
		if i == 0 && r == nil && !a.in.Mailbox.Entering(a.Turn) {
			r = a.withdraw(ctx, byRequest, "cancelled before Enter")
		}
		if r == nil {
			r = a.pressEnter(ctx, a.in.look())
		}
		if r == nil && i < len(lines)-1 {
			r = a.awaitPrompt(ctx)
		}
		if r != nil {
			return partly(r, i)
		}
	}
	return a.awaitRead(ctx)
}

// partly is what a result means when lines were submitted before it.
func partly(r *Result, lines int) *Result {
	if lines > 0 && r.Status != Delivered {
		r.Status, r.Cause = Doubtful, fmt.Sprintf("%s; %d lines of the message had been typed", r.Cause, lines)
	}
	return r
}

// awaitPrompt waits until the program has taken the line and asks for another.
func (a *attempt) awaitPrompt(ctx context.Context) *Result {
	var end Look
	err := a.in.until(ctx, a.in.Profile.Typing.Confirm, func(l Look) (bool, time.Duration) {
		end = l
		return l.Facts.Exited || l.Facts.AtPrompt && l.Unread == 0 && !a.standsYet(l), readTwice
	})
	a.prompt = end.Line
	switch {
	case end.Facts.Exited:
		return &Result{Doubtful, "", protocol.FaultAgentExited, "the agent ended in the middle of the message"}
	case err != nil && !errors.Is(err, errDue):
		return &Result{Doubtful, "", protocol.FaultShuttingDown, "the wrapper ended while the message was being typed"}
	case err != nil:
		return &Result{Doubtful, "", protocol.FaultStranded, "the prompt did not come back after a line of the message"}
	}
	return nil
}

// askedRest is how long a question must stand there: our text, half shown, may look like one.
const askedRest = 100 * time.Millisecond

// awaitEcho waits until what was typed shows. A program that knows its line
// must show all of it; another one that shows nothing, but reads, may go on.
func (a *attempt) awaitEcho(ctx context.Context) *Result {
	var end Look
	var asked, unseen time.Time
	var over, cancelled, asks bool
	t := a.in.Profile.Typing
	err := a.in.until(ctx, max(t.Echo, t.Confirm), func(l Look) (bool, time.Duration) {
		end = l
		a.shown, a.row = a.echoed(l), l.Line
		asked = ready.Since(asked, l.Facts.Dialog != "" && !a.shown, l.Facts.Now)
		asks = !asked.IsZero() && l.Facts.Now.Sub(asked) >= askedRest
		unseen = ready.Since(unseen, l.Unread <= 0, l.Facts.Now)
		silent := !unseen.IsZero() && l.Facts.Now.Sub(unseen) >= t.Echo
		cancelled = a.enter.IsZero() && a.in.Mailbox.Wanted(a.Turn)
		over, _ = a.impatient(l)
		over = over && a.enter.IsZero()
		return a.shown || silent || over || cancelled || asks || l.Facts.Exited || !l.Facts.Foreground, askedRest
	})
	switch {
	case end.Facts.Exited:
		return &Result{Failed, "", protocol.FaultAgentExited, "the agent ended before the message was submitted"}
	case err != nil && !errors.Is(err, errDue):
		return &Result{Doubtful, "", protocol.FaultShuttingDown, "the wrapper ended while the message was being typed"}
	case asks:
		return &Result{Doubtful, "", protocol.FaultDialog, "the program asks a question where the message was typed; Enter would answer it"}
	case a.shown:
		return nil
	case end.Unread > 0:
		return a.takeBack(ctx, "the agent does not read what is typed")
	case !end.Facts.Foreground:
		return &Result{Doubtful, "", protocol.FaultStranded, "another program took the terminal while the message was being typed"}
	case !a.strict():
		return nil
	case cancelled:
		return a.withdraw(ctx, byRequest, "cancelled before Enter")
	case over:
		return a.withdraw(ctx, humanFirst, "the human's keys had to wait too long")
	}
	return a.withdraw(ctx, protocol.FaultStranded, "the line does not show the message as it was typed")
}

// strict reports whether every character must show before Enter: what is typed is
// kept from running by its own form, or is to run as it is.
func (a *attempt) strict() bool { return a.Command() || a.in.Profile.Quote.Inert() }

// echoed reports whether what was typed, or at least its end, stands before the cursor.
func (a *attempt) echoed(l Look) bool {
	if !a.strict() {
		return a.EndsAt(l.Before)
	}
	want := a.line
	if turn.EndsWith(a.prompt, want) { // half drawn, the prompt would look like it
		want = a.prompt + want
	}
	return l.Line != a.prompt && turn.EndsWith(l.Before, want)
}

// standsYet reports whether the line is as it was before Enter.
func (a *attempt) standsYet(l Look) bool {
	if a.strict() {
		return l.Line == a.row
	}
	return a.echoed(l)
}

// awaitRead waits until the program has read the message and its Enter.
func (a *attempt) awaitRead(ctx context.Context) *Result {
	var read time.Time
	var end Look
	err := a.in.until(ctx, a.in.Profile.Typing.Confirm, func(l Look) (bool, time.Duration) {
		end = l
		if over, _ := a.impatient(l); over && l.Unread == 0 {
			a.release()
		}
		moved := l.Unread == 0 && !(a.shown && l.Facts.Raw && a.standsYet(l))
		read = ready.Since(read, moved, l.Facts.Now)
		return l.Facts.Exited || moved && (l.Facts.WaitsInRead || l.Facts.Now.Sub(read) >= readTwice), readTwice
	})
	evidence := Evidence(protocol.EvidenceConsumed)
	if a.shown {
		evidence = protocol.EvidenceEcho
	}
	switch {
	case end.Facts.Exited:
		return &Result{Doubtful, "", protocol.FaultAgentExited, "the agent ended right after Enter"}
	case err == nil && a.flushed(end):
		return &Result{Doubtful, "", protocol.FaultNoConsume, "the agent threw away unread input while the message was typed; part of it may be lost"}
	case err == nil:
		return &Result{Status: Delivered, Evidence: evidence}
	case !errors.Is(err, errDue):
		return &Result{Doubtful, "", protocol.FaultShuttingDown, "the wrapper ended before the message was confirmed"}
	case end.Unread > 0:
		return a.takeBack(ctx, "the agent has not read the message")
	}
	return &Result{Doubtful, "", protocol.FaultNoConsume, "the message still stands in the line after Enter"}
}

// flushed reports whether the agent threw away unread input since the attempt
// began. What a raw-mode program had shown by then, it had read.
func (a *attempt) flushed(l Look) bool {
	return l.Flushed.After(a.began) && !(a.shown && l.Facts.Raw)
}

// takeBack removes from the terminal what the agent has not read. Only when
// that is all that was typed is it certain that nothing arrived. A paste that
// was read in part is closed: it would swallow the human's keys.
func (a *attempt) takeBack(ctx context.Context, why string) *Result {
	if a.tx != nil {
		if n, err := a.tx.TakeBack(a.sent); err == nil && n == a.sent {
			a.sent, a.enter = 0, time.Time{}
			return &Result{Withdrawn, "", protocol.FaultNoConsume, why + "; it was taken back whole"}
		}
		if a.pasted {
			a.put(ctx, turn.PasteClose) // nothing else can be done
		}
	}
	return &Result{Doubtful, "", protocol.FaultNoConsume, why + "; it may do so later"}
}
