package inject

import (
	"context"
	"time"

	"relay-pty/inject/ready"
	"relay-pty/inject/turn"
	"relay-pty/inject/watch"
	"relay-pty/protocol"
)

// joins reports whether the message may be handed to the agent while it is busy:
// it is pressing, the agent has a key for that which does not cut its reply, and
// a log that will show when it took the message up.
func (in *Injector) joins(s step) bool {
	t, b := in.Profile.Typing, s.next
	if b == nil || b.Mode == protocol.ModeSequential || b.Mode == protocol.ModeUrgent && len(t.Interrupt) > 0 || b.Command() {
		return false
	}
	return s.busy() && t.Queue != "" && in.Log != nil && s.Box.Visible
}

// backRest is how long what came back must stand in the composer, as it was typed or edited. In
// half a repaint the turn that the agent has just made of it may look so.
const backRest = proofRest

// queued looks after what a busy agent has queued: its log shows it, or it came back into the
// composer, or the agent rests and nothing shows. What the agent gave back by itself, or upon an
// interrupt, is to be submitted again, all of it as one turn; what the human took back is their
// draft. It came back by the human's doing if a key of theirs that is no Escape is newer than our
// Enter, and than our interrupt.
func (a *attempt) queued() do {
	var stands, changed, rests time.Time // since when it stands in the composer, does so altered, or the agent rests
	byHuman := false
	return func(_ context.Context, s step) (stage, time.Duration) {
		in, now := a.in, s.Facts.Now
		shows := s.Box.Visible && !s.blocked() && a.leftIn(s.Box)
		stands = ready.Since(stands, shows, now)
		changed = ready.Since(changed, shows && s.Box.Top && !a.holdsOurs(s.Look) && !turn.Within(a.typed, s.Box.Text), now)
		rests = ready.Since(rests, s.verdict.State == ready.Ready && !shows, now)
		stood, again := sinceFor(stands, now, backRest)
		edited, later := sinceFor(changed, now, backRest)
		lost, last := sinceFor(rests, now, in.Profile.Typing.Confirm)
		if stood {
			a.cameBack = true
			since := ready.Later(a.pressed.at, in.seen.Halted)
			byHuman = byHuman || watch.TypedSince(s.Look, since) && !in.seen.Interrupted(s.Look, since)
		}
		switch {
		case edited:
			a.cameBack = true
			a.result = new(a.mixed())
		case in.took(a.Turn):
			a.result = new(delivered(protocol.EvidenceTurn))
		case s.Facts.Exited:
			a.result = new(doubtful(protocol.FaultAgentExited, "the agent ended before it took up what it had queued"))
		case stood && !byHuman && in.at(behind) == nil:
			return behind, 0
		case lost:
			a.result = a.lost()
		default:
			return queued, sooner(sooner(again, later), last)
		}
		return ended, 0
	}
}

// joinOthers makes one attempt of those that the agent had queued and now has in its composer, one
// behind the other and nothing else: they are submitted as one turn.
func (a *attempt) joinOthers() {
	in, l, joined := a.in, a.in.seen.Last, &attempt{in: a.in}
	var list, hidden []*attempt
	for _, o := range in.attempts {
		switch {
		case o.stage != queued:
		case o.leftIn(l.Box):
			list, hidden = append(append(list, hidden...), o), nil
		case !l.Box.Top:
			hidden = append(hidden, o)
		}
	}
	for _, o := range list {
		joined.Turn = append(joined.Turn, o.Turn...)
	}
	if len(list) < 2 || !joined.holdsOurs(l) {
		return
	}
	a.began, a.pressed = list[0].began, list[len(list)-1].pressed
	for _, o := range list {
		if o != a {
			o.enter(ended)
		}
	}
	a.Turn, a.typed = joined.Turn, joined.Typed(in.Profile.Quote)
}

// sinceFor reports whether what is so since a moment has been so for a while, and else when it will
// have.
func sinceFor(since, now time.Time, while time.Duration) (bool, time.Duration) {
	if since.IsZero() {
		return false, 0
	}
	left := while - now.Sub(since)
	return left <= 0, left
}

