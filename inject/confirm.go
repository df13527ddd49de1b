package inject

import (
	"context"
	"errors"
	"strings"
	"time"

	"relay-pty/inject/ready"
	"relay-pty/inject/sight"
	"relay-pty/inject/turn"
	"relay-pty/protocol"
)

// proofRest is how long a composer must stay without our message before that
// alone, with no sign of the turn, proves that it was taken.
const proofRest = 300 * time.Millisecond

// awaitGone waits until the composer no longer holds our message and the agent
// took it. "Is empty" would be the wrong question: a restored draft refills it.
func (a *attempt) awaitGone(ctx context.Context) *Result {
	var r *Result
	var gone, stood time.Time
	unread, slow, cut := false, false, false
	err := a.in.until(ctx, a.in.Profile.Typing.Confirm, func(l Look) (bool, time.Duration) {
		v, _ := a.in.judge(l)
		a.joined = a.joined || l.Queued && a.in.Log != nil && !a.Command()
		if r = a.proved(l, v); r != nil {
			return true, 0
		}
		wait := a.yield(ctx, l)
		clear := a.goneFrom(l.Box) && v.State != ready.Blocked && l.Unread <= 0
		gone = ready.Since(gone, clear, l.Facts.Now)
		if a.queued = a.joined && clear && l.Facts.Now.Sub(gone) >= stashRest; a.queued {
			return true, 0
		}
		if clear && l.Facts.Now.Sub(gone) >= proofRest {
			if slow = a.slow(); !slow {
				r = &Result{Status: Delivered, Evidence: protocol.EvidenceSubmitted}
			}
			return true, 0
		}
		ours := v.State != ready.Blocked && a.holdsOurs(l) && l.Unread <= 0
		unread, cut = l.Unread > 0, v.State != ready.Blocked && l.Box.Visible && !a.inView(l.Box)
		stood = ready.Since(stood, ours, l.Facts.Now)
		a.insist(ctx, l, ours, stood)
		return false, sooner(wait, proofRest/6)
	})
	switch {
	case r != nil, a.queued:
		return r
	case slow:
		return a.awaitTurn(ctx)
	case !errors.Is(err, errDue):
		return &Result{Doubtful, "", protocol.FaultShuttingDown, "the wrapper ended before the message was confirmed"}
	case unread:
		return a.takeBack(ctx, "the agent has not read the message")
	case stood.IsZero() && !cut:
		return &Result{Doubtful, "", protocol.FaultDialog, "Enter was pressed and the composer has not come back since"}
	}
	return a.wedged(ctx)
}

// yield gives the human the terminal when their keys have waited long enough, and else says when to
// ask again.
func (a *attempt) yield(ctx context.Context, l Look) time.Duration {
	over, wait := a.impatient(l)
	if over {
		a.bringBack(ctx)
		a.release()
	}
	return wait
}

// slow reports whether the agent may stand still behind an empty composer before it takes up the
// turn.
func (a *attempt) slow() bool {
	most := a.in.Profile.Typing.SlowLine
	return most > 0 && !a.Command() && turn.Longest(a.typed) > most
}

// awaitTurn waits until the turn of such a message shows.
func (a *attempt) awaitTurn(ctx context.Context) *Result {
	a.taken = true
	defer func() { a.taken = false }()
	r := &Result{Doubtful, "", protocol.FaultNoConsume, "the agent emptied its composer and has begun no turn since"}
	err := a.in.until(ctx, a.in.Profile.Typing.SlowTurn, func(l Look) (bool, time.Duration) {
		v, _ := a.in.judge(l)
		proof := a.proved(l, v)
		if proof == nil && a.in.lastBusy.After(a.enter) { // its turn may be over
			proof = &Result{Status: Delivered, Evidence: protocol.EvidenceSubmitted}
		}
		if proof != nil {
			r = proof
		}
		return proof != nil, sooner(a.yield(ctx, l), proofRest/6)
	})
	if err != nil && !errors.Is(err, errDue) {
		r.Code, r.Cause = protocol.FaultShuttingDown, "the wrapper ended before the message was confirmed"
	}
	return r
}

// proved returns the result if it is already certain, nil if the attempt must go on waiting.
func (a *attempt) proved(l Look, v ready.Verdict) *Result {
	switch {
	case a.in.took(a.Turn):
		return &Result{Status: Delivered, Evidence: protocol.EvidenceTurn}
	case l.Facts.Exited:
		return &Result{Doubtful, "", protocol.FaultAgentExited, "the agent ended right after Enter"}
	case a.goneFrom(l.Box) && l.Unread <= 0 && v.State == ready.Busy && !v.Settling && !a.joined:
		return &Result{Status: Delivered, Evidence: protocol.EvidenceSubmitted}
	}
	return nil
}

// goneFrom reports whether the composer shows that it holds nothing of the message any more.
func (a *attempt) goneFrom(b sight.Box) bool { return b.Visible && a.inView(b) && !a.leftIn(b) }

// inView reports whether the composer shows all that it may hold of the message. Where its
// beginning is out of view the header may stand there, and the footer be altered: Claude Code takes
// Enter for the choice of a file while it offers some. Only a draft that was set aside may come
// back so tall.
func (a *attempt) inView(b sight.Box) bool {
	return b.Top || b.Foreign || a.stashed != nil || a.stashShown
}

// leftIn reports whether any of the message is still in the composer.
func (a *attempt) leftIn(b sight.Box) bool { return a.Left(b.Mode + b.Text) }

