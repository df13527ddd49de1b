package inject

import (
	"context"
	"time"

	"relay-pty/inject/ready"
	"relay-pty/inject/turn"
	"relay-pty/protocol"
)

// joins reports whether the message may be handed to the agent while it is busy:
// it is pressing, the agent has a key for that which does not cut its reply, and
// a log that will show when it took the message up.
func (in *Injector) joins(l Look, v ready.Verdict, b *turn.Batch) bool {
	t := in.Profile.Typing
	if b == nil || b.Mode == protocol.ModeSequential || b.Mode == protocol.ModeUrgent && len(t.Interrupt) > 0 || b.Command() {
		return false
	}
	return v.State == ready.Busy && !v.Settling && t.Queue != "" && in.Log != nil && l.Box.Visible
}

// followQueued looks after what a busy agent has queued: its log shows it, or it came back into the
// composer, or the agent rests and nothing shows. What the agent gave back by itself is to be
// submitted again; what the human took back is their draft. It says when to look again.
func (in *Injector) followQueued(l Look, v ready.Verdict) time.Duration {
	var again time.Duration
	left := in.queued[:0]
	for _, a := range in.queued {
		stands, edited, later := in.comesBack(a, l, v)
		a.rested = ready.Since(a.rested, v.State == ready.Ready && a.cameBack.since.IsZero(), l.Facts.Now)
		limit := in.Profile.Typing.Confirm - l.Facts.Now.Sub(a.rested)
		switch {
		case edited:
			in.end(a, a.mixed())
		case in.took(a.Turn):
			in.end(a, &Result{Status: Delivered, Evidence: protocol.EvidenceTurn})
		case l.Facts.Exited:
			in.end(a, &Result{Doubtful, "", protocol.FaultAgentExited, "the agent ended before it took up what it had queued"})
		case stands && !a.cameBack.byHuman && in.behindDialog == nil:
			a.again, in.behindDialog = false, a
		case !a.rested.IsZero() && limit <= 0:
			in.end(a, a.lost())
		default:
			left = append(left, a)
			if again = sooner(again, later); !a.rested.IsZero() {
				again = sooner(again, limit)
			}
		}
	}
	clear(in.queued[len(left):])
	in.queued = left
	return again
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

// haltAgain is how long after an interrupt the agent may take to heed it, and
// urgentFirst how long what it gave back then waits for the urgent message.
const (
	haltAgain   = 1200 * time.Millisecond
	urgentFirst = 5 * time.Second
)

// shouldInterrupt reports whether the agent's turn is to be interrupted for the message,
// and else when to ask again: it is urgent, the human rests, and what stands in
// the composer would not keep it from being typed afterwards. What asks a
// question is never interrupted, for that would be an answer, and an agent that merely holds
// prompts back has no turn to interrupt: a second Esc would open a dialog of Gemini CLI's.
func (in *Injector) shouldInterrupt(l Look, v ready.Verdict, b *turn.Batch) (bool, time.Duration) {
	if b == nil || b.Mode != protocol.ModeUrgent || len(in.Profile.Typing.Interrupt) == 0 || in.behindDialog != nil ||
		v.State != ready.Busy || v.Settling || l.Queued && !l.Working || !l.Box.Visible || l.Box.Foreign {
		return false, 0
	}
	if left := haltAgain - l.Facts.Now.Sub(in.halted); left > 0 && in.halting {
		return false, left
	}
	if in.drafted(l) && !in.remnant.stands(l) {
		if may, _ := in.maySetAside(l, b); !may {
			return false, 0
		}
	}
	hold, again := in.quiet(l)
	return hold == "", again
}

// keyGap is how long an agent may take to show that it heard a key. keyRest is how long after an
// agent has read an Esc the next byte is a key of its own to every agent, and no Alt with that Esc.
const (
	keyGap  = 300 * time.Millisecond
	keyRest = 60 * time.Millisecond
)

// interrupt ends the agent's turn by its own keys. A composer that was empty and
// then holds text holds the prompt that the agent did not begin with.
func (in *Injector) interrupt(ctx context.Context, b *turn.Batch) {
	tx, err := in.begin(ctx)
	if err != nil {
		return
	}
	defer tx.End() // a terminal that is gone has no keys to bring back
	look := in.look()
	v, _ := in.judge(look)
	if yes, _ := in.shouldInterrupt(look, v, b); !yes {
		return
	}
	in.halted, in.halting = time.Now(), true
	empty, list, rest := !in.drafted(look), in.Profile.Typing.Interrupt, keyRest
	if look.Inserts { // there the first Esc does nothing else than to leave the mode
		m := in.Profile.Composer.Modal
		list, rest = append([]string{m.Leave}, list...), keyRest+m.Rest
		defer in.insertAgain(ctx, tx)
	}
	if !in.press(ctx, tx, list, rest) || !in.Profile.Typing.Returns || !empty {
		return
	}
	var rests time.Time                                                           // since when it has said that it does; what it gives back is painted later
	in.until(ctx, in.Profile.Typing.KeyWait, func(l Look) (bool, time.Duration) { // its end changes nothing
		v, again := in.judge(l)
		if rests = ready.Since(rests, v.State == ready.Ready, l.Facts.Now); v.State != ready.Ready {
			return v.State == ready.Blocked, again
		}
		in.givenBack = l.Box.Text
		return in.givenBack != "" || l.Facts.Now.Sub(rests) >= proofRest, proofRest / 6
	})
}

// oftener is how often more than its profile says the last key of an interrupt is pressed.
const oftener = 3

// press types the keys that end a turn, each when the agent has heard the one before, and says
// whether the agent has heard all or may still do so. An agent that then shows that it wants one
// more gets the last one again: 5 s after each of its keys OpenCode 1.18.33 forgets all that came
// since, so that our second key may be its first.
func (in *Injector) press(ctx context.Context, tx Tx, list []string, rest time.Duration) bool {
	for i := range len(list) + oftener {
		done := i >= len(list)
		look := in.look()
		if done && !look.Armed {
			break
		}
		painted := look.Facts.LastOutput
		if _, err := tx.Write(ctx, []byte(list[min(i, len(list)-1)])); err != nil {
			return false
		}
		if !in.heeded(ctx, painted, rest) {
			return i >= len(list)-1
		}
	}
	return true
}

// insertAgain leads a composer that was in its insert mode, and was told to leave it, back there:
// the human's next key is text. It is told so only when it is seen to have left: where it had
// not, what tells it would be text.
func (in *Injector) insertAgain(ctx context.Context, tx Tx) {
	m, pressed := in.Profile.Composer.Modal, false
	var read time.Time                                                              // since when it has read our Esc
	in.until(ctx, 2*in.Profile.Typing.KeyWait, func(l Look) (bool, time.Duration) { // its end changes nothing
		v, _ := in.judge(l)
		read = ready.Since(read, l.Unread <= 0, l.Facts.Now)
		switch {
		case v.State == ready.Blocked || l.Facts.Exited:
			return true, 0
		case pressed || !l.Commands || !l.Box.Visible || read.IsZero() || l.Facts.Now.Sub(read) < keyRest:
			return pressed && l.Inserts, keyRest / 3
		}
		key := m.Append
		if l.Box.Text == "" {
			key = m.Back
			in.mayLeave(key)
		}
		_, err := tx.Write(ctx, []byte(key))
		pressed = true
		return err != nil, keyRest / 3
	})
}

// heeded waits until the agent has read a key and shows no mode that it was to leave by it, that
// has rested, and the agent has painted since or had its time to, and reports whether it is still
// busy: the next key might mean something else otherwise. Halfway through a repaint nothing shows
// that it is.
func (in *Injector) heeded(ctx context.Context, painted time.Time, rest time.Duration) bool {
	var took time.Time // since when it has
	busy, pressed := false, time.Now()
	err := in.until(ctx, in.Profile.Typing.KeyWait+rest, func(l Look) (bool, time.Duration) {
		v, _ := in.judge(l)
		busy = v.State == ready.Busy && !v.Settling && l.Box.Visible
		took = ready.Since(took, l.Unread <= 0 && !l.Inserts, l.Facts.Now)
		rested := !took.IsZero() && l.Facts.Now.Sub(took) >= rest
		heard := l.Facts.LastOutput.After(painted) || l.Facts.Now.Sub(pressed) >= keyGap+rest
		return rested && heard && busy || v.State == ready.Ready || v.State == ready.Blocked, keyRest / 3
	})
	return err == nil && busy
}

// holdsGivenBack reports whether the composer holds what the agent gave back.
func (in *Injector) holdsGivenBack(l Look) bool {
	return in.givenBack != "" && l.Box.Visible && turn.Same(l.Box.Text, in.givenBack)
}

// shouldResubmit reports whether to press Enter on the prompt that an interrupted agent
// gave back: when nothing urgent comes before it.
func (in *Injector) shouldResubmit(l Look, v ready.Verdict, b *turn.Batch) bool {
	if !in.holdsGivenBack(l) || b != nil && b.Mode == protocol.ModeUrgent && l.Facts.Now.Sub(in.halted) < urgentFirst {
		return false
	}
	if v.State != ready.Ready && !(v.State == ready.Busy && !v.Settling && in.Profile.Typing.Queue != "") {
		return false
	}
	hold, _ := in.quiet(l)
	return hold == ""
}

// resubmit gives the agent its interrupted prompt again.
func (in *Injector) resubmit(ctx context.Context, b *turn.Batch) {
	tx, err := in.begin(ctx)
	if err != nil {
		return
	}
	defer tx.End() // a terminal that is gone has no keys to bring back
	look := in.look()
	v, _ := in.judge(look)
	if !in.shouldResubmit(look, v, b) {
		return
	}
	if _, err := tx.Write(ctx, []byte(in.submitKey(v))); err != nil {
		return
	}
	in.lastInput = time.Now()
	err = in.until(ctx, in.Profile.Typing.KeyWait, func(l Look) (bool, time.Duration) {
		return l.Unread <= 0 && !in.holdsGivenBack(l), proofRest / 6
	})
	if err == nil {
		in.submitted = in.lastInput
	}
	in.givenBack = "" // if it still stands there, it is a draft that the human sees
}

// submitKey is what submits text now without cutting a reply.
func (in *Injector) submitKey(v ready.Verdict) string {
	if t := in.Profile.Typing; v.State == ready.Busy && !v.Settling && t.Queue != "" {
		return t.Queue
	}
	return in.Profile.Typing.Submit
}
