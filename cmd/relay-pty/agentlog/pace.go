package agentlog

import "time"

// pace says when to look at an agent's files. Agents write when they act, and acting paints, so it
// is when the terminal speaks, and a while after, then not at all. A look costs up to half a
// millisecond, a glance at the size of one file some microseconds: between two looks there are
// glances. A log that is seen to have grown is looked at at once, and begins the while after anew,
// as the terminal does.
type pace struct {
	heard   time.Time // the terminal or the log, last
	last    time.Time // look
	glanced time.Time
	look    time.Time // when to look again; zero: not before the terminal speaks
	step    int       // of lookAfter
}

const (
	lookGap   = 100 * time.Millisecond // the least time between two looks without a reason
	glanceGap = 15 * time.Millisecond
	growGap   = 30 * time.Millisecond  // from a look to the first glance after it: some logs grow with each word
	glanceFor = 600 * time.Millisecond // after that: logs follow the terminal by up to half a second
)

// lookAfter is when to look again in silence, each counted from the look before: on a loaded
// machine a log may follow the terminal by seconds.
var lookAfter = []time.Duration{
	50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond,
	400 * time.Millisecond, 800 * time.Millisecond, 1600 * time.Millisecond,
	3200 * time.Millisecond, 6400 * time.Millisecond, 12800 * time.Millisecond,
}

// quiet is after how many of them, and each further one, an agent that does not tell the end of its
// turns has ended one.
const quiet = 6

// spoke says that the terminal has spoken, or the log was seen to have grown.
func (p *pace) spoke(now time.Time) {
	p.heard, p.step, p.look = now, 0, p.last.Add(lookGap)
}

// next is how long to wait for the next look or glance; false: until the terminal speaks.
func (p *pace) next(now time.Time) (wait time.Duration, soon bool) {
	if p.look.IsZero() {
		return 0, false
	}
	at := p.look
	if glance := p.glanced.Add(glanceGap); glance.Before(at) && glance.Before(p.heard.Add(glanceFor)) {
		at = glance
	}
	return max(0, at.Sub(now)), true
}

// due reports whether it is time to look.
func (p *pace) due(now time.Time) bool { return !p.look.IsZero() && !now.Before(p.look) }

// glances reports whether it is time to glance, and takes that as done.
func (p *pace) glances(now time.Time) bool {
	if now.Before(p.glanced.Add(glanceGap)) || now.After(p.heard.Add(glanceFor)) {
		return false
	}
	p.glanced = now
	return true
}

// looked says that a look is over, and returns whether it found that all has been quiet for long.
func (p *pace) looked(now time.Time) (rests bool) {
	p.last, p.glanced, p.look = now, now.Add(growGap-glanceGap), time.Time{}
	rests = p.step >= quiet
	if p.step < len(lookAfter) {
		p.look = now.Add(lookAfter[p.step])
		p.step++
	}
	return rests
}
