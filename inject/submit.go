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
	"relay-pty/protocol/failpoint"
)

// proofRest is how long a composer must stay without our message before that
// alone, with no sign of the turn, proves that it was taken.
const proofRest = watch.Rest

// typing types the pieces one by one. It types a piece only once the agent has read the one
// before and shows it, or has had its time to: Codex leaves what reached it together with other
// keys unread until the next key. The first piece must be seen: in a composer that takes keys for
// commands nothing but the header may be typed.
func (a *attempt) typing() do {
	var chip time.Time
	var before *watch.Glance // of the piece that was typed last; nil: none was
	must := a.in.Profile.Composer != nil
	return func(ctx context.Context, s step) (stage, time.Duration) {
		if s.stuck {
			return a.over(a.takeBack(ctx, "the agent does not read its terminal"))
		}
		if before != nil && len(a.pieces) > 1 {
			if next, is := a.interrupted(s); is {
				return next, 0
			}
			shows, altered := before.Shows(a.pieces[0], s.Look, must)
			switch {
			case altered:
				return a.withdraw(protocol.FaultStranded, "the composer shows something else than what was typed")
			case !shows:
				return a.awaits(s, &chip)
			}
			must, before, a.pieces = false, nil, a.pieces[1:]
		}
		if before == nil {
			before, chip = &watch.Glance{Look: s.Look}, time.Time{}
			a.press(ctx, a.pieces[0].Keys)
			a.within(a.timer.limit)
		}
		if len(a.pieces) > 1 || a.term.keys != "" {
			return typing, atOnce
		}
		return a.then, 0
	}
}

// interrupted is the stage that follows where the agent has ended, or asks something: a dialog
// suspends the attempt, and the terminal is the human's until it is answered. What had come back
// from the agent's queue is looked for there again.
func (a *attempt) interrupted(s step) (next stage, is bool) {
	switch {
	case s.Facts.Exited:
		next, _ = a.over(failed(protocol.FaultAgentExited, "the agent ended before the message was submitted"))
		return next, true
	case s.blocked() && a.cameBack:
		return queued, true
	case s.blocked():
		return behind, true
	}
	return 0, false
}

// awaits goes on waiting for what was typed to show. It gives up, and takes the text back, when
// time is over since the agent last read a part of it, when the composer hides it, somebody wants
// it cancelled, or the human has waited too long.
func (a *attempt) awaits(s step, chip *time.Time) (stage, time.Duration) {
	sign := a.in.Profile.Chips().Paste // half a repaint may look like one, so it must stand
	*chip = ready.Since(*chip, s.Box.Visible && s.Unread <= 0 && a.Hidden(s.Box.Text, s.Box.Top, sign), s.Facts.Now)
	impatient, _ := a.impatient(s.Look)
	switch {
	case a.in.Mailbox.Wanted(a.Turn):
		return a.withdraw(byRequest, "cancelled before Enter")
	case !chip.IsZero() && s.Facts.Now.Sub(*chip) >= proofRest:
		return a.withdraw(protocol.FaultStranded, "the composer hides the message behind a chip")
	case impatient:
		return a.withdraw(humanFirst, "the human's keys had to wait too long")
	case s.over:
		return a.withdraw(protocol.FaultStranded, "the composer did not show the message in time")
	}
	return a.stage, proofRest / 12
}

// showing waits until the composer shows the message, and then presses Enter on what it shows at
// that moment.
func (a *attempt) showing() do {
	var chip, shown time.Time
	entering := false // it is too late to cancel
	return func(ctx context.Context, s step) (stage, time.Duration) {
		if failpoint.Built && failpoint.On(failpoint.WrittenDelivered) {
			a.pressEnter(ctx, s)
			return a.over(delivered(protocol.EvidenceSubmitted))
		}
		if next, is := a.interrupted(s); is {
			return next, 0
		}
		if !a.holdsOurs(s.Look) {
			if key := a.ends.Key(a.Turn, a.in.Profile.Typing, s.Look); key != "" {
				a.press(ctx, key)
				return showing, atOnce
			}
			return a.awaits(s, &chip)
		}
		if shown.IsZero() {
			shown = s.Facts.Now
			a.within(a.timer.limit)
		}
		if rest := a.in.Profile.Typing.EnterDelay - s.Facts.Now.Sub(shown); rest > 0 {
			return showing, rest
		}
		if !entering {
			if entering = a.in.Mailbox.Entering(a.Turn); !entering {
				return a.withdraw(byRequest, "cancelled before Enter")
			}
			return showing, atOnce
		}
		if failpoint.Built && failpoint.On(failpoint.EnterApart) {
			a.release()
			a.open(ctx) // fails where the agent has ended
		}
		a.pressEnter(ctx, s)
		return confirming, 0
	}
}

