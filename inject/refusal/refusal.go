// Package refusal says when an agent whose model's API has refused a turn may be given messages
// again. Its clock is its callers': it starts no goroutine and no timer.
package refusal

import (
	"cmp"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// steps are after how long a message is tried where the agent doesn't say when its API takes
// requests again: the first after the refusal, each other one after the try before. The last one
// goes on.
var steps = [...]time.Duration{
	time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 16 * time.Minute, 30 * time.Minute,
}

// Gate is shut while the API takes no requests. The zero value is open. Its methods may be called
// from any goroutine.
type Gate struct {
	mu     sync.Mutex
	shut   bool
	reason string    // why the turn was refused, in a word of the wire
	says   string    // the agent's words for that
	until  time.Time // when the next message may go
	told   bool      // by the agent
	tried  int       // messages since the first refusal
	trying bool      // one of them is on its way, or its turn is
}

// Refused notes that a turn was refused. retryAt is from when on the API takes requests again, as
// the agent says; zero: it doesn't.
func (g *Gate) Refused(reason, says string, retryAt, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	next := !g.shut || g.trying || !now.Before(g.until) // else it is another turn, and changes nothing
	g.shut, g.trying, g.reason, g.says = true, false, reason, says
	switch {
	case retryAt.After(now):
		g.until, g.told = retryAt, true
	case next:
		g.until, g.told = now.Add(g.stepLocked()), false
	}
}

// Ended notes that a turn ended that was not refused. One that was interrupted tells nothing of the
// API.
func (g *Gate) Ended(interrupted bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.trying = false; !interrupted {
		g.openLocked()
	}
}

// Resume lets the next message be tried at once.
func (g *Gate) Resume(now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut {
		g.until, g.told, g.trying = now, false, false
	}
}

// Try begins with so many messages, and reports whether they may be given to the agent as one turn.
// Until the end of that is known, or the time for the next try has come, no other one may.
func (g *Gate) Try(now time.Time, n int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch is := g.stateLocked(now); {
	case is == Shut, is == Trial && n > 1:
		return false
	case is == Trial:
		g.tried++
		g.until, g.told, g.trying = now.Add(g.stepLocked()), false, true
	}
	return true
}

// Failed notes that the message that was tried did not reach the agent.
func (g *Gate) Failed(now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.trying {
		g.until, g.trying, g.tried = now, false, g.tried-1
	}
}

// State is what may go.
type State int

const (
	Open  State = iota // all
	Trial              // one message
	Shut               // nothing
)

// State is what may go now, and when that changes by itself; zero: never.
func (g *Gate) State(now time.Time) (is State, until time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if is = g.stateLocked(now); is == Shut {
		until = g.until
	}
	return is, until
}

func (g *Gate) stateLocked(now time.Time) State {
	switch {
	case g.shut && now.Before(g.until):
		return Shut
	case g.shut:
		return Trial
	}
	return Open
}

// Why says to people why messages wait, and what ends that; "" when the gate is open, or the API is
// to take requests again by what the agent said. The agent's words may be any text.
func (g *Gate) Why(now time.Time) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	is := g.stateLocked(now)
	if is == Open || is == Trial && g.told {
		return ""
	}
	why := fmt.Sprintf("the API of its model refused a turn (%s): %s; ", g.reason, cmp.Or(brief(g.says), "the agent does not say more"))
	at := g.until.Local().Format("Jan 2 15:04:05")
	switch {
	case is == Trial:
		return why + "the next message is tried"
	case g.told:
		return why + "messages wait until " + at + ", a turn that is answered, or relay resume"
	}
	return why + "the next message is tried at " + at + ", after a turn that is answered, or on relay resume"
}

// openLocked forgets the refusal.
func (g *Gate) openLocked() {
	g.shut, g.told, g.trying, g.tried = false, false, false, 0
}

func (g *Gate) stepLocked() time.Duration { return steps[min(g.tried, len(steps)-1)] }

// most is how many characters of the agent's words are repeated: an API in trouble may answer with
// a whole web page.
const most = 200

// brief is the beginning of a text.
func brief(text string) string {
	text = strings.TrimSpace(text)
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}
