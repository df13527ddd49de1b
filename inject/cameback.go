package inject

import (
	"time"

	"relay-pty/inject/ready"
	"relay-pty/inject/turn"
	"relay-pty/protocol"
)

// cameBack is what is known of a message that came back from the agent's queue into its composer.
type cameBack struct {
	since   time.Time // since when it stands there
	changed time.Time // since when it does not stand there as it was typed
	once    bool      // it has stood there for a while
	byHuman bool      // a key of the human's brought it back: what stands there is the human's
}

// backRest is how long what came back must stand in the composer, as it was typed or edited. In
// half a repaint the turn that the agent has just made of it may look so.
const backRest = proofRest

// comesBack looks whether the queued message stands in the composer, and remembers whose it is
// then. It came back by the human's doing if a key of theirs is newer than our Enter, and than
// our interrupt, upon which an agent gives back what it has queued. It says when to look again.
func (in *Injector) comesBack(a *attempt, l Look, v ready.Verdict) (stands, edited bool, again time.Duration) {
	back := &a.cameBack
	shows := l.Box.Visible && v.State != ready.Blocked && a.leftIn(l.Box)
	changed := shows && l.Box.Top && !a.holdsOurs(l) && !turn.Within(a.typed, l.Box.Text)
	back.since, back.changed = ready.Since(back.since, shows, l.Facts.Now), ready.Since(back.changed, changed, l.Facts.Now)
	stands, again = rested(back.since, l.Facts.Now)
	edited, later := rested(back.changed, l.Facts.Now)
	if stands {
		back.once = true
		back.byHuman = back.byHuman || typedSince(l, ready.Later(a.enter, in.halted))
	}
	return stands, edited, sooner(again, later)
}

// rested reports whether what is so since then has been so for backRest, and else when it will
// have.
func rested(since, now time.Time) (bool, time.Duration) {
	if since.IsZero() {
		return false, 0
	}
	left := backRest - now.Sub(since)
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
