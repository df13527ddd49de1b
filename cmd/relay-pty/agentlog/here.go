package agentlog

import "time"

// here is what happened in the agent's own terminal. A conversation may be another process's, too,
// in another terminal: a prompt that the log tells of was given to that one if nothing was typed
// here that may be it.
type here struct {
	command time.Time // when a command of a client's was typed
	told    time.Time // of the last prompt of ours that the log tells of and a person typed
	settled time.Time // what was typed until then is told, or will never be
	spoke   []burst   // of the terminal's output, the latest
}

// burst is a time in which the terminal was never silent for longer than near.
type burst struct{ from, to time.Time }

const (
	near       = time.Second
	burstsMost = 64
	unsent     = 20 * time.Second // what was typed that long ago is no prompt, if the agent rests since
)

// hears notes that the terminal speaks.
func (h *here) hears(now time.Time) {
	if n := len(h.spoke) - 1; n >= 0 && now.Sub(h.spoke[n].to) <= near {
		h.spoke[n].to = now
		return
	}
	if len(h.spoke) == burstsMost {
		h.spoke = append(h.spoke[:0], h.spoke[1:]...)
	}
	h.spoke = append(h.spoke, burst{now, now})
}

// silent reports whether the terminal is known to have said nothing around that time.
func (h *here) silent(at time.Time) bool {
	for _, b := range h.spoke {
		if at.After(b.from.Add(-near)) && at.Before(b.to.Add(near)) {
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

// Command says that a command is being typed: that may begin a turn, as what a person types.
func (l *Log) Command() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.here.command = time.Now()
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
