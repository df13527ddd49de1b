package inject

import (
	"context"
	"errors"
	"strings"
	"time"

	"relay-pty/inject/ready"
	"relay-pty/inject/turn"
	"relay-pty/protocol"
	"relay-pty/protocol/failpoint"
)

// attempt is one turn on its way into the agent.
type attempt struct {
	turn.Turn
	in         *Injector
	tx         Tx     // nil once the human has the terminal back
	typed      string // what is typed
	sent       int    // bytes written
	pasted     bool   // a paste was begun
	clears     bool   // it is being taken out of the composer
	inPiece    bool   // a part of what is written at once is yet to be typed
	apart      bool   // it came back before, so it is typed in pieces
	broken     bool   // the last write failed, and not because the agent does not read
	began      time.Time
	prompt     string    // the row up to the cursor before the line was typed
	line       string    // what stands before the cursor once the line has shown
	row        string    // the row up to the cursor then; in a composer, right before Enter
	shown      bool      // the agent has shown it, so it stands in the composer
	enter      time.Time // our last Enter; zero: not pressed, so it cannot be submitted
	again      bool      // Enter was pressed a second time
	taken      bool      // the agent has emptied its composer, and its turn has yet to show
	joined     bool      // the agent was busy at Enter, or holds back what it is given: its log will tell
	queued     bool      // the agent took it into its own queue
	rested     time.Time // since when the agent rests with it there
	cameBack   cameBack  // what became of it if it left the agent's queue for the composer
	stood      bool      // it stood whole in the composer when the dialog that came in between was gone
	stashed    *stashed  // the draft that was set aside for it; nil: none
	stashShown bool      // when Enter was pressed, the agent showed that a draft is set aside, by whomever
}

// deliver makes one attempt with the messages.
func (in *Injector) deliver(ctx context.Context, b turn.Batch) {
	tx, err := in.begin(ctx)
	if err != nil {
		return // the next look tells why
	}
	again := in.comeBack.id == b.Turn[0].ID && in.comeBack.times > 0
	if again {
		b.Turn = b.Turn[:1] // one of them may be why
	}
	typed := b.Typed(in.Profile.Quote)
	look := in.look()
	a := &attempt{Turn: b.Turn, in: in, tx: tx, typed: typed, line: typed, prompt: look.Line, began: time.Now(), apart: again}
	defer a.release()
	v, _ := in.judge(look)
	if hold, _ := in.hold(look, v, &b); hold != "" {
		return
	}
	if in.drafted(look) {
		if !a.makeRoom(ctx, look, v) {
			return
		}
		look = in.look()
		a.prompt = look.Line
	}
	if !in.Mailbox.Take(a.Turn) {
		a.bringBack(ctx)
		return
	}
	if !look.Facts.Raw && turn.Longest(typed) > maxCooked {
		in.Mailbox.End(a.Turn, Result{Failed, "", protocol.FaultLineTooLong,
			"the agent's terminal is in line mode, which cuts lines over 4095 bytes; send shorter lines"})
		return
	}
	in.typing, in.ours = a, a.typed
	in.strays.remember(a.typed)
	in.finish(ctx, a, a.run(ctx, look))
}

// beginWait is how long a key that is not read may keep us from looking again.
const beginWait = time.Second

func (in *Injector) begin(ctx context.Context) (Tx, error) {
	ctx, cancel := context.WithTimeout(ctx, beginWait)
	defer cancel()
	return in.Agent.Begin(ctx)
}

// maxCooked is what N_TTY keeps of one line in canonical mode; the rest it
// throws away without a word.
const maxCooked = 4095

// finish reports the end of an attempt; a nil result means that it goes on: in
// the agent's queue, or when the dialog that came in between is gone.
func (in *Injector) finish(ctx context.Context, a *attempt, r *Result) {
	r = a.orExited(ctx, r)
	if r != nil || a.queued {
		a.bringBack(ctx)
	}
	in.typing, in.behindDialog = nil, nil
	switch {
	case r != nil:
		in.end(a, r)
	case a.queued:
		in.queued = append(in.queued, a)
	default:
		in.behindDialog = a
	}
}

// orExited is the result, or that the agent has ended, where that explains it. A write to a
// terminal that is going away fails a little before the agent's end can be seen.
func (a *attempt) orExited(ctx context.Context, r *Result) *Result {
	if r == nil || r.Code != protocol.FaultNoConsume && r.Code != protocol.FaultStranded {
		return r
	}
	limit, exited := proofRest/6, false
	if a.broken {
		limit = 5 * proofRest
	}
	a.in.until(ctx, limit, func(l Look) (bool, time.Duration) { // exited tells why it ends
		exited = l.Facts.Exited
		return exited || l.Facts.Stopped, 0
	})
	switch {
	case !exited:
		return r
	case a.enter.IsZero():
		return &Result{Failed, "", protocol.FaultAgentExited, "the agent ended before the message was submitted"}
	}
	return &Result{Doubtful, "", protocol.FaultAgentExited, "the agent ended while it was given the message"}
}

