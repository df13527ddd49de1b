package inject

import (
	"context"
	"strings"
	"time"

	"relay-pty/inject/ready"
	"relay-pty/inject/turn"
)

// How long an agent may take to show what a key that clears has done, how long what it
// shows must rest before the next key, and how long all of it may take: the human's keys wait.
const (
	clearWait  = 5 * proofRest
	clearRest  = 60 * time.Millisecond
	clearLimit = 5 * time.Second
)

// cleared is what a key that clears was seen to do.
type cleared int

const (
	nothing cleared = iota
	some            // text is left, and it is not as it was
	everything
)

// clear presses the profile's keys until none of our text is left. A key that took some of it
// is pressed again, as one that kills a line has to be for each of them; one that did nothing is
// not. What ends a line is in the way of such keys, so Backspaces go before each repetition:
// what stands in the composer is ours alone, and so they can take nothing else.
func (a *attempt) clear(ctx context.Context) bool {
	list, began := a.in.Profile.Typing.Clear, time.Now()
	a.clears = true
	defer func() { a.clears = false }()
	for again := false; len(list) > 0 && time.Since(began) < clearLimit; {
		look := a.in.look()
		if !a.in.holdsText(look) { // it is empty or painted anew, a dialog came, or it is gone
			if did := a.became(ctx, look, clearWait); did != some {
				return did == everything
			}
			continue
		}
		if (again || look.Box.Blank) && a.in.Profile.Composer != nil && strings.Trim(look.Line, " \u00a0│┃|") == "" {
			did := a.clearBy(ctx, "\x7f", 2*proofRest)
			if did == everything || did == some && turn.Same(a.in.look().Box.Text, look.Box.Text) {
				continue // the line before it may be empty, too
			}
		}
		switch a.clearBy(ctx, list[0], clearWait) {
		case everything:
			return true
		case some:
			again = true
		case nothing:
			if list = list[1:]; !a.isOurs(a.in.look()) {
				return false
			}
		}
	}
	return false
}

// isOurs reports whether the composer is seen to hold something of the message. Keys that clear a
// text may open a dialog where there is none, and strays may look like one.
func (a *attempt) isOurs(l Look) bool {
	text := l.Box.Text
	sign := a.in.Profile.Chips().Paste
	return a.in.Profile.Composer == nil || a.Left(text) || a.Begun(text) || turn.Within(text, a.typed) || sign != "" && strings.Contains(text, sign)
}

// clearBy presses keys and waits until it is seen what they did. An agent that is slow to show
// that must not get more of them on an empty box.
func (a *attempt) clearBy(ctx context.Context, keys string, limit time.Duration) cleared {
	before := a.in.look()
	if _, err := a.put(ctx, keys); err != nil {
		return nothing
	}
	return a.became(ctx, before, limit)
}

// became waits until the composer is seen to be another than before, and rests. While it is
// painted anew it is not seen, and tells nothing.
func (a *attempt) became(ctx context.Context, before Look, limit time.Duration) (did cleared) {
	type sight struct { // the cursor tells of empty lines
		text, line string
		row        int
	}
	see := func(l Look) sight { return sight{l.Box.Text, l.Line, l.Row} }
	was := see(before)
	now := was
	var gone, rests time.Time
	a.in.until(ctx, limit, func(l Look) (bool, time.Duration) { // did tells why it ends
		v, _ := a.in.judge(l)
		seen := v.State != ready.Blocked && l.Unread <= 0 && (l.Box.Visible || a.in.Profile.Composer == nil)
		gone = ready.Since(gone, seen && a.in.empty(l), l.Facts.Now)
		if t := see(l); t != now {
			now, rests = t, time.Time{}
		}
		rests = ready.Since(rests, seen && now != was && gone.IsZero(), l.Facts.Now)
		switch {
		case !gone.IsZero() && l.Facts.Now.Sub(gone) >= proofRest:
			did = everything
		case !rests.IsZero() && l.Facts.Now.Sub(rests) >= clearRest:
			did = some
		}
		return did != nothing, clearRest / 3
	})
	return did
}
