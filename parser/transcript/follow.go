package transcript

import (
	"cmp"
	"maps"
	"os"
	"slices"
	"time"

	"relay-pty/parser"
	"relay-pty/parser/transcript/proc"
)

// Log follows what one agent's process writes of itself: of each conversation
// that it has, one after the other or at once. It is not safe for concurrent use.
type Log struct {
	source Source
	owner  owner

	// Expected returns the ids of messages that are being delivered, so that turns may show them
	// from now on: also after they have ended, for what is submitted is logged later. Each is
	// expected until a conversation of the agent's has shown it. Look asks when it has read the
	// files: what stands there was expected by then. Nil: there are none.
	Expected func() []string

	// Here tells of the agent's own terminal: whether something was typed there that may be a
	// prompt of which the log has not told yet, and whether the terminal was silent at that time.
	// Nil: whatever the log tells may have been typed there.
	Here func(at time.Time) (typed, silent bool)

	path string // of the conversation that Look named last
	seen stamp  // of its file, before that look
}

// stamp is what a glance at a conversation's file sees, and at a database's log beside it.
type stamp struct{ file, wal version }

// version is the zero value where there is no file.
type version struct {
	size    int64
	changed time.Time
}

func stampOf(path string) stamp { return stamp{versionOf(path), versionOf(path + "-wal")} }

func versionOf(path string) version {
	info, err := os.Stat(path)
	if err != nil {
		return version{}
	}
	return version{info.Size(), info.ModTime()}
}

// Source looks at an agent's files.
type Source interface {
	// Look returns the agent's session and the news of each conversation that
	// may be the agent's. The error wraps ErrNoSession where there is none yet.
	Look() (Session, []News, error)
}

// News is what is new in a conversation.
type News struct {
	Of      string    // names it
	Sure    bool      // it is the agent's: its process holds the file, or says so
	Born    time.Time // when it began
	Changed time.Time // when it changed last
	Entries []Entry
}

// Told reports whether there is an entry in all.
func Told(all []News) bool {
	return slices.ContainsFunc(all, func(n News) bool { return len(n.Entries) > 0 })
}

// Follow follows the log of the agent that runs as child, or in child's session
// (setsid) when child is a script that starts it. dir is the agent's directory.
// Entries from before since, such as those of a resumed session, are skipped.
func Follow(f Format, dir string, child int, since time.Time) *Log {
	return &Log{
		source: f.Follow(f, dir, child, since),
		owner: owner{
			since: since, talks: map[string]*talk{},
			rival: func(grown bool) bool { return f.rival(child, grown) },
		},
	}
}

// Look returns the agent's session and the entries since the last look. The error
// wraps ErrNoSession when there is no session, perhaps not yet.
//
// Not every agent tells which of its conversations are a process's. Where several
// processes of the agent run in one directory, a conversation's entries are held
// until one of the expected messages stands in it and in none of another process.
func (l *Log) Look() (Session, []Entry, error) {
	l.seen = stampOf(l.path)
	s, all, err := l.source.Look()
	if s.Transcript != l.path {
		l.path, l.seen = s.Transcript, stamp{}
	}
	if l.Expected != nil {
		l.owner.expect(l.Expected())
	}
	l.owner.here = l.Here
	return s, l.owner.sort(time.Now(), all), err
}

// Left is when the last turn was logged that was left out, for another process had begun it.
func (l *Log) Left() time.Time { return l.owner.left }

// Grown reports whether the conversation that Look named last has changed since: a reason to look
// again that costs two stats.
func (l *Log) Grown() bool { return l.path != "" && l.seen != stampOf(l.path) }

// rival reports whether a process other than child's runs an agent of the same kind in the same
// directory. With grown, only one counts that may be starting, too.
func (f Format) rival(child int, grown bool) bool {
	pids, known := proc.Rivals(child, f.Name, f.Serves, proc.Directory(proc.Main(child, f.Name)))
	if grown {
		pids = slices.DeleteFunc(pids, func(pid int) bool { return proc.Older(pid, child) > startUp.Seconds() })
	}
	return !known || len(pids) > 0
}

