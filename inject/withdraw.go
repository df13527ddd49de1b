package inject

import (
	"context"
	"strings"
	"time"

	"relay-pty/inject/ready"
	"relay-pty/inject/sight"
	"relay-pty/inject/turn"
	"relay-pty/inject/watch"
	"relay-pty/protocol"
)

// withdraw removes our own text from the composer by the profile's keys and
// verifies it. The composer was empty when the transaction began, so what it
// holds is ours, however it shows it. Text that it never showed may still come,
// and what cannot be verified stays in doubt.
func (a *attempt) withdraw(code, why string) (stage, time.Duration) {
	a.result = &Result{Withdrawn, "", code, why}
	if a.term.tx == nil {
		return a.doubt()
	}
	return withdrawing, 0
}

// doubt ends an attempt whose text could not be taken back.
func (a *attempt) doubt() (stage, time.Duration) {
	return a.over(Result{Doubtful, "", protocol.FaultStranded,
		a.result.Cause + ", and the text could not be taken back: look at the agent's composer"})
}

// withdrawing waits a while for the composer to hold text, all of which the agent has read: right
// after a write it is about to. What it has not read is taken back; what it has read and never
// showed is in doubt.
func (a *attempt) withdrawing() do {
	return func(ctx context.Context, s step) (stage, time.Duration) {
		switch {
		case s.Unread <= 0 && a.in.holdsText(s):
			return clearing, 0
		case !s.over:
			return withdrawing, proofRest / 6
		case s.Unread <= 0:
			return a.doubt()
		}
		r := a.takeBack(ctx, a.result.Cause)
		if r.Status == Withdrawn {
			if r.Status = a.result.Status; a.result.Code == humanFirst || a.result.Code == byRequest {
				r.Code = a.result.Code
			}
		}
		return a.over(r)
	}
}

// takeBack removes from the terminal what the agent has not read. Only when
// that is all that was typed is it certain that nothing arrived. A paste that
// was read in part is closed: it would swallow the human's keys.
func (a *attempt) takeBack(ctx context.Context, why string) Result {
	if a.term.tx != nil {
		if n, err := a.term.tx.TakeBack(a.term.sent); err == nil && n == a.term.sent {
			a.term.sent, a.pressed.at = 0, time.Time{}
			return Result{Withdrawn, "", protocol.FaultNoConsume, why + "; it was taken back whole"}
		}
		if len(a.pieces) > 0 && strings.Contains(a.pieces[0].Keys, turn.PasteOpen) {
			a.press(ctx, turn.PasteClose) // nothing else can be done
		}
	}
	return Result{Doubtful, "", protocol.FaultNoConsume, why + "; it may do so later"}
}

// holdsText reports whether the composer can be seen and holds text, or the line
// of a program with a prompt does.
func (in *Injector) holdsText(s step) bool {
	if in.Profile.Composer == nil {
		return s.Facts.Foreground && !in.seen.Clean(s.Look)
	}
	return s.Box.Visible && (s.Box.Text != "" || s.Box.Blank) && !s.blocked()
}

// How long an agent may take to show what a key that clears has done, and how long all of it may
// take: the human's keys wait.
const (
	clearWait  = 5 * proofRest
	clearLimit = 5 * time.Second
)

// Keys that clear, beside the profile's: none, to see what becomes of what is painted anew; and
// Backspace.
const (
	noKey     = ""
	backspace = "\x7f"
)

// clearing presses the profile's keys until none of our text is left. A key that took some of it
// is pressed again, as one that kills a line has to be for each of them; one that did nothing is
// not. What ends a line is in the way of such keys, so Backspaces go before each repetition:
// what stands in the composer is ours alone, and so they can take nothing else. An agent that is
// slow to show what a key did must not get more of them on an empty box.
func (a *attempt) clearing() do {
	list, end := a.in.Profile.Typing.Clear, time.Now().Add(clearLimit)
	var effect *watch.Change // of the key; nil: none was pressed yet
	key, again := noKey, false
	press := func(ctx context.Context, s step, k string, limit time.Duration) (stage, time.Duration) {
		effect, key = watch.ChangeFrom(s.Look), k
		if k != noKey {
			a.press(ctx, k)
		}
		a.within(limit)
		return clearing, atOnce
	}
	return func(ctx context.Context, s step) (stage, time.Duration) {
		if effect != nil {
			did := effect.Did(&a.in.seen, s.Look, s.blocked())
			if did == watch.Nothing && !s.over && !s.stuck {
				return clearing, watch.ChangeRest / 3
			}
			switch {
			case key == noKey && did != watch.Some, key != noKey && key != backspace && did == watch.Everything:
				return a.cleared(ctx, s, did == watch.Everything)
			case key == noKey:
			case key == backspace && did != watch.Everything && !(did == watch.Some && turn.Same(s.Box.Text, effect.Before())):
				return press(ctx, s, list[0], clearWait)
			case key == backspace:
			case did == watch.Some:
				again = true
			default:
				if list = list[1:]; !a.isOurs(s.Look) {
					return a.cleared(ctx, s, false)
				}
			}
		}
		switch emptyLine := strings.Trim(s.Line, " \u00a0│┃|") == ""; {
		case len(list) == 0 || !s.Facts.Now.Before(end):
			return a.cleared(ctx, s, false)
		case !a.in.holdsText(s): // it is empty or painted anew, a dialog came, or it is gone
			return press(ctx, s, noKey, clearWait)
		case emptyLine && (again || s.Box.Blank) && a.in.Profile.Composer != nil:
			return press(ctx, s, backspace, 2*proofRest)
		}
		return press(ctx, s, list[0], clearWait)
	}
}

