package turn

import (
	"strings"

	"relay-pty/inject/profile"
)

// How much of a text a row that has run over it may cover, and how much beside that must be in view
// to tell what it was, in characters that every screen shows alike.
const maxCovered, besides = 16, 8

// uncovered puts into shown what rows that have run over it cover, as far as what stands beside
// that tells it.
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
