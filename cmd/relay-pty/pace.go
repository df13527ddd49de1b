package main

import "time"

// pace says when to look at an agent's files. Agents write when they act, and acting paints, so it is
// when the terminal speaks, and a while after, then not at all. A look costs up to half a millisecond,
// a glance at the size of one file some microseconds: between two looks there are glances, and what
// they see change is looked at at once.
type pace struct {
	heard   time.Time // the terminal, last
	last    time.Time // look
	glanced time.Time
	look    time.Time // when to look again; zero: not before the terminal speaks
	step    int       // of lookAfter
}

const (
	lookGap   = 100 * time.Millisecond // the least time between two looks without a reason
	glanceGap = 15 * time.Millisecond
	growGap   = 30 * time.Millisecond  // from a look to the first glance after it: some logs grow with each word
	glanceFor = 600 * time.Millisecond // after the terminal spoke: logs follow it by up to half a second
)

// lookAfter is when to look again once the terminal is silent, each counted from the look before.
var lookAfter = []time.Duration{
	50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond,
	400 * time.Millisecond, 800 * time.Millisecond, 1600 * time.Millisecond,
}

// spoke says that the terminal has spoken.
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

// due says whether it is time to look.
func (p *pace) due(now time.Time) bool { return !p.look.IsZero() && !now.Before(p.look) }

// glances says whether it is time to glance, and takes that as done.
func (p *pace) glances(now time.Time) bool {
	if now.Before(p.glanced.Add(glanceGap)) || now.After(p.heard.Add(glanceFor)) {
		return false
	}
	p.glanced = now
	return true
}

// looked says that a look is over, and returns whether it was the last for now.
func (p *pace) looked(now time.Time) (rests bool) {
	p.last, p.glanced, p.look = now, now.Add(growGap-glanceGap), time.Time{}
	if p.step == len(lookAfter) {
		return true
	}
	p.look = now.Add(lookAfter[p.step])
	p.step++
	return false
}