// insist presses Enter once more when the agent has read the first one and the
// message still stands there, unchanged, in two looks. The terminal must still
// be ours: no key of the human may have come in between. A draft that was set aside
// comes back with the first Enter, however late it is taken: a second would submit it.
// So where the agent shows that it has one, there is no second, and elsewhere only
// when the first is seen to have become a newline.
func (a *attempt) insist(ctx context.Context, l Look, ours bool, stood time.Time) {
	t := a.in.Profile.Typing
	if !ours || a.again || a.stashShown || l.Stashed || a.tx == nil || t.Again == 0 || l.Facts.Now.Sub(stood) < t.Again {
		return
	}
	if a.stashed != nil && !(a.EndsRow(a.row) && strings.TrimSpace(l.Line) == "") {
		return
	}
	a.again = true
	a.pressEnter(ctx, l) // an Enter that cannot be typed leaves the first one's verdict
}

// wedged ends an attempt whose text stands in the composer in spite of Enter.
func (a *attempt) wedged(ctx context.Context) *Result {
	r := a.withdraw(ctx, protocol.FaultStranded, "the composer did not take Enter")
	if r.Status == Withdrawn { // Enter was pressed: it is not tried again
		r.Status = Failed
	}
	return r
}

// withdraw removes our own text from the composer by the profile's keys and
// verifies it. The composer was empty when the transaction began, so what it
// holds is ours, however it shows it. Text that it never showed may still come,
// and what cannot be verified stays in doubt.
func (a *attempt) withdraw(ctx context.Context, code, why string) *Result {
	doubt := &Result{Doubtful, "", protocol.FaultStranded, why + ", and the text could not be taken back: look at the agent's composer"}
	if a.tx == nil {
		return doubt
	}
	if !a.awaitText(ctx) {
		return a.unread(ctx, doubt, code, why)
	}
	if !a.clear(ctx) {
		return doubt
	}
	a.enter = time.Time{} // whatever an Enter did, it did not submit: what was set aside must be brought back
	return &Result{Withdrawn, "", code, why}
}

// unread takes back what never showed because the agent has not read it; what
// it has read is in doubt.
func (a *attempt) unread(ctx context.Context, doubt *Result, code, why string) *Result {
	if a.in.look().Unread <= 0 {
		return doubt
	}
	r := a.takeBack(ctx, why)
	if r.Status == Withdrawn && (code == humanFirst || code == byRequest) {
		r.Code = code
	}
	return r
}

// holdsText reports whether the composer can be seen and holds text, or the line
// of a program with a prompt does.
func (in *Injector) holdsText(l Look) bool {
	v, _ := in.judge(l)
	if in.Profile.Composer == nil {
		return l.Facts.Foreground && !in.clean(l)
	}
	return l.Box.Visible && (l.Box.Text != "" || l.Box.Blank) && v.State != ready.Blocked
}

// awaitText waits a while for the composer to hold text, all of which the agent
// has read: right after a write it is about to.
func (a *attempt) awaitText(ctx context.Context) bool {
	return a.in.until(ctx, 2*proofRest, func(l Look) (bool, time.Duration) {
		return l.Unread <= 0 && a.in.holdsText(l), proofRest / 6
	}) == nil
}

// clean reports whether the cursor stands at a prompt with nothing after it.
func (in *Injector) clean(l Look) bool {
	return l.Facts.AtPrompt && l.After == "" && l.Unread <= 0
}

// resume goes on with an attempt that a dialog came in between: the message was
// typed and never submitted. When the dialog is gone and the agent is ready,
// what the composer holds decides.
func (in *Injector) resume(ctx context.Context, look Look, hold Hold) {
	a := in.behindDialog
	a.stood = a.stood || a.holdsOurs(look)
	switch {
	case in.took(a.Turn): // the human sent it
		in.finish(ctx, a, &Result{Status: Delivered, Evidence: protocol.EvidenceTurn})
		return
	case look.Facts.Exited:
		in.finish(ctx, a, &Result{Failed, "", protocol.FaultAgentExited, "the agent ended before the message was submitted"})
		return
	case hold != "":
		return // also a wish to cancel waits: its text cannot be taken back before
	}
	tx, err := in.begin(ctx)
	if err != nil {
		return
	}
	a.tx = tx
	defer a.release()
	look = in.look()
	if look.Box.Text == "" && !look.Box.Blank {
		if a.became(ctx, look, clearWait) == everything {
			in.finish(ctx, a, a.swallowed())
			return
		}
		look = in.look()
	}
	switch {
	case a.holdsOurs(look):
		in.finish(ctx, a, a.submit(ctx))
	case a.begunIn(look):
		in.finish(ctx, a, a.withdraw(ctx, protocol.FaultDialog, "a dialog came while the message was being typed"))
	default:
		in.finish(ctx, a, a.mixed())
	}
}

// begunIn reports whether the composer holds a part of the message and nothing else. Where its
// beginning is out of view, the human must have typed nothing.
func (a *attempt) begunIn(l Look) bool {
	if l.Box.Top && l.Box.Text != "" {
		return a.Begun(l.Box.Text)
	}
	return turn.Within(l.Box.Text, a.typed) && !l.Draft.MayHold()
}

// swallowed is the end of a message that does not stand in the composer when the dialog is gone.
// If it has stood there since, only the human can have sent or removed it. One that came back from
// the agent's queue has no end yet: the agent may have taken it up, which its log will tell.
func (a *attempt) swallowed() *Result {
	switch {
	case a.queued:
		return nil
	case a.stood:
		return &Result{Doubtful, "", protocol.FaultDialog,
			"a dialog came before Enter; the message stood in the composer after it, and then left it by the human's keys"}
	}
	return &Result{Withdrawn, "", protocol.FaultDialog, "a dialog swallowed the message before it was submitted"}
}
