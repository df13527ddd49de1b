package agentlog

import "time"

// Standing is how it stands with the log, for people.
type Standing struct {
	Dir   string    // where it is looked for
	Found bool      // a session of the agent's
	Left  time.Time // of the last turn in it that was begun in another terminal, and left out; zero: none
	Owed  time.Time // when the oldest message was delivered that no turn has shown; zero: none is owed
}

// Standing tells how it stands with the log as of the last look. It never waits for a look.
func (l *Log) Standing() Standing {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.stands
	for _, at := range l.owed {
		if s.Owed.IsZero() || at.Before(s.Owed) {
			s.Owed = at
		}
	}
	return s
}

// stand notes what a look has found.
func (l *Log) stand() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stands = Standing{Dir: l.at, Found: l.found, Left: l.follow.Left()}
}

// owedMost is how many messages may be owed at a time: one is enough to tell.
const owedMost = 16

// Owe says that an expected message was delivered. If no turn has shown it, that is owed: the log
// that we read may not be the one that the agent writes.
func (l *Log) Owe(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if shown, expected := l.expected[id]; expected && !shown && len(l.owed) < owedMost {
		l.owed[id] = time.Now()
	}
}
