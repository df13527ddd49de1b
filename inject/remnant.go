package inject

import (
	"context"

	"relay-pty/inject/ready"
	"relay-pty/protocol"
)

// A remnant is a text of ours that could not be taken back and is in everybody's way. While nobody
// else has typed anything, all that the composer holds is still ours.

// leaves remembers what an attempt has left behind by its end.
func (in *Injector) leaves(a *attempt, r *Result) {
	in.remnant = nil
	if r.Status == Doubtful && r.Code == protocol.FaultStranded && in.Profile.Composer != nil {
		in.remnant = a
	}
}

// remains says whether it stands there, and may be removed: an agent that works could take the keys
// for an interrupt.
func (in *Injector) remains(l Look, v ready.Verdict) bool {
	a := in.remnant
	return a != nil && v.State == ready.Ready && l.Box.Visible && !l.Box.Foreign && a.leftIn(l.Box) &&
		!typedSince(l, a.began) && !l.Draft.MayHold() && in.givenBack == ""
}

// makeRoom empties the composer: it clears what we left there, or has setAside take the human's
// draft away. What does not go counts as a draft from then on.
func (a *attempt) makeRoom(ctx context.Context, l Look, v ready.Verdict) bool {
	if !a.in.remains(l, v) {
		return a.setAside(ctx, l)
	}
	a.in.remnant = nil
	return a.clear(ctx)
}
