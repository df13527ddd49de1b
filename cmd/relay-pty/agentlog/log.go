// Package agentlog follows the files that the wrapped agent keeps of its own session: how it is,
// what it said to others, and which messages reached a turn of it. When it looks is pace's to say.
package agentlog

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"relay-pty/inject/agents/logs"
	"relay-pty/inject/profile"
	"relay-pty/inject/ready"
	"relay-pty/parser/transcript"
	"relay-pty/protocol"
	"relay-pty/protocol/process"
)

// Agent is whose files they are, and who hears what they tell. The functions are called in the
// goroutine that looks, and must not look again.
type Agent struct {
	Profile profile.Log
	PID     int
	Started time.Time
	Output  <-chan struct{}  // wakes: the agent's terminal spoke
	LastKey func() time.Time // when a person typed in it, or had keys pressed; zero: never. Nil: nobody types

	Rests   func() bool                // whether the agent is ready
	Word    func(ready.Word)           // how the agent says that it is
	Marker  func(transcript.Found)     // what it wrote to others, see Given; nil: that is read elsewhere
	TurnEnd func(ev *protocol.TurnEnd) // how a turn ended
	Shown   func()                     // a message that was expected has shown
	Failed  func(error)                // what keeps us from looking, once
}

// Log is the agent's own log. Its methods may be called from any goroutine; those of expected
// messages never wait for a look.
type Log struct {
	Agent
	format transcript.Format

	looking sync.Mutex // held over the reading of files; guards what follows
	follow  *transcript.Log
	at      string          // the agent's directory that it looks at
	found   bool            // and has found a session in
	turn    transcript.Turn // the present one; given has what others may know of it
	failed  bool            // the last look failed, as was noted

	mu       sync.Mutex
	expected map[string]bool      // ids on their way to the agent, and whether a turn has shown them
	owed     map[string]time.Time // delivered ones that no turn has shown yet, and when they were
	handed   map[string]bool      // those that a consumer hands over, perhaps with a tool's answer
	unread   []string             // those that came since the last look, whatever has become of them
	stands   Standing
	here     here
	given    Given
}

// Given is what the present turn was given so far, by the ids that the agent reads, and how many
// tools it has used.
type Given struct {
	IDs   []string
	Tools int
}

// New returns nil where the log's format is not known.
func New(a Agent) *Log {
	format, ok := logs.Named(a.Profile.Format)
	if !ok {
		return nil
	}
	if a.LastKey == nil {
		a.LastKey = func() time.Time { return time.Time{} }
	}
	return &Log{
		Agent: a, format: format, turn: transcript.Turn{Endless: format.Endless},
		expected: map[string]bool{}, handed: map[string]bool{}, owed: map[string]time.Time{},
	}
}

// dir is the agent's own directory, by the environment that the agent was
// started with where the system shows it, for a script may have changed ours.
func (l *Log) dir() string {
	env := process.Environ(l.PID)
	if env == nil {
		env = os.Environ()
	}
	home := ""
	for _, kv := range env {
		switch name, value, _ := strings.Cut(kv, "="); {
		case name == l.Profile.HomeEnv && value != "":
			return filepath.Join(value, l.Profile.Within)
		case name == "HOME":
			home = value
		}
	}
	return filepath.Join(home, l.Profile.Home)
}

// Run looks until ctx ends, which is its cause.
func (l *Log) Run(ctx context.Context) error {
	var p pace
	for {
		var timer <-chan time.Time
		if wait, soon := p.next(time.Now()); soon {
			timer = time.After(wait)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-l.Output:
			now := time.Now()
			l.hears(now)
			p.spoke(now)
		case <-timer:
		}
		switch now := time.Now(); {
		case p.due(now):
		case p.glances(now) && l.grown():
			p.spoke(now)
		default:
			continue
		}
		l.Look()
		now := time.Now()
		if rests := p.looked(now); rests && l.Rests() {
			l.rest()
			l.settle(now)
		}
	}
}

// grown reports whether the log that was found has changed since the last look.
func (l *Log) grown() bool {
	l.looking.Lock()
	defer l.looking.Unlock()
	return l.follow != nil && l.follow.Grown()
}