// lost is the end of a queued message of which the agent's log tells nothing.
func (a *attempt) lost() *Result {
	if a.cameBack {
		return new(doubtful(protocol.FaultReturned,
			"the message came back from the agent's queue into its composer and has left it, and the agent's log does not show it"))
	}
	return new(doubtful(protocol.FaultNoConsume, "the agent queued the message, has come to rest, and its log does not show it"))
}

// urgentFirst is how long what an interrupted agent gave back waits for the urgent message.
const urgentFirst = 5 * time.Second

// shouldInterrupt reports whether the agent's turn is to be interrupted for the message,
// and else when to ask again: it is urgent, the human rests, and what stands in
// the composer would not keep it from being typed afterwards. What asks a
// question is never interrupted, for that would be an answer, and an agent that merely holds
// prompts back has no turn to interrupt: a second Esc would open a dialog of Gemini CLI's.
func (in *Injector) shouldInterrupt(s step) (bool, time.Duration) {
	if s.next == nil || s.next.Mode != protocol.ModeUrgent || len(in.Profile.Typing.Interrupt) == 0 || in.at(behind) != nil ||
		!s.busy() || s.Queued && !s.Working || !s.Box.Visible || s.Box.Foreign {
		return false, 0
	}
	if may, left := in.seen.MayInterrupt(s.Facts.Now); !may {
		return false, left
	}
	if in.drafted(s.Look) && !in.leftAlone(s.Look) {
		if may, _ := in.maySetAside(s); !may {
			return false, 0
		}
	}
	hold, again := in.seen.Quiet(s.Look)
	return hold == "", again
}

// keyRest is how long after an agent has read an Esc the next byte is a key of its own to every
// agent, and no Alt with that Esc.
const keyRest = 60 * time.Millisecond

// oftener is how often more than its profile says the last key of an interrupt is pressed.
const oftener = 3

// halting ends the agent's turn by its own keys, each typed when the agent has heard the one
// before. An agent that then shows that it wants one more gets the last one again: 5 s after each
// of its keys OpenCode 1.18.33 forgets all that came since, so that our second key may be its
// first.
func (a *attempt) halting() do {
	in, p := a.in, a.in.Profile
	list, rest := p.Typing.Interrupt, keyRest
	pressed := 0       // keys
	empty := false     // the composer was, before the first one
	var key *watch.Key // the last one
	press := func(ctx context.Context, s step) (stage, time.Duration) {
		key = watch.Pressed(s.Look)
		in.seen.Interrupts(time.Now(), empty)
		if _, err := a.term.tx.Write(ctx, []byte(list[min(pressed, len(list)-1)])); err != nil {
			return a.then, 0
		}
		pressed++
		a.within(p.Typing.KeyWait + rest)
		return halting, keyRest / 3
	}
	return func(ctx context.Context, s step) (stage, time.Duration) {
		if key == nil {
			if yes, _ := in.shouldInterrupt(s); !yes {
				return ended, 0
			}
			empty = !in.drafted(s.Look)
			if m := p.Composer.Modal; s.Inserts { // there the first Esc does nothing else than to leave the mode
				list, rest, a.then = append([]string{m.Leave}, list...), keyRest+m.Rest, inserting
			}
			return press(ctx, s)
		}
		busy := s.busy() && s.Box.Visible // halfway through a repaint nothing shows that it is
		heard := key.Heard(s.Look, busy, rest) || s.verdict.State == ready.Ready || s.blocked()
		if !heard && !s.over {
			return halting, keyRest / 3
		}
		switch goesOn := heard && busy; {
		case goesOn && (pressed < len(list) || s.Armed && pressed < len(list)+oftener):
			return press(ctx, s)
		case !goesOn && pressed < len(list), !p.Typing.Returns || !empty:
			return a.then, 0
		}
		return returning, 0
	}
}

