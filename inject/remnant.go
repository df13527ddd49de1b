package inject

import (
	"context"
	"time"

	"relay-pty/inject/ready"
	"relay-pty/inject/sight"
	"relay-pty/protocol"
)

// A remnant is text of ours that stands in the composer against our will, and is in everybody's
// way: a message that could not be taken back, or a key of a mode that became text. While nobody
// else has typed anything, all that the composer holds is still ours.
type remnant struct {
	typed time.Time            // when we began to type it
	in    func(sight.Box) bool // whether the composer holds it
}

// leaves remembers what an attempt has left behind by its end.
func (in *Injector) leaves(a *attempt, r *Result) {
	in.remnant = nil
	if r.Status == Doubtful && r.Code == protocol.FaultStranded && in.Profile.Composer != nil {
		in.remnant = &remnant{a.began, a.leftIn}
	}
}

// mayLeave remembers a key that is pressed now, and shows in an empty composer if it became text.
func (in *Injector) mayLeave(key string) {
	in.remnant = &remnant{time.Now(), func(b sight.Box) bool { return b.Text == key }}
}

// stands reports whether a remnant is all that the composer holds.
func (r *remnant) stands(l Look) bool {
	return r != nil && l.Box.Visible && !l.Box.Foreign && r.in(l.Box) && !typedSince(l, r.typed) && !l.Draft.MayHold()
}

// remains reports whether a remnant stands there, and may be removed: an agent that works could
// take the keys for an interrupt.
func (in *Injector) remains(l Look, v ready.Verdict) bool {
	return v.State == ready.Ready && in.remnant.stands(l) && in.givenBack == ""
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
