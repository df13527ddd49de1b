package inject

import (
	"context"
	"fmt"
	"strings"
	"time"

	"relay-pty/inject/ready"
	"relay-pty/inject/turn"
	"relay-pty/inject/watch"
	"relay-pty/protocol"
)

// typedLine is what is typed to a program that reads lines.
type typedLine struct {
	prompt  string   // the row up to the cursor before the line was typed
	want    string   // what stands before the cursor once it has shown
	row     string   // the row up to the cursor then; in a composer, right before Enter
	shown   bool     // the program has shown it
	rest    []string // the lines that are still to be typed
	entered int      // how many were entered before it
}

// readTwice is how far apart the two looks lie that must find all bytes read.
const readTwice = 5 * time.Millisecond

// askedRest is how long a question must stand there: our text, half shown, may look like one.
const askedRest = 100 * time.Millisecond

// cook types to a program in line mode, where every newline submits.
func (a *attempt) cook(s step) (stage, time.Duration) {
	if !a.in.Mailbox.Entering(a.Turn) {
		return a.over(Result{Withdrawn, "", byRequest, "cancelled before anything was typed"})
	}
	t := a.in.Profile.Typing
	a.line.shown = s.Echo // the line discipline echoes all of it
	a.pieces = []turn.Piece{{Keys: strings.ReplaceAll(a.typed, "\n", t.Newline) + t.Submit}}
	a.pressed.at, a.then = time.Now(), reading
	return typing, 0
}

// nextLine types one line to a line editor that takes no pastes: each
// newline submits there, and each line is inert by itself.
func (a *attempt) nextLine(s step) (stage, time.Duration) {
	l := &a.line
	l.prompt, l.want, l.rest = s.Line, l.rest[0], l.rest[1:]
	a.pieces, a.then = []turn.Piece{{Keys: l.want}}, echoing
	return typing, 0
}

// echoing waits until a line shows that was typed to a raw-mode program whose composer we do not
// know, and presses Enter. A program that knows its line must show all of it; another one that
// shows nothing, but reads, may go on.
func (a *attempt) echoing() do {
	var asked, unseen time.Time
	return func(ctx context.Context, s step) (stage, time.Duration) {
		now, l := s.Facts.Now, &a.line
		l.shown, l.row = a.echoed(s.Look), s.Line
		asked = ready.Since(asked, s.Facts.Dialog != "" && !l.shown, now)
		unseen = ready.Since(unseen, s.Unread <= 0, now)
		impatient, _ := a.impatient(s.Look)
		impatient = impatient && a.pressed.at.IsZero()
		cancelled := a.pressed.at.IsZero() && a.in.Mailbox.Wanted(a.Turn)
		silent := !unseen.IsZero() && now.Sub(unseen) >= a.in.Profile.Typing.Echo
		switch {
		case s.Facts.Exited:
			return a.over(failed(protocol.FaultAgentExited, "the agent ended before the message was submitted"))
		case !asked.IsZero() && now.Sub(asked) >= askedRest:
			return a.over(doubtful(protocol.FaultDialog, "the program asks a question where the message was typed; Enter would answer it"))
		case l.shown:
			return a.enterLine(ctx, s)
		case s.Facts.Foreground && !silent && !impatient && !cancelled && !s.over:
			return echoing, askedRest
		case s.Unread > 0:
			return a.over(a.takeBack(ctx, "the agent does not read what is typed"))
		case !s.Facts.Foreground:
			return a.over(doubtful(protocol.FaultStranded, "another program took the terminal while the message was being typed"))
		case !a.strict():
			return a.enterLine(ctx, s)
		case cancelled:
			return a.withdraw(byRequest, "cancelled before Enter")
		case impatient:
			return a.withdraw(humanFirst, "the human's keys had to wait too long")
		}
		return a.withdraw(protocol.FaultStranded, "the line does not show the message as it was typed")
	}
}

// enterLine presses Enter behind a line.
func (a *attempt) enterLine(ctx context.Context, s step) (stage, time.Duration) {
	if a.line.entered == 0 && !a.in.Mailbox.Entering(a.Turn) {
		return a.withdraw(byRequest, "cancelled before Enter")
	}
	a.pressEnter(ctx, s)
	if len(a.line.rest) > 0 {
		return prompting, 0
	}
	return reading, 0
}

