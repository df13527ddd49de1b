package inject

import (
	"context"
	"strings"
	"time"

	"relay-pty/inject/ready"
	"relay-pty/inject/watch"
	"relay-pty/protocol"
)

// feelRest is how long a line editor that has read a blank may take to show it. In the middle of a
// message it has all the time that text has.
const feelRest = 3 * time.Second

// feels reports whether the line must be felt before anything is typed there: an editor of the
// program's own has it, in which keys may be commands though it looks like an empty prompt.
func (a *attempt) feels(s step) bool {
	return a.in.Profile.Composer == nil && a.in.Profile.Quote.Inert() && s.Facts.Raw && !a.felt
}

// feeling types a blank to a line editor, and takes it away again. Where both are seen keys are
// text. In vi's command mode, in a search, behind the first half of a key, or in an argument they
// are not, and a blank does no harm there. A line that is not felt is left as it is, and a message
// that was not begun waits until the human does something about it, or it changes.
func (a *attempt) feeling() do {
	var was *step // before the blank was typed
	var read time.Time
	shown := false
	return func(ctx context.Context, s step) (stage, time.Duration) {
		if was == nil {
			was = &s
			a.press(ctx, " ")
			return feeling, atOnce
		}
		read = ready.Since(read, s.Unread <= 0, s.Facts.Now)
		impatient, _ := a.impatient(s.Look)
		blanks, ours := strings.CutPrefix(s.Line, was.Line)
		ours = ours && s.Row == was.Row && strings.Trim(blanks, " ") == ""
		switch {
		case s.Facts.Exited, !s.Facts.Foreground:
		case ours && !read.IsZero() && shown && blanks == "":
			if a.felt = true; a.began.IsZero() {
				return a.take(ctx, s)
			}
			return a.nextLine(s)
		case ours && !read.IsZero() && !shown && blanks == " ":
			shown, read = true, time.Time{}
			a.press(ctx, backspace)
			return feeling, atOnce
		case !s.over && !s.stuck && !impatient && (read.IsZero() || !a.began.IsZero() || s.Facts.Now.Sub(read) < feelRest):
			return feeling, watch.ChangeRest / 3
		case s.Unread > 0:
			a.term.tx.TakeBack(1) // where it cannot be, the blank is read later, and seen
		case ours && !shown:
			a.press(ctx, strings.Repeat(backspace, max(1, len(blanks)))) // it may show late
		}
		if a.in.seen.Unfelt(was.Look); !a.began.IsZero() {
			return a.over(doubtful(protocol.FaultStranded, "the line editor takes keys for something else than text"))
		}
		return a.bringBack(ended), 0
	}
}