// Rescan is the least time between two searches for files, once there are some.
const Rescan = 500 * time.Millisecond

const (
	startUp   = time.Minute      // an agent that runs longer has its first conversation
	fresh     = 10 * time.Second // a change that old when first seen was made while our terminal was silent
	voidAfter = 2 * time.Second  // so long another process may take to show the same message
	// so long an agent may take that has a conversation in which it may show, see shown
	resumedAfter = 5 * time.Second
	heldMost     = 256 // entries
	heldBytes    = 1 << 20
)

// ExpectedMost is how many messages are expected at once, the latest ones.
const ExpectedMost = 256

// owner finds which conversations are the agent's.
type owner struct {
	since time.Time
	talks map[string]*talk
	rival func(grown bool) bool
	here  func(at time.Time) (typed, silent bool) // as Log.Here
	left  time.Time                               // as Log.Left

	typed []typed // in the order in which they came
}

// typed is a message that was given to the agent here.
type typed struct {
	id    string
	spent bool // a conversation of ours has shown it, so another that does is a copy
}

// talk is what is known of a conversation.
type talk struct {
	ours   bool
	prompt string   // whose turn is known: of the latest, by turn or row
	others bool     // its present turn is another process's
	theirs []string // such turns, the latest, by name
	born   time.Time
	last   time.Time            // when an entry of it was seen
	held   []Entry              // not given out, as it may not be ours
	shows  map[string]time.Time // which expected messages, and when that was seen
}

func (o *owner) expect(ids []string) {
	for _, id := range ids {
		if !o.expects(id) {
			o.typed = append(o.typed, typed{id: id})
		}
	}
	o.typed = slices.Delete(o.typed, 0, max(0, len(o.typed)-ExpectedMost))
}

func (o *owner) expects(id string) bool {
	return slices.ContainsFunc(o.typed, func(m typed) bool { return m.id == id })
}

// sort returns the entries that are the agent's.
func (o *owner) sort(now time.Time, all []News) []Entry {
	var ours []Entry
	for _, n := range all {
		t := o.talks[n.Of]
		if t == nil {
			t = &talk{ours: n.Sure || o.first(now, n), born: n.Born, shows: map[string]time.Time{}}
			o.talks[n.Of] = t
		}
		entries := slices.DeleteFunc(n.Entries, func(e Entry) bool { return o.another(t, e) })
		o.note(now, t, entries)
		if t.ours {
			ours = append(ours, entries...)
		} else {
			t.hold(entries)
		}
	}
	for key, t := range o.talks {
		if !t.ours && o.shown(now, key) {
			t.ours = true
			ours = append(ours, t.held...)
			t.held = nil
		}
		if t.ours {
			o.spend(t)
		}
	}
	return ours
}

// spend notes which messages a conversation of ours shows.
func (o *owner) spend(t *talk) {
	for i, m := range o.typed {
		_, shows := t.shows[m.id]
		o.typed[i].spent = m.spent || shows
	}
}

// theirsMost is how many turns of others are remembered of a conversation.
const theirsMost = 64

// another reports whether the entry is of a turn of another process that goes on in the same
// conversation: such turns begin with a message or a prompt that was not typed here. Turns that the
// log does not name end where the next one begins.
func (o *owner) another(t *talk, e Entry) bool {
	if e.Kind == User {
		o.judge(t, e)
	}
	if e.Turn == "" {
		return t.others
	}
	return slices.Contains(t.theirs, e.Turn)
}