// pressEnter types the profile's key for it, on what the step has seen.
func (a *attempt) pressEnter(ctx context.Context, s step) {
	if a.in.Profile.Composer != nil {
		a.line.row = s.Line
	}
	a.pressed.aside = a.pressed.aside || s.Stashed
	a.pressed.at, a.pressed.joined = time.Now(), s.busy()
	a.press(ctx, a.in.submitKey(s))
}

// submitKey is what submits text now without cutting a reply.
func (in *Injector) submitKey(s step) string {
	if t := in.Profile.Typing; s.busy() && t.Queue != "" {
		return t.Queue
	}
	return in.Profile.Typing.Submit
}

// unpressed ends an attempt whose Enter the terminal did not take.
func (a *attempt) unpressed() (stage, time.Duration) {
	return a.over(doubtful(protocol.FaultStranded, "the message stands in the composer and Enter could not be typed"))
}

// confirming waits until the composer no longer holds our message and the agent took it. "Is empty"
// would be the wrong question: a restored draft refills it. While a dialog is in front the time
// stands still where the agent's log will tell: Codex shows "Waiting for startup" behind an Enter,
// and takes up the message afterwards.
func (a *attempt) confirming() do {
	var gone, stood time.Time
	insisted := false // Enter was pressed a second time
	return func(ctx context.Context, s step) (stage, time.Duration) {
		if s.stuck && !insisted {
			return a.unpressed()
		}
		a.pressed.joined = a.pressed.joined || s.Queued && a.in.Log != nil && !a.Command()
		if r := a.proved(s); r != nil {
			return a.over(*r)
		}
		if s.blocked() && a.in.Log != nil && !a.Command() {
			a.within(a.timer.limit)
			s.over = false
		}
		clear := a.goneFrom(s.Box) && !s.blocked() && s.Unread <= 0
		gone = ready.Since(gone, clear, s.Facts.Now)
		switch rest := s.Facts.Now.Sub(gone); {
		case clear && a.pressed.joined && rest >= stashRest:
			return a.bringBack(queued), 0
		case clear && rest >= proofRest && a.slow() > 0:
			return accepted, 0
		case clear && rest >= proofRest:
			return a.over(delivered(protocol.EvidenceSubmitted))
		}
		ours := !s.blocked() && a.holdsOurs(s.Look) && s.Unread <= 0
		stood = ready.Since(stood, ours, s.Facts.Now)
		if ours && !insisted && a.mayInsist(s, stood) {
			insisted = true
			a.pressEnter(ctx, s) // an Enter that cannot be typed leaves the first one's verdict
		}
		switch cut := !s.blocked() && s.Box.Visible && !a.inView(s.Box); {
		case !s.over:
			return a.yield(s)
		case s.Unread > 0:
			return a.over(a.takeBack(ctx, "the agent has not read the message"))
		case stood.IsZero() && !cut:
			return a.over(doubtful(protocol.FaultDialog, "Enter was pressed and the composer has not come back since"))
		}
		next, _ := a.withdraw(protocol.FaultStranded, "the composer did not take Enter")
		if a.result.Status == Withdrawn { // Enter was pressed: it is not tried again
			a.result.Status = Failed
		}
		return next, 0
	}
}

// yield stays, and gives the human the terminal when their keys have waited long enough.
func (a *attempt) yield(s step) (stage, time.Duration) {
	impatient, rest := a.impatient(s.Look)
	if !impatient {
		return a.stage, sooner(rest, proofRest/6)
	}
	if next := a.bringBack(a.stage); next != a.stage {
		return next, 0
	}
	a.release()
	return a.stage, proofRest / 6
}

