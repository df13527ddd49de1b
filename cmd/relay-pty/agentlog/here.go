package agentlog

import "time"

// here is what happened in the agent's own terminal. A conversation may be another process's, too,
// in another terminal: a prompt that the log tells of was given to that one if nothing was typed
// here that may be it.
type here struct {
	command time.Time // when a command of a client's was typed
	given   time.Time // when a message or a command of a client's was typed
	told    time.Time // of the last prompt of ours that the log tells of and a person typed
	settled time.Time // what was typed until then is told, or will never be
	spoke   []burst   // of the terminal's output, the latest
}

// burst is a time in which the terminal was never silent for longer than joined, and no client's
// message was typed.
type burst struct {
	from, to time.Time
	given    time.Time // as of its beginning
}

const (
	near       = time.Second            // so soon behind a prompt of its own an agent draws
	joined     = 250 * time.Millisecond // so often it does while it works
	late       = 100 * time.Millisecond // so much later than it drew it may date a prompt
	burstsMost = 128
	unsent     = 20 * time.Second // what was typed that long ago is no prompt, if the agent rests since
)

// hears notes that the terminal speaks.
func (h *here) hears(now time.Time) {
	if n := len(h.spoke) - 1; n >= 0 && now.Sub(h.spoke[n].to) <= joined && !h.given.After(h.spoke[n].given) {
		h.spoke[n].to = now
		return
	}
	if len(h.spoke) == burstsMost {
		h.spoke = append(h.spoke[:0], h.spoke[1:]...)
	}
	h.spoke = append(h.spoke, burst{now, now, h.given})
}

// silent reports whether the terminal is known to have said nothing at that time and behind it, but
// for what it said of a message that was typed later.
func (h *here) silent(at time.Time) bool {
	for _, b := range h.spoke {
		if !b.given.After(at) && at.After(b.from.Add(-near)) && at.Before(b.to.Add(late)) {
			return false
		}
	}
	return len(h.spoke) > 0 && at.After(h.spoke[0].from)
}

// settle notes that the agent rests. What was typed last has become a prompt of which the log has
// told, or was typed so long ago that it was none.
func (h *here) settle(typed, now time.Time) {
	if !h.told.Before(typed.Truncate(time.Millisecond)) || now.Sub(typed) > unsent { // logs tell milliseconds
		h.settled = typed
	}
}

// typed is when something was typed that may be a prompt, last. What the agent was started with may
// be one.
func (l *Log) typed() time.Time {
	last := l.Started
	for _, at := range []time.Time{l.here.command, l.LastKey()} {
		if at.After(last) {
			last = at
		}
	}
	return last
}

// Typing says that a client's turn is being typed. A command may begin a turn, as what a person
// types.
func (l *Log) Typing(command bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.here.given = time.Now()
	if command {
		l.here.command = l.here.given
	}
}

// hears notes that the agent's terminal speaks.
func (l *Log) hears(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.here.hears(now)
}

// settle notes that the agent rests.
func (l *Log) settle(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.here.settle(l.typed(), now)
}

// terminal tells of the agent's terminal at a time, as transcript.Log.Here has it.
func (l *Log) terminal(at time.Time) (typed, silent bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.typed().After(l.here.settled), l.here.silent(at)
}
