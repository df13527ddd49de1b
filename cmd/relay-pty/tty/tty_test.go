package tty

import (
	"testing"
	"time"

	"relay-pty/pty"
)

// TestNap: an agent that is slow to read Ctrl-Z, or to tidy up behind it, is waited for; one that
// rests in raw mode, or works on and on, is not.
func TestNap(t *testing.T) {
	const s = time.Second
	raw, unread, line := pty.TTY{}, pty.TTY{Unread: 1}, pty.TTY{Canonical: true}
	type sight struct {
		at    time.Duration // since the key
		tty   pty.TTY
		wrote time.Duration
	}
	for _, c := range []struct {
		name         string
		seen         []sight
		asleep, over bool
	}{
		{"at once", []sight{{s, raw, 0}, {s + 1, line, s}, {s + sleepRest, line, s}, {s + 1 + sleepRest, line, s}}, true, false},
		{"about to", []sight{{s, line, s}, {s + sleepRest - 1, line, s}}, false, false},
		{"raw again", []sight{{s, line, s}, {s + 1, raw, s}, {s + 2, line, s}, {s + sleepRest + 1, line, s}}, false, false},
		{"rests", []sight{{3*s - 1, raw, 0}}, false, false},
		{"has rested", []sight{{3 * s, raw, 0}}, false, true},
		{"does not read the key", []sight{{9 * s, unread, 0}}, false, false},
		{"read the key late", []sight{{9 * s, unread, 0}, {12*s - 1, raw, 0}}, false, false},
		{"wrote late", []sight{{9 * s, raw, 8 * s}}, false, false},
		{"late", []sight{{9 * s, unread, 0}, {11 * s, line, 11 * s}, {11*s + sleepRest, line, 11 * s}}, true, false},
		{"works on", []sight{{30 * s, raw, 30 * s}}, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			key := time.Now()
			n := nap{key: key, stirred: key}
			var asleep, over bool
			for _, see := range c.seen {
				asleep, over = n.look(see.tty, key.Add(see.wrote), key.Add(see.at))
			}
			if asleep != c.asleep || over != c.over {
				t.Errorf("asleep %v, over %v; want %v, %v", asleep, over, c.asleep, c.over)
			}
		})
	}
}