// Look reads what is new, and has told all of it when it returns.
func (l *Log) Look() {
	l.looking.Lock()
	defer l.looking.Unlock()
	if !l.found {
		if dir := l.dir(); l.follow == nil || dir != l.at {
			l.at, l.follow = dir, transcript.Follow(l.format, dir, l.PID, l.Started)
			l.follow.Expected, l.follow.Here = l.news, l.terminal
		}
	}
	session, entries, err := l.follow.Look()
	l.found = l.found || err == nil
	l.note(err)
	l.stand()
	word := ready.Word{}
	if err == nil {
		word = ready.Word{State: l.Profile.Words[session.Status], Detail: session.WaitingFor, At: session.StatusAt, Job: session.Job}
	}
	l.Word(word)
	for _, e := range entries {
		l.take(e)
	}
}

// news are the messages that are expected since the last look. Until a session was found another
// directory may turn out to be the agent's, so they stay news.
func (l *Log) news() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	ids := l.unread
	l.unread = nil
	if !l.found {
		l.unread = slices.Clone(ids[max(0, len(ids)-transcript.ExpectedMost):])
	}
	return ids
}

// take draws from an entry what it says to others, and what it proves.
func (l *Log) take(e transcript.Entry) {
	if l.Marker != nil {
		for _, found := range transcript.Commands(e) {
			l.Marker(found)
		}
	}
	if l.proves(e) {
		l.Shown()
	}
	l.tell(l.turn.Take(e))
}

// proves reports whether the entry shows a message that was expected and not shown before.
func (l *Log) proves(e transcript.Entry) (news bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, shown := range l.expected {
		if !shown && (transcript.Accepted(e, id) || l.handed[id] && transcript.Gave(e, id)) {
			l.expected[id], news = true, true
		}
	}
	switch {
	case l.here.settled.IsZero() && (news || e.Typed && transcript.Begins(e.Text)):
		l.here.settled = l.Started // a prompt of the command line's came first
	case e.Typed && !news && !transcript.Begins(e.Text):
		l.here.told = e.Time
	}
	for id := range l.owed {
		if news || transcript.Accepted(e, id) {
			clear(l.owed)
			break
		}
	}
	return news
}

// rest ends the turn of an agent that is quiet, where its log does not tell, or told too early.
func (l *Log) rest() {
	l.looking.Lock()
	defer l.looking.Unlock()
	l.tell(l.turn.Rest())
}

// tell tells of the ends of turns, and notes what the present one was given.
func (l *Log) tell(ends []transcript.End) {
	for _, end := range ends {
		ev := &protocol.TurnEnd{
			IDs: end.IDs, Outcome: string(end.Outcome), Text: end.Text, Tools: &end.Tools,
			Reason: string(end.Reason), Background: end.Background,
		}
		if len(ev.Text) > protocol.MaxBody {
			ev.Text = strings.ToValidUTF8(ev.Text[:protocol.MaxBody], "")
		}
		if !end.RetryAt.IsZero() {
			ev.RetryAt = end.RetryAt.UnixMilli()
		}
		l.TurnEnd(ev)
	}
	ids, tools := l.turn.Given()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.given = Given{ids, tools}
}

// Given is what the present turn was given, as of what was read so far.
func (l *Log) Given() Given {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.given
}

// Expect says that the message is being typed, so that its turn may show.
func (l *Log) Expect(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expected[id], l.unread = false, append(l.unread, id)
}

// ExpectHanded says that a consumer is about to get the message: a hook's words and a tool's answer
// may show it. What is typed no answer proves, which may be of an attempt before.
func (l *Log) ExpectHanded(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expected[id], l.handed[id], l.unread = false, true, append(l.unread, id)
}

// Forget says that the message has ended: nobody asks any more whether the log has shown it. Its
// turn may be logged yet, and then tells whose log that is.
func (l *Log) Forget(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.expected, id)
	delete(l.handed, id)
}

// Took reports whether the log has shown the message in a turn, as of the last look.
func (l *Log) Took(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.expected[id]
}

// Search says which messages stand in the agent's logs since then, in whatever conversation.
func (l *Log) Search(since time.Time, ids []string) map[string]bool {
	return transcript.Search(l.format, l.dir(), since, ids)
}

// note tells of a failure once; that there is no session yet is none.
func (l *Log) note(err error) {
	if failed := err != nil && !errors.Is(err, transcript.ErrNoSession); failed != l.failed {
		if l.failed = failed; failed {
			l.Failed(err)
		}
	}
}