// cleared goes on when the text is gone, or cannot be taken out: to the message for which it was to
// make room, or to the end of the one that it was of. Text that stays counts as a draft from then
// on.
func (a *attempt) cleared(ctx context.Context, s step, all bool) (stage, time.Duration) {
	switch {
	case a.began.IsZero() && all:
		return a.take(ctx, s)
	case a.began.IsZero():
		return ended, 0
	case !all:
		return a.doubt()
	}
	a.pressed.at = time.Time{} // whatever an Enter did, it did not submit: what was set aside must be brought back
	return a.over(*a.result)
}

// isOurs reports whether the composer is seen to hold something of the message. Keys that clear a
// text may open a dialog where there is none, and strays may look like one.
func (a *attempt) isOurs(l watch.Look) bool {
	text, sign := l.Box.Text, a.in.Profile.Chips().Paste
	return a.in.Profile.Composer == nil || a.Left(text) || a.Begun(text) || turn.Within(text, a.typed) ||
		sign != "" && strings.Contains(text, sign)
}

// behind waits until a dialog is gone that came when the message was typed and not submitted. When
// the agent is ready again, what the composer holds decides.
func (a *attempt) behind() do {
	stood := false          // it stood whole in the composer when the dialog was gone
	var empty *watch.Change // of a composer that shows nothing
	return func(ctx context.Context, s step) (stage, time.Duration) {
		stood = stood || a.term.tx == nil && a.holdsOurs(s.Look)
		switch {
		case a.term.tx == nil && a.in.took(a.Turn): // the human sent it
			return a.over(delivered(protocol.EvidenceTurn))
		case a.term.tx == nil && s.Facts.Exited:
			return a.over(failed(protocol.FaultAgentExited, "the agent ended before the message was submitted"))
		case a.term.tx == nil && s.hold != "": // also a wish to cancel waits: its text cannot be taken back before
			return behind, 0
		case a.term.tx == nil:
			a.open(ctx)
			return behind, atOnce
		case empty == nil && s.Box.Text == "" && !s.Box.Blank:
			empty = watch.ChangeFrom(s.Look)
			a.within(clearWait)
			return behind, watch.ChangeRest / 3
		}
		if empty != nil {
			switch did := empty.Did(&a.in.seen, s.Look, s.blocked()); {
			case did == watch.Everything:
				return a.swallowed(stood)
			case did == watch.Nothing && !s.over:
				return behind, watch.ChangeRest / 3
			}
		}
		switch {
		case a.holdsOurs(s.Look):
			return showing, 0
		case a.begunIn(s.Look) && !a.cameBack:
			return a.withdraw(protocol.FaultDialog, "a dialog came while the message was being typed")
		}
		return a.over(a.mixed())
	}
}

// begunIn reports whether the composer holds a part of the message and nothing else. Where its
// beginning is out of view, the human must have typed nothing.
func (a *attempt) begunIn(l watch.Look) bool {
	if l.Box.Top && l.Box.Text != "" {
		return a.Begun(l.Box.Text)
	}
	return turn.Within(l.Box.Text, a.typed) && !l.Draft.MayHold()
}

// swallowed is what follows when a message does not stand in the composer after the dialog. If it
// has stood there since, only the human can have sent or removed it. One that came back from
// the agent's queue has no end yet: the agent may have taken it up, which its log will tell.
func (a *attempt) swallowed(stood bool) (stage, time.Duration) {
	switch {
	case a.cameBack:
		return a.bringBack(queued), 0
	case stood:
		return a.over(doubtful(protocol.FaultDialog,
			"a dialog came before Enter; the message stood in the composer after it, and then left it by the human's keys"))
	}
	return a.over(Result{Withdrawn, "", protocol.FaultDialog, "a dialog swallowed the message before it was submitted"})
}

// mixed is the end of a message that stands in the composer and is not what was typed any more.
func (a *attempt) mixed() Result {
	if a.cameBack {
		return doubtful(protocol.FaultReturned,
			"the message came back from the agent's queue into its composer, where it was changed or stands with other text")
	}
	return doubtful(protocol.FaultDraftUncertain, "a dialog came before Enter, and the composer now holds the message mixed with other text")
}

// A text that is left stands in the composer against our will, and is in everybody's way: a message
// that could not be taken back, or a key of a mode that became text. While nobody else has typed
// anything, all that the composer holds is still ours.

// mayLeave remembers a key that is pressed now, and shows in an empty composer if it became text.
func (in *Injector) mayLeave(key string) {
	in.drop(left)
	in.attempts = append(in.attempts, &attempt{in: in, stage: left, typed: key, began: time.Now()})
}

// remains reports whether the text is in the composer.
func (a *attempt) remains(b sight.Box) bool {
	if len(a.Turn) == 0 {
		return b.Text == a.typed
	}
	return a.leftIn(b)
}

// leftAlone reports whether a text that was left is all that the composer holds.
func (in *Injector) leftAlone(l watch.Look) bool {
	a := in.at(left)
	return a != nil && l.Box.Visible && !l.Box.Foreign && a.remains(l.Box) && !watch.TypedSince(l, a.began) && !l.Draft.MayHold()
}

// removable reports whether such a text stands there, and may be removed: an agent that works could
// take the keys for an interrupt.
func (in *Injector) removable(s step) bool {
	return s.verdict.State == ready.Ready && in.leftAlone(s.Look) && in.at(givenBack) == nil
}