// partly is the cause of a result when lines were entered before it.
func (l *typedLine) partly(cause string) string {
	return fmt.Sprintf("%s; %d lines of the message had been typed", cause, l.entered)
}

// prompting waits until the program has taken the line and asks for another.
func (a *attempt) prompting() do {
	return func(_ context.Context, s step) (stage, time.Duration) {
		switch {
		case s.stuck:
			return a.unpressed()
		case s.Facts.Exited:
			return a.over(doubtful(protocol.FaultAgentExited, "the agent ended in the middle of the message"))
		case s.Facts.AtPrompt && s.Unread == 0 && !a.standsYet(s.Look):
			a.line.entered++
			a.felt = false // an editor may begin each line in another mode
			return feeling, 0
		case s.over:
			return a.over(doubtful(protocol.FaultStranded, "the prompt did not come back after a line of the message"))
		}
		return prompting, readTwice
	}
}

// strict reports whether every character must show before Enter: what is typed is
// kept from running by its own form, or is to run as it is.
func (a *attempt) strict() bool { return a.Command() || a.in.Profile.Quote.Inert() }

// echoed reports whether what was typed, or at least its end, stands before the cursor.
func (a *attempt) echoed(l watch.Look) bool {
	if !a.strict() {
		return a.EndsAt(l.Before)
	}
	want := a.line.want
	if turn.EndsWith(a.line.prompt, want) { // half drawn, the prompt would look like it
		want = a.line.prompt + want
	}
	return l.Line != a.line.prompt && turn.EndsWith(l.Before, want)
}

// standsYet reports whether the line is as it was before Enter.
func (a *attempt) standsYet(l watch.Look) bool {
	if a.strict() {
		return l.Line == a.line.row
	}
	return a.echoed(l)
}

// reading waits until the program has read the message and its Enter.
func (a *attempt) reading() do {
	var read time.Time
	return func(ctx context.Context, s step) (stage, time.Duration) {
		if s.stuck {
			return a.unpressed()
		}
		a.line.entered = 0
		if impatient, _ := a.impatient(s.Look); impatient && s.Unread == 0 {
			a.release()
		}
		moved := s.Unread == 0 && !(a.line.shown && s.Facts.Raw && a.standsYet(s.Look))
		read = ready.Since(read, moved, s.Facts.Now)
		rests := moved && (s.Facts.WaitsInRead || s.Facts.Now.Sub(read) >= readTwice)
		switch {
		case s.Facts.Exited:
			return a.over(doubtful(protocol.FaultAgentExited, "the agent ended right after Enter"))
		case rests && a.flushed(s.Look):
			return a.over(doubtful(protocol.FaultNoConsume, "the agent threw away unread input while the message was typed; part of it may be lost"))
		case rests && s.Facts.Draws:
			return a.over(doubtful(protocol.FaultNoConsume, "the program draws its own screen, so nothing tells what it made of the message"))
		case rests && !a.tookLine(s) && !s.over:
			return reading, readTwice
		case rests && !a.tookLine(s):
			return a.over(doubtful(protocol.FaultNoConsume, "the program takes single keys, and shows no prompt behind the message"))
		case rests && a.line.shown:
			return a.over(delivered(protocol.EvidenceEcho))
		case rests:
			return a.over(delivered(protocol.EvidenceConsumed))
		case !s.over:
			return reading, readTwice
		case s.Unread > 0:
			return a.over(a.takeBack(ctx, "the agent has not read the message"))
		}
		return a.over(doubtful(protocol.FaultNoConsume, "the message still stands in the line after Enter"))
	}
}

// tookLine reports whether a program that has read the message has taken it for a line: it leaves
// its terminal in line mode while it works on that, or asks for another one where it asked for
// this.
func (a *attempt) tookLine(s step) bool {
	return !s.Facts.Raw || s.Facts.AtPrompt || a.line.shown && strings.TrimSpace(a.line.prompt) != "" && s.Line == a.line.prompt
}

// flushed reports whether the agent threw away unread input since the attempt
// began. What a raw-mode program had shown by then, it had read.
func (a *attempt) flushed(l watch.Look) bool {
	return l.Flushed.After(a.began) && !(a.line.shown && l.Facts.Raw)
}