// returning waits for what an interrupted agent gives back into its composer: it says that it
// rests, and paints that later.
func (a *attempt) returning() do {
	var rests time.Time
	return func(_ context.Context, s step) (stage, time.Duration) {
		rests = ready.Since(rests, s.verdict.State == ready.Ready && s.Box.Text == "", s.Facts.Now)
		rested, _ := sinceFor(rests, s.Facts.Now, proofRest)
		if s.over || s.blocked() || rested || a.in.at(givenBack) != nil {
			return a.then, 0
		}
		return returning, proofRest / 6
	}
}

// noteGivenBack notes what an interrupted agent gave back, however late, and tells when to ask
// again: it is the prompt that the agent did not begin with.
func (in *Injector) noteGivenBack(s step) (again time.Duration) {
	is, again := in.seen.Returned(s.Look)
	if is && in.at(givenBack) == nil && in.at(behind) == nil && in.at(left) == nil && in.typing() == nil && !s.blocked() {
		in.attempts = append(in.attempts, &attempt{in: in, stage: givenBack, typed: s.Box.Text})
	}
	return again
}

// inserting leads a composer that was in its insert mode, and was told to leave it, back there:
// the human's next key is text. It is told so only when it is seen to have left: where it had
// not, what tells it would be text.
func (a *attempt) inserting() do {
	m, pressed := a.in.Profile.Composer.Modal, false
	var read time.Time // since when it has read our Esc
	return func(ctx context.Context, s step) (stage, time.Duration) {
		read = ready.Since(read, s.Unread <= 0, s.Facts.Now)
		switch {
		case s.blocked() || s.Facts.Exited || s.over || pressed && s.Inserts:
			return ended, 0
		case pressed || !s.Commands || !s.Box.Visible || read.IsZero() || s.Facts.Now.Sub(read) < keyRest:
			return inserting, keyRest / 3
		}
		key := m.Append
		if s.Box.Text == "" {
			key = m.Back
			a.in.mayLeave(key)
		}
		pressed = true
		if _, err := a.term.tx.Write(ctx, []byte(key)); err != nil {
			return ended, 0
		}
		return inserting, keyRest / 3
	}
}

// holdsGivenBack reports whether the composer holds what the agent gave back.
func (in *Injector) holdsGivenBack(l watch.Look) bool {
	a := in.at(givenBack)
	return a != nil && l.Box.Visible && turn.Same(l.Box.Text, a.typed)
}

// shouldResubmit reports whether to press Enter on the prompt that an interrupted agent
// gave back: when nothing urgent comes before it.
func (in *Injector) shouldResubmit(s step) bool {
	if !in.holdsGivenBack(s.Look) || s.next != nil && s.next.Mode == protocol.ModeUrgent && s.Facts.Now.Sub(in.seen.Halted) < urgentFirst {
		return false
	}
	if s.verdict.State != ready.Ready && !(s.busy() && in.Profile.Typing.Queue != "") {
		return false
	}
	hold, _ := in.seen.Quiet(s.Look)
	return hold == ""
}

// givenBack gives the agent its interrupted prompt again. If it still stands there then, it is a
// draft that the human sees.
func (a *attempt) givenBack() do {
	var pressed time.Time
	return func(ctx context.Context, s step) (stage, time.Duration) {
		in := a.in
		switch {
		case !pressed.IsZero() && s.Unread <= 0 && !in.holdsGivenBack(s.Look):
			in.seen.Submitted = pressed
			return ended, 0
		case !pressed.IsZero() && s.over:
			return ended, 0
		case !pressed.IsZero():
			return givenBack, proofRest / 6
		case !in.shouldResubmit(s):
			a.release()
			return givenBack, 0
		case a.term.tx == nil:
			a.open(ctx)
			return givenBack, atOnce
		}
		if _, err := a.term.tx.Write(ctx, []byte(in.submitKey(s))); err != nil {
			a.release()
			return givenBack, 0
		}
		pressed = time.Now()
		in.seen.Resubmits(pressed)
		a.within(in.Profile.Typing.KeyWait)
		return givenBack, proofRest / 6
	}
}