// end reports the end of an attempt.
func (in *Injector) end(a *attempt, r *Result) {
	in.bound(a.Turn[0].ID, r)
	in.leaves(a, r)
	if in.lastInput = ready.Later(in.lastInput, a.enter); a.enter.IsZero() && a.sent > 0 {
		in.lastInput = time.Now()
	}
	if r.Status == Delivered && !a.queued {
		in.submitted = a.enter
		// Told before the delivery, so that whoever hears of it and asks does not find the agent
		// ready from before. A turn that is over already shows with the next look.
		in.report(Report{Verdict: ready.Verdict{State: ready.Busy, Confidence: confidence(r.Evidence)}, Hold: protocol.WaitsForTurn})
	}
	in.Mailbox.End(a.Turn, *r)
}

func confidence(e Evidence) ready.Confidence {
	if e == protocol.EvidenceTurn {
		return ready.BySignal
	}
	return ready.ByScreen
}

// maxWithdrawn is how often one message is tried when something other than the
// human makes it come back.
const (
	maxWithdrawn = 3
	humanFirst   = "human"
	byRequest    = "cancelled"
)

// bound ends a message that has come back too often.
func (in *Injector) bound(id string, r *Result) {
	if in.comeBack.id != id {
		in.comeBack.id, in.comeBack.times = id, 0
	}
	if r.Status != Withdrawn || r.Code == humanFirst || r.Code == byRequest {
		return
	}
	if in.comeBack.times++; in.comeBack.times >= maxWithdrawn {
		r.Status = Failed
	}
}

// release gives the terminal back to the human.
func (a *attempt) release() {
	if a.tx != nil {
		a.tx.End() // a terminal that is gone has no keys to bring back
		a.tx = nil
	}
}

// run types the message, waits for it to show, submits and confirms it.
func (a *attempt) run(ctx context.Context, look Look) *Result {
	p := a.in.Profile
	if p.Composer == nil && !look.Facts.Raw {
		a.shown = look.Echo // the line discipline echoes all of it
		return a.runCooked(ctx)
	}
	if p.Composer == nil && p.Quote.Inert() && !look.Paste {
		return a.runLines(ctx)
	}
	if r, ok := a.writeAll(ctx, a.Pieces(p, turn.Manner{Paste: look.Paste, Rows: look.Rows, Apart: a.apart})); !ok {
		return r
	}
	if p.Composer == nil {
		return a.runLine(ctx)
	}
	return a.runComposer(ctx)
}

// writeAll types the pieces one by one. It types a piece only once the agent has read the one
// before and shows it, or has had its time to: Codex leaves what reached it together with other
// keys unread until the next key. The first piece must be seen: in a composer that takes keys for
// commands nothing but the header may be typed.
func (a *attempt) writeAll(ctx context.Context, pieces []turn.Piece) (r *Result, ok bool) {
	for i, piece := range pieces {
		before := a.in.look()
		if r = a.write(ctx, piece.Keys); r != nil || i == len(pieces)-1 {
			break
		}
		if r, ok = a.awaitPiece(ctx, piece, before, i == 0 && a.in.Profile.Composer != nil); !ok {
			return r, false
		}
	}
	return r, r == nil
}

// shows reports whether the composer shows a piece that was typed when it looked as before. Of
// blanks alone it shows that the cursor has moved.
func (a *attempt) shows(piece turn.Piece, before, now Look) bool {
	moved := now.Row != before.Row || now.Line != before.Line
	return piece.Shows(now.Box.Text) && (moved || !piece.Blank())
}

// awaitPiece waits until a piece is read and shows. One that must show is given the whole time for
// it while the composer shows nothing, or a part of it; anything else is taken back. Where it has
// scrolled out of view itself, it was text.
func (a *attempt) awaitPiece(ctx context.Context, piece turn.Piece, before Look, must bool) (r *Result, ok bool) {
	var read, other time.Time
	altered := false
	r, ok = a.await(ctx, func(l Look) bool {
		now := l.Facts.Now
		read = ready.Since(read, l.Unread <= 0 && l.DialogAfter == 0, now)
		if read.IsZero() || a.shows(piece, before, l) {
			return !read.IsZero()
		}
		scrolled := l.Box.Visible && !l.Box.Top
		other = ready.Since(other, must && l.Box.Visible && l.Box.Top && !piece.Begins(l.Box.Text), now)
		altered = !other.IsZero() && now.Sub(other) >= proofRest
		return altered || (!must || scrolled) && now.Sub(read) >= proofRest
	})
	if ok && altered {
		return a.withdraw(ctx, protocol.FaultStranded, "the composer shows something else than what was typed"), false
	}
	return r, ok
}

