package inject

import (
	"context"
	"strings"
	"time"

	"relay-pty/inject/ready"
	"relay-pty/inject/turn"
	"relay-pty/inject/watch"
	"relay-pty/protocol"
	"relay-pty/protocol/failpoint"
)

// holds says what keeps a message from being typed now, and after how long to
// ask again where only time changes that.
func (in *Injector) holds(s step) (Hold, time.Duration) {
	switch {
	case s.blocked():
		return protocol.WaitsForDialog, 0
	case s.verdict.State == ready.Stopped:
		return protocol.WaitsForStopped, 0
	case in.typing() != nil:
		return "", 0 // what waits behind a message that is being typed waits for nothing else
	}
	switch s.verdict.State {
	case ready.Ready:
	case ready.Unknown:
		if s.Facts.Mode == "" {
			return protocol.WaitsForReady, 0
		}
	case ready.Busy:
		if !in.joins(s) {
			_, again := in.shouldInterrupt(s)
			return protocol.WaitsForTurn, again
		}
	default:
		return protocol.WaitsForReady, 0
	}
	if s.Box.Foreign || in.seen.Modal && !s.Inserts && s.next != nil && s.next.Command() {
		return protocol.WaitsForDraft, 0 // what is typed as keys would be done there, not taken for text
	}
	if in.drafted(s.Look) && in.at(behind) == nil && !in.removable(s) {
		if may, wait := in.maySetAside(s); !may {
			return protocol.WaitsForDraft, wait
		}
	}
	if first, again := in.queueFirst(s); first && s.verdict.State == ready.Ready {
		return protocol.WaitsForTurn, again
	}
	if !s.Facts.AtPrompt && in.Profile.Quote.Inert() {
		return protocol.WaitsForReady, 0 // its line is not a prompt, so a message might not be inert there
	}
	if in.seen.IsUnfelt(s.Look) {
		return protocol.WaitsForDraft, 0
	}
	hold, again := in.seen.Quiet(s.Look)
	return Hold(hold), again
}

// queueRest is how long an agent that was interrupted may rest before it takes up what it has
// queued. OpenCode does not before its next turn.
const queueRest = 5 * proofRest

// queueFirst reports whether an agent at rest is about to take up what it has queued, and after how
// long to ask again. What it has given back into its composer is not in its queue any more.
func (in *Injector) queueFirst(s step) (first bool, again time.Duration) {
	over, left := sinceFor(in.seen.Rests, s.Facts.Now, queueRest)
	for _, a := range in.attempts {
		givenBack := a.cameBack && s.Box.Visible && a.leftIn(s.Box)
		if a.stage == queued && !givenBack && !(over && in.seen.Interrupted(s.Look, a.pressed.at)) {
			first, again = true, left
		}
	}
	return first, again
}

// drafted reports whether the human has unsent text that is in our way, or we have to bring it
// back.
func (in *Injector) drafted(l watch.Look) bool {
	if l.Facts.Exited || failpoint.Built && failpoint.On(failpoint.DraftIgnored) {
		return false
	}
	return in.astray() || in.seen.Drafted(l)
}

// occupied reports whether the human has something in the composer that keeps messages from being
// typed: a draft, one that may be about to show, or a mode of the composer's own. Text of ours,
// which is being typed or which a dialog keeps there, is nothing of theirs.
func (in *Injector) occupied(l watch.Look) bool {
	if l.Facts.Exited || in.typing() != nil || in.at(behind) != nil {
		return false
	}
	return in.drafted(l) || in.seen.Unshown(l) || l.Box.Foreign || in.seen.IsUnfelt(l)
}

// accepts reports whether text that is typed now would stand in a composer, or at a prompt.
func (in *Injector) accepts(s step) bool {
	if in.Profile.Composer != nil {
		return s.Box.Visible && !s.Box.Foreign && !s.blocked()
	}
	return s.verdict.State == ready.Ready
}

// opened decides once more, now that nobody else can type: it makes room in the composer, or begins
// to type.
func (a *attempt) opened() do {
	return func(ctx context.Context, s step) (stage, time.Duration) {
		in := a.in
		if s.next == nil || s.hold != "" {
			return ended, 0
		}
		a.Turn = s.next.Turn
		if in.comesAgain(a.Turn) {
			a.Turn = a.Turn[:1] // one of them may be why
		}
		a.typed = a.Typed(in.Profile.Quote)
		switch {
		case !in.drafted(s.Look):
			return a.take(ctx, s)
		case in.removable(s):
			in.drop(left)
			return clearing, 0
		}
		return a.setAside(ctx, s)
	}
}

// comesAgain reports whether the messages came back before, so that they are typed in pieces.
func (in *Injector) comesAgain(t turn.Turn) bool { return in.tried.id == t[0].ID && in.tried.times > 0 }

// maxCooked is what N_TTY keeps of one line in canonical mode; the rest it
// throws away without a word.
const maxCooked = 4095

// take takes the messages from the mailbox and begins to type them.
func (a *attempt) take(ctx context.Context, s step) (stage, time.Duration) {
	in, p := a.in, a.in.Profile
	if a.feels(s) {
		return feeling, 0
	}
	if !in.Mailbox.Take(a.Turn) {
		return a.bringBack(ended), 0
	}
	a.began = s.Facts.Now
	switch {
	case !s.Facts.Raw && turn.Longest(a.typed) > maxCooked:
		return a.over(failed(protocol.FaultLineTooLong, "the agent's terminal is in line mode, which cuts lines over 4095 bytes; send shorter lines"))
	case p.Composer != nil && a.OneKey():
		return a.over(failed(protocol.FaultDialog, "a single character may answer a question beside the composer; send a message, or press the key"))
	}
	in.seen.Types(a.typed)
	switch {
	case p.Composer == nil && !s.Facts.Raw:
		return a.cook(s)
	case p.Composer == nil && p.Quote.Inert() && !s.Paste:
		a.line.rest = strings.Split(a.typed, "\n")
		return a.nextLine(s)
	}
	if a.then = showing; p.Composer == nil {
		a.then = echoing
	}
	a.line.prompt, a.line.want = s.Line, a.typed
	a.pieces = a.Pieces(p, turn.Manner{Paste: s.Paste, Rows: s.Rows, Apart: in.comesAgain(a.Turn)})
	return typing, 0
}
