package turn

import (
	"strings"

	"relay-pty/inject/profile"
)

// Agents paint some rows over their composer, which hides a part of the text in it. What is hidden
// can be told where it is at most maxCovered characters long and besides characters are in view on
// either side. Counted are characters that every screen shows alike.
const maxCovered, besides = 16, 8

// uncovered is shown with what is hidden in it, as far as the turn's text tells that by what stands
// beside it.
func (t Turn) uncovered(shown string) string {
	before, after, found := strings.Cut(shown, string(profile.Covered))
	if !found {
		return shown
	}
	left := plain(before)
	left = left[max(0, len(left)-besides):]
	right, _, _ := strings.Cut(after, string(profile.Covered))
	right = plain(right)
	right = right[:min(len(right), besides)]
	return before + gap(plain(t.String()), left, right) + t.uncovered(after)
}

// gap is the little that stands between left and right in whole, "" if they are not there so.
func gap(whole, left, right string) string {
	if len(left) < besides || len(right) < besides {
		return ""
	}
	for {
		_, rest, found := strings.Cut(whole, left)
		if !found {
			return ""
		}
		if n := strings.Index(rest, right); n >= 0 && n <= maxCovered {
			return rest[:n]
		}
		whole = rest
	}
}
