package inject

import (
	"time"

	"relay-pty/inject/ready"
	"relay-pty/inject/turn"
	"relay-pty/protocol"
)

// cameBack is what is known of a message that came back from the agent's queue into its composer.
type cameBack struct {
	once    bool      // it was seen there
	byHuman bool      // a key of the human's brought it back: what stands there is the human's
	changed time.Time // since when it does not stand there as it was typed
}

// comesBack looks whether the queued message stands in the composer, and remembers whose it is
// then. It came back by the human's doing if a key of theirs is newer than our Enter, and than
// our interrupt, upon which an agent gives back what it has queued.
func (in *Injector) comesBack(a *attempt, l Look, v ready.Verdict) bool {
	stands := l.Box.Visible && v.State != ready.Blocked && a.leftIn(l.Box)
	if stands {
		a.cameBack.once = true
		a.cameBack.byHuman = a.cameBack.byHuman || typedSince(l, ready.Later(a.enter, in.halted))
	}
	changed := stands && l.Box.Top && !a.holdsOurs(l) && !turn.Within(a.typed, l.Box.Text)
	a.cameBack.changed = ready.Since(a.cameBack.changed, changed, l.Facts.Now)
	return stands
}

// draftRest is how long an edited message must stand in the composer: half a repaint looks alike.
const draftRest = clearRest

// edited says whether the human has edited what came back, and else when to ask again.
func (a *attempt) edited(now time.Time) (bool, time.Duration) {
	if a.cameBack.changed.IsZero() {
		return false, 0
	}
	left := draftRest - now.Sub(a.cameBack.changed)
	return left <= 0, left
}

// lost is the end of a queued message of which the agent's log tells nothing.
func (a *attempt) lost() *Result {
	if a.cameBack.once {
		return &Result{Doubtful, "", protocol.FaultReturned,
			"the message came back from the agent's queue into its composer and has left it, and the agent's log does not show it"}
	}
	return &Result{Doubtful, "", protocol.FaultNoConsume, "the agent queued the message, has come to rest, and its log does not show it"}
}

// mixed is the end of a message that stands in the composer and is not what was typed any more.
func (a *attempt) mixed() *Result {
	if a.queued || a.cameBack.once {
		return &Result{Doubtful, "", protocol.FaultReturned,
			"the message came back from the agent's queue into its composer, where it was changed or stands with other text"}
	}
	return &Result{Doubtful, "", protocol.FaultDraftUncertain,
		"a dialog came before Enter, and the composer now holds the message mixed with other text"}
}
