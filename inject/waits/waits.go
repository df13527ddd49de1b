// Package waits finds waits that nothing can end any more: a ring of those that wait for each
// other, or a wait for what has ended. It is pure, and knows nothing of what waits.
package waits

import (
	"cmp"
	"strings"
	"time"
)

// What ends waits by itself.
const (
	Agent = "the agent"
	Human = "the human"
	Time  = "some time"
)

// Wait is one that waits, and everything that can end that.
type Wait struct {
	Who string
	For []string // others that wait, by name, or what ends waits by itself; nothing: it can have no end
}

// Dead describes the waits that cannot end; "" when there are none. One can end when anything that
// it waits for does so by itself, or can end in turn.
func Dead(list []Wait) string {
	ends := map[string]bool{Agent: true, Human: true, Time: true}
	for more := true; more; {
		more = false
		for _, w := range list {
			for _, what := range w.For {
				if ends[what] && !ends[w.Who] {
					ends[w.Who], more = true, true
				}
			}
		}
	}
	var told []string
	for _, w := range list {
		if !ends[w.Who] {
			told = append(told, w.Who+" waits for "+cmp.Or(strings.Join(w.For, " or "), "nothing that could come"))
		}
	}
	return strings.Join(told, ", ")
}

// Still is since when something stands as it does.
type Still[T comparable] struct {
	as    T
	since time.Time
}

// For reports whether it has stood so for a while, and else after how long it will have.
func (s *Still[T]) For(as T, now time.Time, while time.Duration) (is bool, left time.Duration) {
	if as != s.as || s.since.IsZero() {
		s.as, s.since = as, now
	}
	left = while - now.Sub(s.since)
	return left <= 0, max(left, 0)
}