// judge notes whose turn a prompt begins. Further blocks of it tell no more, unless a message of
// ours is among them.
func (o *owner) judge(t *talk, e Entry) {
	ids, prompt := parser.Openings(e.Text), cmp.Or(e.Turn, e.UUID)
	if len(ids) == 0 && (!e.Typed || prompt == t.prompt) {
		return
	}
	t.prompt = prompt
	t.others = !slices.ContainsFunc(ids, o.expects) && o.elsewhere(e.Time, len(ids) > 0)
	t.theirs = slices.DeleteFunc(t.theirs, func(turn string) bool { return turn == e.Turn })
	if !t.others {
		return
	}
	t.theirs = append(t.theirs, e.Turn)
	t.theirs = slices.Delete(t.theirs, 0, max(0, len(t.theirs)-theirsMost))
	if t.ours {
		o.left = e.Time
	}
}

// elsewhere reports whether a prompt of that time, with a message that was not typed here or with
// none, was not typed here at all: another process is there that may have been given it, or was
// there at the time, of which our terminal shows nothing.
func (o *owner) elsewhere(at time.Time, message bool) bool {
	typed, silent := true, false
	if o.here != nil {
		typed, silent = o.here(at)
	}
	return silent && !typed || (message || !typed) && o.rival(false)
}

// first reports whether a conversation that was not seen before is ours, because no
// other process can have begun it.
func (o *owner) first(now time.Time, n News) bool {
	if now.Sub(n.Changed) > fresh {
		return false
	}
	known := false
	for _, t := range o.talks {
		known = known || t.ours
	}
	return !o.rival(!known && !n.Born.Before(o.since))
}

// shown reports whether the conversation shows a message of ours, and for a while has been the only
// one that does: where others are given the same message, they may show it before ours does. Where
// a conversation of ours went on after this one had begun, the agent may still be in that one.
func (o *owner) shown(now time.Time, key string) bool {
	one, void := o.talks[key], voidAfter
	for _, t := range o.talks {
		if t.ours && t.last.After(one.born) {
			void = resumedAfter
		}
	}
	for id, at := range one.shows {
		also := 0
		for _, t := range o.talks {
			if _, shows := t.shows[id]; shows {
				also++
			}
		}
		if also == 1 && now.Sub(at) >= void {
			return true
		}
	}
	return false
}

// note notes which expected messages stand in a conversation's entries, and forgets what is long
// ago.
func (o *owner) note(now time.Time, t *talk, entries []Entry) {
	if len(entries) == 0 {
		return
	}
	t.last = now
	maps.DeleteFunc(t.shows, func(_ string, at time.Time) bool { return now.Sub(at) > startUp })
	for _, m := range o.typed {
		_, known := t.shows[m.id]
		if !known && !m.spent && slices.ContainsFunc(entries, func(e Entry) bool { return Accepted(e, m.id) || Gave(e, m.id) }) {
			t.shows[m.id] = now
		}
	}
}

// hold keeps the latest entries.
func (t *talk) hold(entries []Entry) {
	t.held = append(t.held, entries...)
	size, keep := 0, len(t.held)
	for ; keep > 0 && len(t.held)-keep < heldMost && size < heldBytes; keep-- {
		size += len(t.held[keep-1].Text)
	}
	t.held = slices.Clone(t.held[keep:])
}

// Readers reads several transcripts of one agent. An entry that stands in two of
// them is returned once.
type Readers struct {
	format Format
	since  time.Time
	seen   map[[8]byte]struct{}
	by     map[string]*Reader
}

// NewReaders reads rows as NewReader does.
func NewReaders(f Format, since time.Time) *Readers {
	return &Readers{format: f, since: since, seen: map[[8]byte]struct{}{}, by: map[string]*Reader{}}
}

// Poll is as Reader.Poll, and tells when the file changed last.
func (r *Readers) Poll(path string) (entries []Entry, changed time.Time, err error) {
	one := r.by[path]
	if one == nil {
		one = NewReader(r.format, r.since)
		one.seen = r.seen
		r.by[path] = one
	}
	if entries, err = one.Poll(path); one.file != nil {
		changed = one.file.ModTime()
	}
	return entries, changed, err
}