// write types keys. What cannot be written to the end may still be read by the
// agent later, so that is doubt, unless nothing went out at all.
func (a *attempt) write(ctx context.Context, keys string) *Result {
	a.pasted = a.pasted || strings.Contains(keys, turn.PasteOpen)
	if _, err := a.put(ctx, keys); err != nil {
		return a.takeBack(ctx, "the agent does not read its terminal")
	}
	return nil
}

// put types keys, and counts them. What the agent's terminal has no room for is typed while the
// loop goes on, until it has taken nothing of it for a while in which the agent ran.
func (a *attempt) put(ctx context.Context, keys string) (n int, err error) {
	a.inPiece = true
	defer func() { a.inPiece = false }()
	n, err = a.putSome(ctx, keys)
	for full := err; errors.Is(full, context.DeadlineExceeded) && ctx.Err() == nil; {
		moved := 0
		over := a.in.until(ctx, writeWait, func(l Look) (bool, time.Duration) {
			if l.Facts.Stopped {
				return false, 0
			}
			moved, full = a.putSome(ctx, keys[n:])
			return moved > 0 || full == nil, time.Nanosecond
		})
		if n, err = n+moved, full; over != nil {
			break
		}
	}
	a.broken = err != nil && !errors.Is(err, context.DeadlineExceeded)
	return n, err
}

// How long the agent's terminal may have no room for what is typed, and how long one write waits
// for it.
const (
	writeWait  = time.Second
	writeSlice = 100 * time.Millisecond
)

// putSome types what the agent's terminal takes soon. It is context.DeadlineExceeded when that is
// not all.
func (a *attempt) putSome(ctx context.Context, keys string) (n int, err error) {
	ctx, cancel := context.WithTimeout(ctx, writeSlice)
	defer cancel()
	n, err = a.tx.Write(ctx, []byte(keys))
	a.sent += n
	return n, err
}

// runComposer delivers into a composer: shown, Enter, gone.
func (a *attempt) runComposer(ctx context.Context) *Result {
	if failpoint.Built && failpoint.On(failpoint.WrittenDelivered) {
		a.pressEnter(ctx, a.in.look())
		return &Result{Status: Delivered, Evidence: protocol.EvidenceSubmitted}
	}
	if r, ok := a.await(ctx, a.holdsOurs); !ok {
		return r
	}
	t := a.in.Profile.Typing
	if t.EnterDelay > 0 {
		a.in.until(ctx, t.EnterDelay, func(Look) (bool, time.Duration) { return false, 0 }) // only time ends it, or ctx, which Enter hears of
		if r, ok := a.await(ctx, a.holdsOurs); !ok {                                        // all may be painted anew at this moment
			return r
		}
	}
	return a.submit(ctx)
}

// submit presses Enter on what is seen to be ours at that moment, and confirms.
func (a *attempt) submit(ctx context.Context) *Result {
	if !a.in.Mailbox.Entering(a.Turn) {
		return a.withdraw(ctx, byRequest, "cancelled before Enter")
	}
	look := a.in.look()
	for ; !a.holdsOurs(look); look = a.in.look() {
		if r, ok := a.await(ctx, a.holdsOurs); !ok {
			return r
		}
	}
	if failpoint.Built && failpoint.On(failpoint.EnterApart) {
		a.release()
		a.tx, _ = a.in.begin(ctx) // fails where the agent has ended
	}
	if r := a.pressEnter(ctx, look); r != nil {
		return r
	}
	return a.awaitGone(ctx)
}

// pressEnter types the profile's key for it, on what look has seen.
func (a *attempt) pressEnter(ctx context.Context, look Look) *Result {
	v, _ := a.in.judge(look)
	key := a.in.submitKey(v)
	if a.in.Profile.Composer != nil {
		a.row = look.Line
	}
	a.stashShown = a.stashShown || look.Stashed
	a.enter, a.joined = time.Now(), v.State == ready.Busy && !v.Settling
	if n, err := a.put(ctx, key); err != nil && n == 0 {
		return &Result{Doubtful, "", protocol.FaultStranded, "the message stands in the composer and Enter could not be typed"}
	}
	return nil
}

var errDue = errors.New("time is over") // ends a wait