// slow is how long the agent may stand still before it takes up the turn, the text still in its
// composer or not; 0: it is not so long.
func (a *attempt) slow() time.Duration {
	t := a.in.Profile.Typing
	if t.SlowText == 0 || a.Command() || len(a.typed) <= t.SlowText {
		return 0
	}
	return t.SlowTurn
}

// accepted waits until the turn of such a message shows, or has shown and may be over.
func (a *attempt) accepted() do {
	return func(_ context.Context, s step) (stage, time.Duration) {
		switch r := a.proved(s); {
		case r != nil:
			return a.over(*r)
		case a.in.seen.Busy.After(a.pressed.at):
			return a.over(delivered(protocol.EvidenceSubmitted))
		case s.over:
			return a.over(doubtful(protocol.FaultNoConsume, "the agent emptied its composer and has begun no turn since"))
		}
		return a.yield(s)
	}
}

// proved returns the result if it is already certain, nil if the attempt must go on waiting.
func (a *attempt) proved(s step) *Result {
	switch {
	case a.in.took(a.Turn):
		return new(delivered(protocol.EvidenceTurn))
	case s.Facts.Exited:
		return new(doubtful(protocol.FaultAgentExited, "the agent ended right after Enter"))
	case a.goneFrom(s.Box) && s.Unread <= 0 && s.busy() && !a.pressed.joined:
		return new(delivered(protocol.EvidenceSubmitted))
	}
	return nil
}

// took reports whether the agent's log shows all of a turn.
func (in *Injector) took(t turn.Turn) bool {
	if in.Log == nil {
		return false
	}
	for _, m := range t {
		if !in.Log.Took(m.ShownID()) {
			return false
		}
	}
	return true
}

// holdsOurs reports whether the composer shows our message and nothing else.
func (a *attempt) holdsOurs(l watch.Look) bool {
	shown := l.Box.Text
	if a.Command() {
		shown = l.Box.Mode + shown // its first character may have switched the composer to a mode of its own
	}
	return l.Box.Visible && a.Stands(shown, (l.Box.Top || l.Box.Foreign) && !a.ends.Begins)
}

// goneFrom reports whether the composer shows that it holds nothing of the message any more.
func (a *attempt) goneFrom(b sight.Box) bool { return b.Visible && a.inView(b) && !a.leftIn(b) }

// inView reports whether the composer shows all that it may hold of the message. Where its
// beginning is out of view the header may stand there, and the footer be altered: Claude Code takes
// Enter for the choice of a file while it offers some. Only a draft that was set aside may come
// back so tall.
func (a *attempt) inView(b sight.Box) bool {
	return b.Top && (!a.ends.Begins || b.Text == "") || b.Foreign || a.draft != nil || a.pressed.aside
}

// leftIn reports whether any of the message is still in the composer.
func (a *attempt) leftIn(b sight.Box) bool { return a.Left(b.Mode + b.Text) }

// mayInsist reports whether to press Enter once more: the agent has read the first one and the
// message still stands there, unchanged, in two looks. The terminal must still
// be ours: no key of the human may have come in between. A draft that was set aside
// comes back with the first Enter, however late it is taken: a second would submit it.
// So where the agent shows that it has one, there is no second, and elsewhere only
// when the first is seen to have become a newline.
func (a *attempt) mayInsist(s step, stood time.Time) bool {
	t := a.in.Profile.Typing
	if a.pressed.aside || s.Stashed || a.term.tx == nil || t.Again == 0 || s.Facts.Now.Sub(stood) < t.Again {
		return false
	}
	return a.draft == nil || a.EndsRow(a.line.row) && strings.TrimSpace(s.Line) == ""
}

// impatient reports whether the human's keys have been kept as long as they may,
// and else when to ask again. A stopped agent could not take them anyway, nor one
// that is in the middle of reading: they would come behind a part of our text.
func (a *attempt) impatient(l watch.Look) (bool, time.Duration) {
	switch {
	case a.term.tx == nil || l.Facts.Stopped:
		return false, 0
	case l.Unread > 0 && l.Unread < a.term.sent:
		return false, watch.UnreadRest
	}
	n, since := a.term.tx.Held()
	if n == 0 {
		return false, 0
	}
	rest := a.in.Profile.Typing.KeyWait - l.Facts.Now.Sub(ready.Later(since, a.in.seen.Stopped))
	return rest <= 0, rest
}
