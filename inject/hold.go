package inject

import (
	"time"

	"relay-pty/inject/prompt"
	"relay-pty/inject/ready"
	"relay-pty/inject/turn"
	"relay-pty/protocol"
	"relay-pty/protocol/failpoint"
)

// hold says what keeps a message from being typed now, and after how long to
// ask again where only time changes that.
func (in *Injector) hold(l Look, v ready.Verdict, b *turn.Batch) (Hold, time.Duration) {
	switch {
	case v.State == ready.Blocked:
		return protocol.WaitsForDialog, 0
	case v.State == ready.Stopped:
		return protocol.WaitsForStopped, 0
	case in.typing != nil:
		return "", 0 // what waits behind a message that is being typed waits for nothing else
	}
	switch v.State {
	case ready.Ready:
	case ready.Busy:
		if !in.joins(l, v, b) {
			_, again := in.shouldInterrupt(l, v, b)
			return protocol.WaitsForTurn, again
		}
	default:
		return protocol.WaitsForReady, 0
	}
	if l.Box.Foreign || in.modal && !l.Inserts && b != nil && b.Command() {
		return protocol.WaitsForDraft, 0 // what is typed as keys would be done there, not taken for text
	}
	if in.drafted(l) && in.behindDialog == nil && !in.remains(l, v) {
		if may, wait := in.maySetAside(l, b); !may {
			return protocol.WaitsForDraft, wait
		}
	}
	if v.State == ready.Ready && len(in.queued) > 0 {
		return protocol.WaitsForTurn, 0 // what it has queued comes first
	}
	if !l.Facts.AtPrompt && in.Profile.Quote.Inert() {
		return protocol.WaitsForReady, 0 // its line is not a prompt, so a message might not be inert there
	}
	return in.quiet(l)
}

// quiet reports whether the human is typing, or a draft may be about to show, and
// after how long to ask again.
func (in *Injector) quiet(l Look) (Hold, time.Duration) {
	hold, again := in.rests(l)
	if hold == "" && in.unshown(l) {
		return protocol.WaitsForDraft, l.Again
	}
	return hold, again
}

// rests is the part of quiet that the human's last keys decide, and what the agent has read of
// them.
func (in *Injector) rests(l Look) (Hold, time.Duration) {
	if !l.Draft.Boundary {
		return protocol.WaitsForHuman, 0
	}
	if last := ready.Later(l.Draft.LastKey, l.Brought); !last.IsZero() {
		if left := humanRest - l.Facts.Now.Sub(last); left > 0 {
			return protocol.WaitsForHuman, left
		}
	}
	if l.Unread > 0 {
		return protocol.WaitsForReady, unreadRest
	}
	if last := ready.Later(l.Draft.LastKey, l.Brought); !last.Before(l.Facts.LastOutput) && !last.IsZero() && l.Facts.Now.Sub(in.read) < proofRest {
		return protocol.WaitsForHuman, unreadRest // a draft may be about to show
	}
	return "", 0
}

// unshown reports whether an empty composer may be about to show a draft, of which the shadow of
// keys knows. The shadow gives way to the composer after a while.
func (in *Injector) unshown(l Look) bool {
	b := l.Box
	return in.Profile.Composer != nil && b.Visible && b.Top && b.Text == "" && l.Draft.MayHold()
}

// unreadRest is when to ask again whether the agent has read what was typed.
const unreadRest = 50 * time.Millisecond

// readFor keeps the moment from which the agent is seen to have read all. Looks
// that lie far apart do not count: something may have been unread in between.
func (in *Injector) readFor(l Look) {
	if l.Unread > 0 || l.Facts.Now.Sub(in.looked) > 2*unreadRest {
		in.read = l.Facts.Now
	}
}

// drafted reports whether the human has unsent text. A composer on the screen knows best;
// blanks show there by the cursor alone, if at all. A prompt is compared with itself
// before any key. Elsewhere it is what was typed since the last Enter, if it left a
// trace before the cursor or the terminal keeps the line until Enter.
func (in *Injector) drafted(l Look) bool {
	if l.Facts.Exited || failpoint.Built && failpoint.On(failpoint.DraftIgnored) {
		return false
	}
	if in.astray() {
		return true
	}
	if in.Profile.Composer != nil {
		return l.Box.Text != "" || l.Box.Blank || l.Draft.Blank()
	}
	if !l.Facts.Raw && l.Draft.Text != "" {
		return true
	}
	if l.Facts.AtPrompt && in.prompts.Changed(in.row(l)) {
		return true
	}
	return l.Facts.Raw && l.Draft.Shown(l.Before)
}

// occupied reports whether the human has something in the composer that keeps messages from being
// typed: a draft, one that may be about to show, or a mode of the composer's own. Text of ours,
// which is being typed or which a dialog keeps there, is nothing of theirs.
func (in *Injector) occupied(l Look) bool {
	if l.Facts.Exited || in.typing != nil || in.behindDialog != nil {
		return false
	}
	return in.drafted(l) || in.unshown(l) || l.Box.Foreign
}

func (in *Injector) accepts(l Look, v ready.Verdict) bool {
	if in.Profile.Composer != nil {
		return l.Box.Visible && !l.Box.Foreign && v.State != ready.Blocked
	}
	return v.State == ready.Ready
}

// row is the row in which the cursor stands.
func (in *Injector) row(l Look) prompt.Row {
	return prompt.Row{
		Line: l.Line, After: l.After, Read: l.Unread <= 0, Edits: l.Facts.Raw, ReadPlace: l.ReadPlace,
		Typed: l.Draft.Begun && (in.restored || l.Draft.LastKey.After(in.lastInput)), Ever: !l.Draft.LastKey.IsZero(),
	}
}

// atPrompt reports whether the cursor stands at a prompt, or in the human's own
// line behind one.
func (in *Injector) atPrompt(l Look) bool {
	row := in.row(l)
	if in.Profile.Composer == nil && in.prompts.Continues(row, l.Draft.Shown(l.Before)) {
		return true
	}
	var continued prompt.Pattern
	if c := in.Profile.Continued; c != nil {
		continued = c
	}
	return l.Facts.AtPrompt && in.prompts.At(row, continued)
}

func sooner(a, b time.Duration) time.Duration {
	if a <= 0 {
		return b
	}
	if b <= 0 {
		return a
	}
	return min(a, b)
}