// until takes a step after every change until f returns true, ctx ends or limit has passed. The
// duration that f returns, unless it is 0, is when to take a step though nothing has changed.
func (in *Injector) until(ctx context.Context, limit time.Duration, f func(Look) (bool, time.Duration)) error {
	end, halted := time.Now().Add(limit), false
	for {
		s := in.step(false)
		look := s.look
		in.pass(ctx, look)
		if halted = halted || look.Facts.Stopped; halted { // its time stands still
			in.stopped, end = look.Facts.Now, look.Facts.Now.Add(limit)
		}
		halted = look.Facts.Stopped
		done, again := f(look)
		if done {
			return nil
		}
		left := end.Sub(look.Facts.Now)
		if left <= 0 {
			return errDue
		}
		if err := in.wait(ctx, sooner(sooner(left, again), s.again), true); err != nil {
			return err
		}
	}
}

// pass lets the agent have the terminal's answers to its queries when it has read all that was
// typed: it may show nothing before it has them.
func (in *Injector) pass(ctx context.Context, l Look) {
	if a := in.typing; a != nil && a.tx != nil && !a.inPiece && l.Unread <= 0 {
		a.tx.Pass(ctx) // a terminal that is gone shows by itself
	}
}

// whileRead is until, with a limit that begins anew whenever the agent is seen to have read a part
// of what was typed: an agent that reads slowly is at work on it.
func (in *Injector) whileRead(ctx context.Context, limit time.Duration, f func(Look) (bool, time.Duration)) error {
	unread := 0
	for {
		done, read := false, false
		err := in.until(ctx, limit, func(l Look) (bool, time.Duration) {
			read, unread = l.Unread < unread, l.Unread
			var again time.Duration
			done, again = f(l)
			return done || read, again
		})
		if done || !read || err != nil {
			return err
		}
	}
}

// await waits until the composer shows what was typed; without a result, ok tells
// whether it does. It gives up, and takes the text back, when time is over since the agent
// last read a part of it, or the human has waited too long. A dialog suspends the attempt,
// and the terminal is the human's: nothing may be typed until it is answered.
func (a *attempt) await(ctx context.Context, shows func(Look) bool) (r *Result, ok bool) {
	var end Look
	var blocked, hidden, impatient, cancelled bool
	var chip time.Time // since when one hides it: half a repaint may look so
	err := a.in.whileRead(ctx, a.in.Profile.Typing.Echo, func(l Look) (bool, time.Duration) {
		end = l
		v, _ := a.in.judge(l)
		blocked = v.State == ready.Blocked
		ok = !blocked && shows(l)
		chip = ready.Since(chip, l.Box.Visible && l.Unread <= 0 && a.Hidden(l.Box.Text, l.Box.Top, a.in.Profile.Chips().Paste), l.Facts.Now)
		hidden = !chip.IsZero() && l.Facts.Now.Sub(chip) >= proofRest
		impatient, _ = a.impatient(l)
		cancelled = a.in.Mailbox.Wanted(a.Turn)
		return ok || blocked || hidden || l.Facts.Exited || impatient || cancelled, proofRest / 12
	})
	switch {
	case end.Facts.Exited:
		r = &Result{Failed, "", protocol.FaultAgentExited, "the agent ended before the message was submitted"}
	case ok:
	case blocked:
		a.release()
	case err != nil && !errors.Is(err, errDue):
		r = &Result{Doubtful, "", protocol.FaultShuttingDown, "the wrapper ended while the message was being typed"}
	case cancelled:
		r = a.withdraw(ctx, byRequest, "cancelled before Enter")
	case hidden:
		r = a.withdraw(ctx, protocol.FaultStranded, "the composer hides the message behind a chip")
	case impatient:
		r = a.withdraw(ctx, humanFirst, "the human's keys had to wait too long")
	default:
		r = a.withdraw(ctx, protocol.FaultStranded, "the composer did not show the message in time")
	}
	return r, ok && r == nil
}

// holdsOurs reports whether the composer shows our message and nothing else.
func (a *attempt) holdsOurs(l Look) bool {
	shown := l.Box.Text
	if a.Command() {
		shown = l.Box.Mode + shown // its first character may have switched the composer to a mode of its own
	}
	return l.Box.Visible && a.Stands(shown, l.Box.Top || l.Box.Foreign)
}

// impatient reports whether the human's keys have been kept as long as they may,
// and else when to ask again. A stopped agent could not take them anyway, nor one
// that is in the middle of reading: they would come behind a part of our text.
func (a *attempt) impatient(l Look) (bool, time.Duration) {
	switch {
	case a.tx == nil || l.Facts.Stopped:
		return false, 0
	case l.Unread > 0 && l.Unread < a.sent:
		return false, unreadRest
	}
	n, since := a.tx.Held()
	if n == 0 {
		return false, 0
	}
	if a.in.stopped.After(since) {
		since = a.in.stopped
	}
	left := a.in.Profile.Typing.KeyWait - l.Facts.Now.Sub(since)
	return left <= 0, left
}
